"""The shim's own clock of a lease: when that runs out, the model ends, whoever else is gone.

All times are of CLOCK_BOOTTIME, which no change of the wall clock moves and which goes on while the
machine sleeps. The node's process renews the leases of all its runs in one file. Two timers of the
kernel keep the deadline: a signal that is handled wherever the shim is, and a kill of the shim, and
so of its sandbox, in case the shim cannot run at all.
"""

import json
import math
import os
import signal
from collections.abc import Callable
from time import CLOCK_BOOTTIME, clock_gettime
from typing import Any

from tapeline.runs.shim import kernel

LOOKS = 3  # as often is the file read in the time that is left
SOONEST = 0.1  # seconds between two looks
SLACK = 0.25
"""Seconds after the deadline at which the kernel kills a shim that did not run."""
LARGEST_FILE = 16 * 1024 * 1024


class Lease:
    def __init__(
        self, terms: dict[str, Any] | None, name: str, on_over: Callable[[], bool]
    ) -> None:
        """Without terms it never runs out. `on_over` kills, and returns whether that is done."""
        self.until = math.inf
        self._name, self._on_over = name, on_over
        self._timers: list[kernel.Timer] = []
        if terms is None:
            return
        self._file, self._fence, self.until = terms["file"], terms["fence"], terms["until"]
        signal.signal(signal.SIGALRM, lambda _number, _frame: self._wake())
        self._timers = [kernel.Timer(signal.SIGALRM), kernel.Timer(signal.SIGKILL)]
        self._wake()

    @property
    def is_over(self) -> bool:
        """A deadline that has passed is final: what the file says by now is for others."""
        return self.until < math.inf and _now() >= self.until

    def end(self) -> None:
        """There is nothing left that could live on without it."""
        for timer in self._timers:
            timer.set(0.0)

    def _wake(self) -> None:
        """At any point of the shim's code."""
        if not self.is_over:
            self._read()
        looks, kills = self._timers
        if not self.is_over:
            kills.set(self.until + SLACK)
            now = _now()
            looks.set(min(self.until, now + max(SOONEST, (self.until - now) / LOOKS)))
        elif self._on_over():
            self.end()
        else:
            looks.set(_now() + SOONEST)

    def _read(self) -> None:
        """A file that cannot be read renews nothing, and may be there the next time."""
        try:
            file = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
            try:
                text = os.read(file, LARGEST_FILE)
            finally:
                os.close(file)
            fence, until = json.loads(text)[self._name]
            if fence == self._fence and self.until < until < math.inf:
                self.until = float(until)
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            return


def _now() -> float:
    return clock_gettime(CLOCK_BOOTTIME)
