"""Open streams check the rights of their readers when any server announces that one has ended.

At once, and then at most once a second: an account that gives rights and takes them away in a loop
must not make the streams of all others read all the time.
"""

from collections.abc import Sequence
from time import monotonic

from tapeline.background import Background
from tapeline.store.backends import announcing
from tapeline.tape.append.watchers import Watchers

EVERY, WITHIN = 1.0, 15.0  # seconds


class Authorising:
    def __init__(self, watchers: Watchers, background: Background) -> None:
        self._watchers = watchers
        self._at = -EVERY
        self._is_due = False
        background.loop("rights", self.turn, every=EVERY, within=WITHIN)

    def hear(self, names: Sequence[str]) -> None:
        """From the thread that listens: what was announced, of whatever kind."""
        if announcing.RIGHTS not in names:
            return
        if monotonic() - self._at >= EVERY:
            self._check()
        else:
            self._is_due = True

    async def turn(self) -> None:
        if self._is_due:
            self._check()

    def _check(self) -> None:
        self._at, self._is_due = monotonic(), False
        self._watchers.authorise_again()
