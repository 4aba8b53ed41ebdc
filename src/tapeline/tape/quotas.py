"""Quotas: how much a model may push, print and keep, and a key push, before it is told to wait.

What counts within a minute is counted by each server for itself, in memory; what a tape holds in
all stands in its row. Orders, their updates, cash and lifecycle are counted and never refused: what
was traded gets in, whatever else a model says.
"""

import math
import time
from collections.abc import Callable

from tapeline.errors import QuotaExceeded, TooLarge
from tapeline.settings import Settings
from tapeline.tape.tapes import Way

MINUTE = 60.0
MEGABYTE, GIGABYTE = 1_000_000, 1_000_000_000
MOST_REMEMBERED = 10_000
"""Owners, before those are forgotten whose minute is over."""
LATER = 600
"""Seconds after which to try again when a tape is full: somebody has to make room first."""


class Meter:
    """Bytes per owner within a minute, which begins with the first of them."""

    def __init__(self, limit: int, now: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._now = now
        self._used: dict[int | str, tuple[float, int]] = {}

    def wait(self, owner: int | str, size: int) -> float | None:
        """Seconds until so much fits again; None if it fits now."""
        until, used = self._used.get(owner, (0.0, 0))
        left = until - self._now()
        return left if left > 0 and used + size > self.limit else None

    def add(self, owner: int | str, size: int) -> None:
        now = self._now()
        until, used = self._used.get(owner, (0.0, 0))
        if until <= now:
            if len(self._used) >= MOST_REMEMBERED:
                self._used = {one: kept for one, kept in self._used.items() if kept[0] > now}
            until, used = now + MINUTE, 0
        self._used[owner] = (until, used + size)

    def used(self, owner: int | str) -> int:
        until, used = self._used.get(owner, (0.0, 0))
        return used if until > self._now() else 0


class Quotas:
    def __init__(self, settings: Settings) -> None:
        self.pushed = Meter(settings.quota_pushed * MEGABYTE)
        """By tape."""
        self.pushed_by_key = Meter(settings.quota_key * MEGABYTE)
        self.captured = Meter(settings.quota_captured * MEGABYTE)
        """By model: its runs together."""
        self.total = settings.quota_total * GIGABYTE
        """Of one tape."""

    def push(self, way: Way, size: int, *, is_vital: bool = False) -> None:
        """Count a request, or refuse it: it is taken whole or not at all."""
        if not is_vital:
            self._refuse(self.pushed, way.tape, size, "This model has pushed", "quota_pushed")
            self._refuse(self.pushed_by_key, way.key_id, size, "This key has pushed", "quota_key")
        self.pushed.add(way.tape, size)
        self.pushed_by_key.add(way.key_id, size)

    def _refuse(self, meter: Meter, owner: int | str, size: int, who: str, setting: str) -> None:
        if size > meter.limit:
            raise TooLarge(
                f"This request has {size:,} bytes, more than the quota of a whole minute"
                f" (`{setting}`). Send less at a time."
            )
        seconds = meter.wait(owner, size)
        if seconds is not None:
            wait = math.ceil(seconds)
            raise QuotaExceeded(
                f"{who} as much as it may: {meter.limit // MEGABYTE:,} MB a minute (`{setting}`)."
                f" Nothing of this request was stored; send it again in {wait} seconds. Orders,"
                " their updates, cash and lifecycle still get in.",
                retry_after=wait,
            )


def tape_full(total: int) -> QuotaExceeded:
    return QuotaExceeded(
        f"The tape of this model holds as much as it may: {total // GIGABYTE:,} GB (`quota_total`)."
        " Nothing of this request was stored. Orders, their updates, cash and lifecycle still get"
        " in. Delete backtests, go on with another model, or ask the operator for more.",
        retry_after=LATER,
    )
