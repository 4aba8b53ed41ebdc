"""A process of its own that sends messages, so that Apprise's memory is only used while there are
messages, and no library of others is near the server's keys.

Run as `python -m tapeline.watch.sending.sender`: the first line on standard input is an `Order`,
then one `Job` each; outcomes go to standard output. Each job has a child of its own, which sees no
other job, is confined (`confinement.py`), and ends at its deadline whatever it is doing.
"""

import os
import resource
import selectors
import signal
import sys
import time
from contextlib import suppress
from typing import BinaryIO, NoReturn

import msgspec

from tapeline import lifetime, memory
from tapeline.watch.sending import one_message
from tapeline.watch.sending.jobs import AT_ONCE, LONGEST_LINE, Job, Order, Outcome

MEMORY = 400_000_000  # bytes of addresses, of every child; one that has loaded Apprise has 90 MB
LATE = "The service did not answer in time."
DIED = "The process that sends messages failed; the server's log may say why."


class _Child:
    def __init__(self, job: Job, pid: int, out: int) -> None:
        self.job, self.pid, self.out = job, pid, out
        self.ends = time.monotonic() + job.seconds
        self.said = b""


class Sender:
    def __init__(self, order: Order, source: BinaryIO, out: BinaryIO) -> None:
        self._order, self._source, self._out = order, source, out
        self._waiting: list[Job] = []
        self._children: dict[int, _Child] = {}
        self._rest = b""
        self._open, self._is_prepared = True, False

    def run(self) -> None:
        """Until standard input ends and everything is answered."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._source, selectors.EVENT_READ)
            while self._open or self._waiting or self._children:
                for key, _ in selector.select(self._patience()):
                    if key.fd in self._children:
                        self._hear(selector, self._children[key.fd])
                    elif not self._read():
                        selector.unregister(self._source)
                self._end_late(selector)
                while self._waiting and len(self._children) < AT_ONCE:
                    child = self._begin(self._waiting.pop(0))
                    selector.register(child.out, selectors.EVENT_READ)

    def _patience(self) -> float | None:
        first = min((one.ends for one in self._children.values()), default=None)
        return None if first is None else max(0.0, first - time.monotonic())

    def _read(self) -> bool:
        found = os.read(self._source.fileno(), LONGEST_LINE)
        if not found:
            self._open = False
            return False
        *lines, self._rest = (self._rest + found).split(b"\n")
        self._waiting += (msgspec.json.decode(line, type=Job) for line in lines)
        return True

    def _begin(self, job: Job) -> _Child:
        if job.kind != "webhook" and not self._is_prepared:
            one_message.prepare()
            self._is_prepared = True
        ours, its = os.pipe()
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            os.close(ours)
            self._be_child(job, its, parent)
        os.close(its)
        child = self._children[ours] = _Child(job, pid, ours)
        return child

    def _be_child(self, job: Job, out: int, parent: int) -> NoReturn:
        """What comes after the fork belongs to the parent."""
        try:
            lifetime.end_with(parent)
            os.closerange(3, out)  # the server's pipes, and those of other children
            os.closerange(out + 1, 1024)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
            found = one_message.send(job, self._order)
            os.write(out, msgspec.json.encode(found))
        finally:
            os._exit(0)

    def _hear(self, selector: selectors.BaseSelector, child: _Child) -> None:
        found = os.read(child.out, 65_536)
        child.said += found
        if not found:
            self._finish(selector, child, None)

    def _end_late(self, selector: selectors.BaseSelector) -> None:
        now = time.monotonic()
        for child in [one for one in self._children.values() if one.ends <= now]:
            os.kill(child.pid, signal.SIGKILL)
            self._finish(selector, child, LATE)

    def _finish(self, selector: selectors.BaseSelector, child: _Child, why: str | None) -> None:
        selector.unregister(child.out)
        os.close(child.out)
        del self._children[child.out]
        os.waitpid(child.pid, 0)
        outcome = Outcome(id=child.job.id, arrived=False, message=why or DIED)
        if why is None:
            with suppress(msgspec.MsgspecError):
                outcome = msgspec.json.decode(child.said, type=Outcome)
        self._out.write(msgspec.json.encode(outcome) + b"\n")
        self._out.flush()


def main() -> None:
    # What a library prints must not look like an outcome.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, sys.stdout.fileno())
    sys.dont_write_bytecode = True
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
    os.dup2(null, sys.stdin.fileno())
    order = msgspec.json.decode(_first_line(source), type=Order)
    lifetime.end_with(order.parent)
    memory.be_expendable()
    Sender(order, source, out).run()


def _first_line(source: BinaryIO) -> bytes:
    found = b""
    while (one := source.read(1)) not in {b"\n", b""}:
        found += one
    return found


if __name__ == "__main__":
    main()
