"""One attempt under way: its output, its news from bubblewrap, its limits, and its end."""

import math
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tapeline.runs.shim import attempt, shortage, tree
from tapeline.runs.shim.disk import DiskUse
from tapeline.runs.shim.forward import Watch
from tapeline.runs.shim.group import Group
from tapeline.runs.shim.lines import Lines
from tapeline.runs.shim.lock import Lock
from tapeline.runs.shim.network import Namespace
from tapeline.runs.shim.spool import Spool

CHUNK = 65_536
PAUSE = 0.005  # collects the lines of a busy process, so that each does not wake the shim
# Beyond its quota of output, what a model prints is dropped. Reading that as fast as it comes would
# cost a processor, so the model waits at its prints: it loses no more than it would anyway.
PAUSE_OVER = 0.05
STRAGGLERS = 2.0  # seconds for children of an unsandboxed process to close its pipes
WATCHED_EVERY = 2.0
MOST_REFUSED = 50.0  # forks a second beyond its limit, at two looks in a row: a fork bomb
DISK = "disk"  # the file in the folder of its launch that says how much it uses, of how much
WATCHED_CLOSELY = 0.5  # where the kernel does not count for us


class Running:
    def __init__(
        self,
        spec: dict[str, Any],
        number: int,
        spool: Spool,
        watch: Watch,
        namespace: Namespace | None,
        lock: Lock,
    ) -> None:
        self._spec, self._number, self._spool, self._watch = spec, number, spool, watch
        self._lock = lock
        self._group = Group(spec["group"])
        self._oom_before = self._group.oom_kills()
        self._floods = 0
        self._refused, self._refused_at = self._group.refused_forks(), time.monotonic()
        self._pipes = attempt.Pipes()
        masked = [text.encode(errors="surrogateescape") for text in spec["masked"]]
        limit = spec["policy"]["line_bytes"]
        self._streams = {
            self._pipes.output: (b"o", Lines(limit, masked)),
            self._pipes.errors: (b"e", Lines(limit, masked)),
        }
        self._paused: dict[int, float] = {}
        self._news = b""
        self._first = 0  # the namespace's process 1, seen from outside
        self._first_handle: int | None = None
        self._tree_over = False
        self._status: int | None = None
        self._reaped_at = 0.0
        self._interrupted = False
        self._interrupt_wanted = False
        self._next_look = 0.0
        most = spec["limits"]["disk_bytes"]
        self._disk = None if most is None else DiskUse(spec["folders"], most)
        self._disk_told: tuple[int, int] | None = None
        self.cause: str | None = None  # why we ended it, if we did
        self.started_at = time.monotonic()
        self._group.open()
        self.ran = spec["unsafe"]
        self.pid = attempt.start(spec, namespace, lock.held, self._pipes)
        if spec["unsafe"]:
            spool.state(event="started", attempt=number, pid=self.pid)
        self._watch(self._pipes.status, select.POLLIN, self._hear)
        for stream in self._streams:
            self._watch(stream, select.POLLIN, self._reader(stream))

    # Commands of the shim

    def interrupt(self) -> None:
        """Ask the model's own process to end, as soon as there is one."""
        self.cause = self.cause or "stopped"
        self._interrupt_wanted = True
        self._try_interrupt()

    def kill(self, cause: str) -> None:
        if self._status is None:  # else it has ended by itself, and only its children are left
            self.cause = self.cause or cause
        self._kill()

    def reaped(self, status: int) -> None:
        """The child is gone; the processes that it started are killed too."""
        self._status, self._reaped_at = status, time.monotonic()
        self._hear(0)
        self._kill()

    def tick(self, now: float) -> None:
        for stream in [one for one, until in self._paused.items() if until <= now]:
            del self._paused[stream]
            if stream in self._streams:
                self._watch(stream, select.POLLIN, self._reader(stream))
        self._spool.tick(now)
        if self._interrupt_wanted and not self._interrupted:
            self._try_interrupt()
        if now >= self._next_look:
            self._next_look = now + (WATCHED_EVERY if self._group.exists else WATCHED_CLOSELY)
            self._look()
        if now >= self._next_disk_look() and self._disk:
            if self._disk.is_over(now, self._pids):
                self.kill("disk_full")
            self._tell_disk(self._disk.known())

    def wake_at(self) -> float:
        """When there is something to do without an event."""
        times = [self._next_look, self._next_disk_look(), *self._paused.values()]
        if (owed := self._spool.wake_at()) is not None:
            times.append(owed)
        if self._status is not None or (self._interrupt_wanted and not self._interrupted):
            times.append(time.monotonic() + 0.05)
        return min(times)

    def _tell_disk(self, known: tuple[int, int]) -> None:
        """For the server's samples. Always in the same place: a full disk takes that, too."""
        if known == self._disk_told:
            return
        with suppress(OSError):
            file = os.open(
                os.path.join(self._spec["folder"], DISK), os.O_CREAT | os.O_WRONLY, 0o600
            )
            try:
                os.pwrite(file, b"%20d %20d\n" % known, 0)
            finally:
                os.close(file)
            self._disk_told = known

    def _next_disk_look(self) -> float:
        if self._disk is None or self._status is not None or self.cause:
            return math.inf
        return self._disk.look_at

    def _pids(self) -> list[int]:
        return self._group.members() or tree.descendants(self.pid)

    def over(self) -> bool:
        """All of its processes are gone, and all of their output is in the journal."""
        if self._status is None or (self._first_handle is not None and not self._tree_over):
            return False
        if not self._streams:
            return True
        return self._spec["unsafe"] and time.monotonic() - self._reaped_at > STRAGGLERS

    def close(self) -> None:
        for stream in list(self._streams):
            self._end_stream(stream)
        self._watch(self._pipes.status, 0, None)
        os.close(self._pipes.status)
        if self._first_handle is not None:
            self._watch(self._first_handle, 0, None)
            os.close(self._first_handle)

    def result(self) -> tuple[str, int | None, int | None]:
        """Cause, exit code, signal."""
        code, number = self._exit()
        if self.cause:
            return self.cause, code, number
        if number == signal.SIGKILL and self._group.oom_kills() > self._oom_before:
            return "out_of_memory", code, number
        return ("exit" if number is None else "signal"), code, number

    def was_refused(self) -> bool:
        """Whether the sandbox could not be made for lack of a process or of memory: the model was
        never reached."""
        if self.ran or self.cause or self._exit()[1] is not None:
            return False
        return shortage.in_words(self.last_error())

    def last_error(self) -> str:
        return self._last_error.decode(errors="replace")

    # Events

    _last_error = b""

    def _reader(self, stream: int) -> Callable[[int], None]:
        return lambda _events: self._read(stream)

    def _read(self, stream: int) -> None:
        kind, lines = self._streams[stream]
        try:
            data = os.read(stream, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._end_stream(stream)
            return
        if done := lines.feed(data):
            self._spool.output(kind, done)
        if self._status is None:
            self._watch(stream, 0, None)
            pause = PAUSE_OVER if self._spool.is_dropping else PAUSE
            self._paused[stream] = time.monotonic() + pause

    def _end_stream(self, stream: int) -> None:
        kind, lines = self._streams.pop(stream)
        if done := lines.end():
            self._spool.output(kind, done)
        if kind == b"e":
            self._last_error = lines.last
        self._watch(stream, 0, None)
        os.close(stream)

    def _hear(self, _events: int) -> None:
        """Bubblewrap reports the namespace's first process, and how the model ended."""
        try:
            data = os.read(self._pipes.status, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._watch(self._pipes.status, 0, None)
        self._news += data
        first = _number_after(self._news, b'"child-pid":')
        if first and not self._first:
            self._meet(first)
        self.ran = self.ran or b'"exit-code":' in self._news

    def _meet(self, first: int) -> None:
        self._first = first
        try:
            self._first_handle = os.pidfd_open(first)
        except ProcessLookupError:
            return
        self._watch(self._first_handle, select.POLLIN, self._tree_ended)
        self._lock.note(first)
        self._next_look = 0.0
        self._spool.state(event="started", attempt=self._number, pid=first)

    def _tree_ended(self, _events: int) -> None:
        """The kernel ends process 1 of a namespace after all the others."""
        self._tree_over = True
        assert self._first_handle is not None
        self._watch(self._first_handle, 0, None)

    def _try_interrupt(self) -> None:
        if self._spec["unsafe"]:
            model: int | None = self.pid
        else:
            model = next(iter(tree.children(self._first)), None) if self._first else None
        if model is not None and self._status is None:
            self._interrupted = True
            tree.send(model, signal.SIGINT)

    def _kill(self) -> None:
        if self._first_handle is not None and not self._tree_over:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_handle, signal.SIGKILL)
        if self._spec["unsafe"]:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        elif self._status is None and self._first_handle is None:
            tree.send(self.pid, signal.SIGKILL)
        self._group.kill()

    def _look(self) -> None:
        if self._status is not None or self.cause:
            return
        self._lock.touch()
        limits = self._spec["limits"]
        if not self._group.exists:
            pids = tree.descendants(self.pid)
            if self._first:
                tree.limit_processes(pids, limits["pids"])
            used = tree.resident_bytes(pids)
            if used > limits["memory_bytes"]:
                self.kill("out_of_memory")
        elif self._is_flooding():
            self.kill("flood")

    def _is_flooding(self) -> bool:
        """A fork bomb slows the whole machine, because the kernel's locks are everybody's."""
        now, refused = time.monotonic(), self._group.refused_forks()
        rate = (refused - self._refused) / max(1.0, now - self._refused_at)
        self._refused, self._refused_at = refused, now
        self._floods = self._floods + 1 if rate > MOST_REFUSED else 0
        return self._floods > 1

    def _exit(self) -> tuple[int | None, int | None]:
        assert self._status is not None
        code = _number_after(self._news, b'"exit-code":')
        if code is None:
            code = os.waitstatus_to_exitcode(self._status)
            return (None, -code) if code < 0 else (code, None)
        # Bubblewrap reports a signal as a shell does.
        return (None, code - 128) if 128 < code <= 128 + signal.NSIG else (code, None)


def _number_after(text: bytes, label: bytes) -> int | None:
    _, found, rest = text.partition(label)
    digits = rest.lstrip().split(b",")[0].split(b"}")[0].strip()
    return int(digits) if found and digits.isdigit() else None
