"""How far each rule has searched a log, and what it found there. The evaluator asks here and never
waits: lines are read and searched beside it (`incidents/searching.py`)."""

from collections.abc import Collection
from threading import Lock
from typing import NamedTuple

import msgspec

RESTS = 60.0  # seconds after which a pattern that cannot be used is tried again

Key = tuple[str, str]
"""A rule and a model."""


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found in the lines that were new to it."""

    read_to: int | None
    """The number of the last line that was looked at. None: none was yet."""
    at: float | None = None
    """When the newest line that matched arrived."""
    line: str = ""
    waits_since: float | None = None
    """Since when there are lines that were not looked at."""
    trouble: str | None = None
    """Why not."""


class Wish(NamedTuple):
    """What a rule looks for in the log of a model."""

    project_id: str
    tape: int
    pattern: str
    counts_from: float
    """Of a rule that has read nothing yet: lines before this do not count."""
    read_to: int | None
    """As far as it remembers."""


class Search(msgspec.Struct):
    key: Key
    wish: Wish
    read_to: int | None = None
    found: Matched | None = None
    """A match that the rule has not remembered yet: until then nobody reads past it, so that it is
    found again if that could not be written."""
    waits_since: float | None = None
    trouble: str | None = None
    rests_until: float = 0.0
    turn: int = 0
    """When it was last searched, so that others come first."""


class Searches:
    """Thread-safe: facts are read in threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: dict[Key, Search] = {}
        self._turns = 0

    def ask(self, key: Key, wish: Wish, newest: int, now: float) -> Matched:
        """What was found so far. `newest` is the number of the newest line."""
        with self._lock:
            one = self._all.get(key)
            if one is None or (one.wish.tape, one.wish.pattern) != (wish.tape, wish.pattern):
                one = self._all[key] = Search(key, wish)
            one.wish = wish
            if wish.read_to is not None or newest == 0:
                one.read_to = max(one.read_to or 0, wish.read_to or 0)
            if one.found is not None and (wish.read_to or 0) >= (one.found.read_to or 0):
                one.found = None
            result = one.found or Matched(read_to=one.read_to)
            if result.read_to is not None and result.read_to >= newest:
                one.waits_since, one.trouble = None, None
            elif one.waits_since is None:
                one.waits_since = now
            return msgspec.structs.replace(result, waits_since=one.waits_since, trouble=one.trouble)

    def waiting(self, now: float) -> list[Search]:
        """Those with lines to look at, as copies; who waited longest comes first."""
        with self._lock:
            some = [
                msgspec.structs.replace(one)
                for one in self._all.values()
                if one.waits_since is not None and one.found is None and one.rests_until <= now
            ]
        return sorted(some, key=lambda one: one.turn)

    def looked(self, key: Key, found: Matched, *, is_all: bool) -> None:
        with self._lock:
            if (one := self._told(key)) is None:
                return
            one.trouble = None
            if found.at is not None:
                one.found = found
            elif found.read_to is not None:
                one.read_to = max(one.read_to or 0, found.read_to)
            if is_all:
                one.waits_since = None

    def failed(self, key: Key, why: str, rests_until: float = 0.0) -> None:
        with self._lock:
            if (one := self._told(key)) is not None:
                one.trouble, one.rests_until = why, rests_until

    def keep(self, keys: Collection[Key]) -> None:
        """Rules and models that are gone need no place."""
        with self._lock:
            self._all = {key: one for key, one in self._all.items() if key in keys}

    def _told(self, key: Key) -> Search | None:
        self._turns += 1
        one = self._all.get(key)
        if one is not None:
            one.turn = self._turns
        return one
