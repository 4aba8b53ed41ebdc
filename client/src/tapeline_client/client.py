"""The client: one model's connection to its server, for any number of threads."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import os
import threading
import time
import zlib
from typing import Any, Callable, Mapping, TypeVar, overload

from tapeline_client import capture, config, encoding
from tapeline_client.errors import ClientClosed, InvalidEvent
from tapeline_client.events import Events, Time
from tapeline_client.reporting import Problem, Reporter
from tapeline_client.sender import Sender
from tapeline_client.spool import Limits, Spool
from tapeline_client.transport import Transport

MEGABYTE = 1024 * 1024
C = TypeVar("C", bound="Client")


class Client(Events):
    """Reports a model's events. A call queues an event and returns; a thread sends it.

    `url`, `model_id`, `api_key` and `api_pass` come from the environment or from `tapeline.json`
    when they are not given.
    """

    def __init__(
        self,
        url: str | None = None,
        model_id: str | None = None,
        api_key: str | None = None,
        api_pass: str | None = None,
        *,
        folder: str | None = None,
        durable: bool = False,
        max_disk: int = 256 * MEGABYTE,
        max_memory: int = 32 * MEGABYTE,
        linger: float = 0.05,
        timeout: float = 30.0,
        exit_timeout: float = 5.0,
        on_problem: Callable[[Problem], object] | None = None,
        on_halt: Callable[[], object] | None = None,
        raise_errors: bool = True,
        backtest_id: str | None = None,
    ) -> None:
        given = {"url": url, "model_id": model_id, "api_key": api_key, "api_pass": api_pass}
        self.address = config.resolve(given)
        self.backtest_id = backtest_id or config.backtest_id()
        self.folder = os.path.join(folder or config.state_folder(), _name(self.address.model_id))
        self._limits = Limits(max_disk, max_memory)
        self._options = (durable, linger, timeout)
        self._exit_timeout = exit_timeout
        self._reporter = Reporter(on_problem)
        self._on_halt = on_halt
        self._closed = False
        self._starting = threading.RLock()
        self._spool = Spool(self.folder, self._limits, self._reporter.report, durable=durable)
        self._sender: Sender | None = None
        if not raise_errors:
            self._soften()
        _open.add(self)

    # Handing over

    def _push(self, path: str, body: Mapping[str, Any], at: Time = None) -> None:
        if self.backtest_id is not None and not path.startswith("/v1/backtest/"):
            self._reporter.report(
                "backtest", "This is a backtest: events of live trading are not sent."
            )
            return
        self._hand_over(encoding.line(path, _stamp(at), body), False)

    def _push_line(self, line: str, kind: str, at: Time, backtest: str | None = None) -> None:
        backtest = backtest or self.backtest_id
        path = "/v1/live/log" if backtest is None else "/v1/backtest/log"
        self._hand_over(encoding.log_line(path, _stamp(at), line, kind, backtest), True)

    def _hand_over(self, line: bytes, is_log: bool) -> None:
        if self._closed:
            raise ClientClosed
        self._spool.append(line, is_log)
        sender = self._sender
        if sender is None:
            self._start()
        elif sender.waits:
            sender.wake()

    def _backtest(self, given: str | None) -> str:
        found = self.backtest_id or given
        if not found:
            raise InvalidEvent("`backtest_id` is required outside a backtest of the platform.")
        return str(found)

    def _start(self) -> None:
        with self._starting:
            if self._sender is not None:
                return
            sender = self._new_sender()
            # It fails when the interpreter is ending; then `close` sends what is left.
            with contextlib.suppress(RuntimeError):
                sender.start()
            self._sender = sender

    def _new_sender(self) -> Sender:
        durable, linger, timeout = self._options
        return Sender(
            self._spool,
            Transport(self.address, timeout),
            self._reporter,
            parent=self.folder,
            linger=linger,
            durable=durable,
            where=self.folder,
            alone=self.backtest_id is not None,
            on_halt=self._on_halt,
        )

    # Waiting and ending

    def flush(self, timeout: float | None = 10.0) -> bool:
        """Wait until the server has every queued event; return whether it has."""
        if self._closed:
            return self._closed_clean
        position = self._spool.position()
        self._start()
        sender = self._sender
        assert sender is not None
        return sender.wait_until(position, timeout)

    def close(self, timeout: float | None = 5.0) -> bool:
        """Send what can be sent in time, and close. The rest stays on disk for the next process."""
        with self._starting:
            if self._closed:
                return self._closed_clean
            deadline = time.monotonic() + (1e9 if timeout is None else timeout)
            if self._sender is None and self._spool.position() == (0, 0):
                self._closed = self._closed_clean = True
            else:
                self.flush(timeout)
                self._closed = True
                self._closed_clean = self._end(deadline)
            _open.discard(self)
            return self._closed_clean

    _closed_clean = False

    def _end(self, deadline: float) -> bool:
        sender = self._sender
        assert sender is not None
        done = sender.stop(deadline)
        if done is None:
            # The thread hangs in the network: its files must stay open until the process ends.
            return False
        if not done and not sender.superseded:
            self._reporter.report(
                "unsent",
                f"Some events are not sent yet; the next run sends them from {self.folder}.",
            )
        self._spool.close(everything_sent=done)
        return done and not sender.superseded

    async def aflush(self, timeout: float | None = 10.0) -> bool:
        """`flush` for a coroutine: it does not block the loop."""
        loop = asyncio.get_event_loop()
        return await loop.run_in_executor(None, self.flush, timeout)

    async def aclose(self, timeout: float | None = 5.0) -> bool:
        loop = asyncio.get_event_loop()
        return await loop.run_in_executor(None, self.close, timeout)

    @property
    def halted(self) -> bool:
        """Whether its project is halted, as the answer to the last event said: stop trading."""
        sender = self._sender
        return sender is not None and sender.halted

    def stats(self) -> dict[str, Any]:
        """Counts of queued, sent, rejected and dropped events, and the bytes in the queue."""
        sender, spool = self._sender, self._spool
        return {
            "taken": spool.taken,
            "sent": sender.sent if sender else 0,
            "rejected": sender.rejected if sender else 0,
            "dropped_lines": spool.dropped_lines,
            "dropped_events": spool.dropped_events,
            "queue_bytes": spool.used(),
            "superseded": sender.superseded if sender else False,
            "last_error": sender.last_error if sender else "",
        }

    # Capturing

    def capture_logging(self, *args: Any, **options: Any) -> capture.LogHandler:
        """Send records of the `logging` module. See `tapeline_client.capture`."""
        return capture.capture_logging(self, *args, **options)

    def capture_output(self, *, force: bool = False) -> capture.Captured:
        """Send printed lines, and still print them. See `tapeline_client.capture`."""
        return capture.capture_output(self, force=force)

    @overload
    def recorded(self, function: capture.F) -> capture.F: ...

    @overload
    def recorded(
        self,
        *,
        type: str | None = None,
        annotation: str | None = None,
    ) -> Callable[[capture.F], capture.F]: ...

    def recorded(self, function: Any = None, **options: Any) -> Any:
        """Decorator: every call of a function becomes a generic event."""
        return capture.recorded(self, function, **options)

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Odd circumstances

    def _soften(self) -> None:
        """Report invalid events instead of raising: a trading loop may prefer to go on."""
        for name in EVENTS:
            setattr(self, name, _reported(getattr(self, name), self._reporter))

    def _after_fork(self) -> None:
        """In the child: the queue and the thread belong to the parent."""
        self._starting = threading.RLock()
        self._spool.after_fork()
        self._sender = None


class AsyncClient(Client):
    """`async with AsyncClient() as client:`; calls never block, waiting is awaited."""

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


EVENTS = tuple(name for name in dir(Events) if not name.startswith("_"))

_open: set[Client] = set()


def _stamp(at: Time) -> str:
    if at is None:
        return repr(time.time())
    try:
        return encoding.stamp(at)
    except (TypeError, ValueError, OverflowError):
        raise InvalidEvent(f"`time` must be a time, not {at!r:.100}.") from None


def _reported(method: Callable[..., None], reporter: Reporter) -> Callable[..., None]:
    @functools.wraps(method)
    def told(*args: Any, **keys: Any) -> None:
        try:
            method(*args, **keys)
        except (InvalidEvent, ClientClosed, TypeError) as error:
            reporter.report("invalid", f"{method.__name__}: {error}")

    return told


def _name(model_id: str) -> str:
    """A folder name for a model, safe for any id."""
    kept = "".join(c if c.isalnum() or c in "-_" else "_" for c in model_id)[:100]
    # Two models must never share a queue, and some disks ignore case.
    return kept if kept == model_id.lower() else f"{kept}-{zlib.crc32(model_id.encode()):08x}"


def _at_exit() -> None:
    for client in list(_open):
        client.close(client._exit_timeout)


def _before_fork() -> None:
    for client in list(_open):
        client._starting.acquire()
        client._spool.lock.acquire()


def _after_in_parent() -> None:
    for client in list(_open):
        client._spool.lock.release()
        client._starting.release()


def _after_in_child() -> None:
    for client in list(_open):
        client._after_fork()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
