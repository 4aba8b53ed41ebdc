"""Automatic events: log records, printed lines, calls of a function."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, TextIO, TypeVar

from tapeline_client.reporting import is_reporting, logger

if TYPE_CHECKING:
    from tapeline_client.events import Events

F = TypeVar("F", bound=Callable[..., Any])
_inside = threading.local()


class LogHandler(logging.Handler):
    """Sends records as log lines whose type is their level: `info`, `warning`, `error` …"""

    def __init__(self, client: Events, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._client = client

    def filter(self, record: logging.LogRecord) -> Any:
        """Our own problems are not sent over the connection that has them. They are told here,
        before the lock of the handler: another thread may hold it and wait for who reports."""
        if record.name.split(".")[0] == logger.name or is_reporting():
            return False
        return super().filter(record)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line, kind = self.format(record), record.levelname.lower()
            self._client.log(line, kind, time=record.created)
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)


def capture_logging(
    client: Events, name: str | None = None, level: int = logging.INFO
) -> LogHandler:
    """Add a handler to a logger, the root by default; `removeHandler` takes it away again."""
    handler = LogHandler(client, level)
    found = logging.getLogger(name)
    found.addHandler(handler)
    if found.getEffectiveLevel() > level:
        found.setLevel(level)
    return handler


class Tee:
    """A stream that writes as before and also sends each complete line."""

    def __init__(self, client: Events, stream: TextIO, kind: str) -> None:
        self._client = client
        self._stream = stream
        self._kind = kind
        self._begun = ""
        self._lock = threading.RLock()

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        if not is_reporting() and not getattr(_inside, "tee", False):
            _inside.tee = True
            try:
                self._send(text)
            finally:
                _inside.tee = False
        return written

    def _send(self, text: str) -> None:
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
            if len(self._begun) > 65536:
                lines, self._begun = [*lines, self._begun], ""
        for line in lines:
            self._log(line)

    def _log(self, line: str) -> None:
        if line.strip():
            try:
                self._client.log(line.rstrip("\r"), self._kind)
            except Exception:  # noqa: BLE001 - printing must not fail
                logger.debug("a printed line was not sent", exc_info=True)

    def finish(self) -> None:
        begun, self._begun = self._begun, ""
        self._log(begun)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Captured:
    """The result of `capture_output`: call `stop()`, or leave the `with` block, to end it."""

    def __init__(self, client: Events, *, active: bool) -> None:
        self._tees: dict[str, tuple[Tee, TextIO]] = {}
        if not active:
            return
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None and not isinstance(stream, Tee):
                self._tees[name] = (Tee(client, stream, name), stream)
                setattr(sys, name, self._tees[name][0])

    def stop(self) -> None:
        for name, (tee, stream) in self._tees.items():
            if getattr(sys, name) is tee:
                setattr(sys, name, stream)
            tee.finish()
        self._tees.clear()

    def __enter__(self) -> Captured:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def capture_output(client: Events, *, force: bool = False) -> Captured:
    """Does nothing in a run of the platform, where every line is recorded already."""
    return Captured(client, active=force or not os.environ.get("TAPELINE_RUN_ID"))


def recorded(
    client: Events,
    function: Callable[..., Any] | None = None,
    *,
    type: str | None = None,
    annotation: str | None = None,
) -> Any:
    """`@recorded` or `@recorded(type="signal", annotation="why")`, on functions and coroutines."""
    if function is None:
        return functools.partial(recorded, client, type=type, annotation=annotation)
    name = type or function.__name__
    signature = inspect.signature(function)

    def tell(args: tuple[Any, ...], keys: dict[str, Any], response: dict[str, Any]) -> None:
        try:
            client.event(name, _arguments(signature, args, keys), response, annotation)
        except Exception:  # noqa: BLE001 - a recording must not change what it records
            logger.warning("a call of %s was not recorded", name, exc_info=True)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **keys: Any) -> Any:
            try:
                result = await function(*args, **keys)
            except BaseException as error:
                tell(args, keys, _failure(error))
                raise
            tell(args, keys, _response(result))
            return result

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **keys: Any) -> Any:
        try:
            result = function(*args, **keys)
        except BaseException as error:
            tell(args, keys, _failure(error))
            raise
        tell(args, keys, _response(result))
        return result

    return called


def _arguments(
    signature: inspect.Signature, args: tuple[Any, ...], keys: dict[str, Any]
) -> dict[str, Any]:
    bound = signature.bind(*args, **keys)
    bound.apply_defaults()
    found = dict(bound.arguments)
    first = next(iter(found), None)
    if first in ("self", "cls"):
        found.pop(first)
    return found


def _response(result: Any) -> dict[str, Any]:
    return dict(result) if isinstance(result, Mapping) else {"value": result}


def _failure(error: BaseException) -> dict[str, Any]:
    return {"error": f"{error.__class__.__name__}: {error}"}
