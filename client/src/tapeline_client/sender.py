"""The background thread: takes batches from the queues, posts them, acts on the answer."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from typing import Any, Callable

from tapeline_client import folder
from tapeline_client.folder import SUPERSEDED, Folder, Held
from tapeline_client.outbox import Batch, Leftovers, Outbox
from tapeline_client.reporting import Reporter, logger
from tapeline_client.spool import Spool
from tapeline_client.transport import Answer, Transport, Unreachable

FIRST_DELAY, LONGEST_DELAY = 0.25, 30.0
REFUSED_DELAY = 5.0  # a person has to correct a wrong key or model
ENDED_WITHIN = 1.0  # seconds for a thread whose connection was cut
LOOK_AROUND = 5.0  # seconds between two looks for queues whose process died
SYNC_SECONDS = 1.0
SET_ASIDE = ("idempotency_key_reused", "backtest_key")  # a retry would be refused too
MOST_SET_ASIDE = 64 * 1024 * 1024
LONGEST_WAIT = 60.0  # seconds: a quota of a minute is worth waiting for, a full tape is not


class Sender:
    def __init__(
        self,
        spool: Spool,
        transport: Transport,
        reporter: Reporter,
        *,
        parent: str | None,
        linger: float,
        durable: bool,
        where: str,
        alone: bool = False,
        on_halt: Callable[[], object] | None = None,
    ) -> None:
        self._spool = spool
        self._transport = transport
        self._reporter = reporter
        self._parent = parent
        self._linger = linger
        self._durable = durable
        self._where = where
        self._alone = alone
        self.own = Outbox(spool, durable=durable)
        self._others: list[tuple[Outbox, Leftovers]] = []
        self._looked = 0.0
        self._synced = 0.0
        self._delay = 0.0
        self._demanded = False
        self._wake = threading.Event()
        self._progress = threading.Condition()
        self._hurry = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.waits = False
        """Whether the thread sleeps and must be woken for the next event."""
        self.superseded = False
        self.halted = False
        self._on_halt = on_halt
        self.sent = 0
        self.rejected = 0
        self.last_error = ""
        spool.on_pressure = self.wake

    # Called by others

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="tapeline-client", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self.waits = False
        self._wake.set()

    def wait_until(self, position: tuple[int, int], timeout: float | None) -> bool:
        deadline = None if timeout is None else time.monotonic() + timeout
        self._hurry = True
        self.wake()
        with self._progress:
            while not self._reached(position):
                if self.superseded or self._stopping:
                    return False
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._progress.wait(0.5 if left is None else min(left, 0.5))
        return True

    def stop(self, deadline: float) -> bool | None:
        """End the thread and send what can still be sent; return whether everything was. None
        if the thread does not end."""
        self._stopping = True
        self.wake()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(0.0, min(0.2, deadline - time.monotonic())))
            if thread.is_alive():
                self._transport.interrupt()
                thread.join(ENDED_WITHIN)
            if thread.is_alive():
                return None
        # No thread can be started while the interpreter ends, so the rest is sent here.
        while time.monotonic() < deadline and not self.superseded and self._delay == 0:
            if not self._try_step():
                break
        self._transport.close()
        return self._finish()

    def _reached(self, position: tuple[int, int]) -> bool:
        return (self.own.number, self.own.sent) >= position

    # The thread

    def _run(self) -> None:
        while not self._stopping:
            busy = self._try_step()
            if self._delay > 0:
                self._back_off()
            elif not busy:
                self._sleep()
        self._transport.close()  # whoever stopped it may have given up waiting

    def _sleep(self) -> None:
        with self._progress:
            self._progress.notify_all()
        self._hurry = False
        self._wake.clear()
        self.waits = True
        idle = self._spool.position() <= (self.own.number, self.own.sent) or self.superseded
        if idle and not self._stopping:  # its wake-up may have come before we listened
            self._wake.wait(SYNC_SECONDS if self._unsynced() else LOOK_AROUND)
        self.waits = False
        if not self._hurry and not self._stopping:
            time.sleep(self._linger)  # a moment, so that events of the same time go in one batch

    def _back_off(self) -> None:
        until = time.monotonic() + self._delay
        while not self._stopping:
            left = until - time.monotonic()
            if left <= 0 or (self._hurry and not self._demanded and self._delay > 0.5):
                break
            self._wake.clear()
            self._wake.wait(min(left, 1.0))
            self._spool.tend()
            self._sync()
        if self._hurry:
            self._hurry = False
            self._delay = min(self._delay, FIRST_DELAY)

    def _try_step(self) -> bool:
        try:
            return self._step()
        except Exception as error:  # noqa: BLE001 - we must outlive whatever we meet
            self._reporter.report("disk", f"Events could not be read from the queue: {error!r}.")
            self._delay = REFUSED_DELAY
            return False

    def _step(self) -> bool:
        """Send one batch; whether there may be more."""
        self._spool.tend()
        self._sync()
        if self.superseded:
            self._mark_superseded()
            return False
        self._look_around()
        outbox = self._others[0][0] if self._others else self.own
        batch = outbox.batch()
        if batch is None:
            if outbox is self.own:
                return False
            self._drop_leftovers()
            return True
        try:
            answer = self._transport.post(batch.body, batch.key)
        except Unreachable as error:
            self._wait_longer(None)
            self.last_error = str(error)
            self._reporter.report(
                "unreachable",
                f"Tapeline is unreachable ({error}); events wait in {self._where}.",
            )
            return True
        self._act(outbox, batch, answer)
        with self._progress:
            self._progress.notify_all()
        return True

    def _act(self, outbox: Outbox, batch: Batch, answer: Answer) -> None:
        if answer.status == 200:
            if self._delay:
                self._reporter.report("again", "Tapeline accepts events again.")
            self._delay = 0.0
            self.sent += batch.events
            outbox.done(batch)
            self._hear(answer)
            return
        self.last_error = f"{answer.status} {answer.error}"
        if answer.status == 409 and answer.code == "superseded":
            self._give_up(answer)
        elif answer.status in (400, 413, 422) or answer.code in SET_ASIDE:
            self._delay = 0.0
            self._set_aside(outbox, batch, answer)
        elif answer.code == "quota_exceeded" and (answer.retry_after or 0.0) > LONGEST_WAIT:
            self._keep_apart(outbox, batch, answer)
        elif answer.status in (408, 429, 409) or answer.status >= 500:
            self._wait_longer(answer.retry_after)
            self._reporter.report(
                "unreachable",
                f"Tapeline accepts no events now ({answer.error}); they wait in {self._where}.",
            )
        else:
            self._wait_longer(max(REFUSED_DELAY, self._delay, answer.retry_after or 0.0))
            self._reporter.report(
                "refused",
                f"Tapeline refuses events ({answer.status}: {answer.error}); "
                f"they wait in {self._where}.",
            )

    def _hear(self, answer: Answer) -> None:
        """The model itself has to stop: a thread of ours must not end its process."""
        was_halted, self.halted = self.halted, answer.halt
        if not self.halted or was_halted:
            return
        self._reporter.report("halt", "Its project is halted on Tapeline: it must stop trading.")
        if self._on_halt is not None:
            try:
                self._on_halt()
            except Exception:  # noqa: BLE001 - the thread goes on sending, whatever the model does
                logger.exception("The on_halt callback failed.")

    def _keep_apart(self, outbox: Outbox, batch: Batch, answer: Answer) -> None:
        """The model's tape is full. Orders still get in, and must not wait behind what does not:
        a batch with one in it would have been taken, so there is none in this one."""
        self._delay = 0.0
        self.rejected += batch.events
        self._put_aside("over-quota", batch.body)
        outbox.done(batch)
        self._reporter.report("quota", f"Tapeline accepts only orders now: {answer.error}")

    def _wait_longer(self, demanded: float | None) -> None:
        doubled = min(LONGEST_DELAY, max(FIRST_DELAY, self._delay * 2))
        self._demanded = demanded is not None
        # Jitter, so that a hundred models do not come back at the same moment.
        self._delay = max(demanded or 0.0, doubled * random.uniform(0.5, 1.0))  # noqa: S311

    def _give_up(self, answer: Answer) -> None:
        self.superseded = True
        self._mark_superseded()
        self._reporter.report(
            "superseded",
            f"This run was replaced by a newer one, so it sends no more events. {answer.error} "
            f"Unsent events are kept in {self._where}.",
        )

    def _mark_superseded(self) -> None:
        """The folder may be a later one, made when there was room for it again."""
        mine = self._spool.folder
        try:
            if mine is not None and not mine.is_superseded:
                mine.mark_superseded()
        except OSError as error:
            self._reporter.report("disk", f"The next run may send what this one has left: {error}.")

    def _set_aside(self, outbox: Outbox, batch: Batch, answer: Answer) -> None:
        """One bad event must not hold up the rest: find it, then set it aside."""
        if batch.events > 1 and answer.culprit != 0:
            known = answer.culprit is not None and answer.culprit < batch.events
            outbox.shorten(batch, (answer.culprit or 1) if known else batch.events // 2)
            return
        if batch.events > 1:
            outbox.shorten(batch, 1)
            batch = outbox.batch() or batch
        event = _decoded(batch.body)
        self.rejected += 1
        self._keep(event, answer)
        outbox.done(batch)
        path = event.get("path", "")
        self._reporter.report("rejected", f"Tapeline refused {path}: {answer.error}", event)

    def _keep(self, event: dict[str, Any], answer: Answer) -> None:
        reason = {"status": answer.status, "code": answer.code, "error": answer.error}
        line = json.dumps({**reason, "at": time.time(), "event": event}) + "\n"
        self._put_aside("rejected", line.encode())

    def _put_aside(self, name: str, content: bytes) -> bool:
        """For people to read. A disk that does not take it must not hold up other events."""
        if self._parent is None:
            return True
        try:
            _append(os.path.join(self._parent, name + ".ndjson"), content)
        except OSError as error:
            self._reporter.report("disk", f"Events could not be put into {name}.ndjson: {error}.")
            return False
        return True

    # Queues of processes that are gone

    def _look_around(self) -> None:
        now = time.monotonic()
        if self._parent is None or self._others or (self._looked and now < self._looked):
            return
        if self._alone:  # the key of a backtest is not accepted for events of a live run
            return
        self._looked = now + LOOK_AROUND
        mine = self._spool.folder.path if self._spool.folder is not None else ""
        for path in folder.left_behind(self._parent):
            if path != mine:
                self._take_over(path)

    def _take_over(self, path: str) -> None:
        try:
            taken = Folder.take_over(path)
        except (Held, OSError):
            return
        try:
            leftovers = Leftovers(taken, self._reporter.report)
            outbox = Outbox(leftovers, durable=self._durable)
            # Events of a run that was replaced must not be sent by its successor.
            is_done = taken.is_superseded and self._put_rest_aside(outbox)
        except OSError as error:
            taken.close()  # or no process could try it again while this one lives
            self._reporter.report("disk", f"What an earlier run left cannot be read yet: {error}.")
            return
        if is_done:
            taken.delete()
        elif taken.is_superseded:
            taken.close()
        else:
            self._others.append((outbox, leftovers))

    def _drop_leftovers(self) -> None:
        _, leftovers = self._others.pop(0)
        leftovers.folder.delete()

    def _put_rest_aside(self, outbox: Outbox) -> bool:
        is_done = self._put_aside(SUPERSEDED, outbox.rest())
        if is_done:
            outbox.skip()
        return is_done

    def _finish(self) -> bool:
        for _, leftovers in self._others:
            leftovers.folder.close()
        self._others.clear()
        try:
            if self.superseded:
                return self._put_rest_aside(self.own)
            return self.own.batch() is None
        except OSError:
            return False  # it cannot be read now; the next run may be luckier

    # Power failures

    def _unsynced(self) -> bool:
        return self._spool.folder is not None and not self._spool.is_synced()

    def _sync(self) -> None:
        now = time.monotonic()
        if now >= self._synced + SYNC_SECONDS:
            self._synced = now
            self._spool.sync()


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"text": line.decode("utf-8", "replace")}


def _append(path: str, content: bytes) -> None:
    """To a file for people to read, with a bounded size."""
    if not content:
        return
    if os.path.exists(path) and os.path.getsize(path) + len(content) > MOST_SET_ASIDE:
        os.replace(path, path + ".old")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(content)
