"""Quotas: how much a model may push, print and keep, and a key push, before it is told to wait.

What counts within a minute is counted in memory; servers on one database tell each other what they
counted (`shared_usage`). What a tape holds in all stands in its row. Orders, their updates, cash
and lifecycle are counted and never refused: what was traded gets in, whatever else a model says.
"""

import math
import time
from collections.abc import Callable

import msgspec

from tapeline.errors import QuotaExceeded, TooLarge
from tapeline.settings import Settings
from tapeline.tape.tapes import WriteAccess

MINUTE = 60.0
MEGABYTE, GIGABYTE = 1_000_000, 1_000_000_000
MOST_REMEMBERED = 10_000
"""Owners, before those are forgotten whose minute is over."""
TOLD_FROM = 20
"""The part of its limit from which on other servers are told what an owner used."""
LATER = 600
"""Seconds after which to try again when a tape is full: somebody has to make room first."""


class Used(msgspec.Struct):
    """In bytes."""

    used: int
    quota: int


class ModelUsage(msgspec.Struct):
    """What a model takes, of what it may."""

    tape: Used
    """What its tape holds."""
    pushed: Used
    """Within the current minute, on all servers."""
    captured: Used
    """Output of its runs within the current minute."""


class Window:
    """What an owner has used of a minute."""

    __slots__ = ("elsewhere", "told", "until", "used")

    def __init__(self, until: float) -> None:
        self.until = until
        self.used = 0
        self.elsewhere = 0
        """Of that, what other servers counted."""
        self.told = 0
        """Of what this server counted, what it has told them."""


class Meter:
    """Bytes per owner within a minute, which begins with the first of them."""

    def __init__(self, limit: int, now: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.now = now
        self._windows: dict[int | str, Window] = {}

    def window(self, owner: int | str, now: float) -> Window:
        """The one that is open, or a new one."""
        found = self._windows.get(owner)
        if found is None or found.until <= now:
            if len(self._windows) >= MOST_REMEMBERED:
                kept = self._windows.items()
                self._windows = {who: one for who, one in kept if one.until > now}
            found = self._windows[owner] = Window(now + MINUTE)
        return found

    def wait(self, owner: int | str, size: int) -> float | None:
        """Seconds until so much fits again; None if it fits now."""
        now, found = self.now(), self._windows.get(owner)
        if found is None or found.until <= now or found.used + size <= self.limit:
            return None
        return found.until - now

    def add(self, owner: int | str, size: int) -> None:
        self.window(owner, self.now()).used += size

    def add_elsewhere(self, owner: int | str, size: int) -> None:
        """Another server counted it."""
        window = self.window(owner, self.now())
        window.used += size
        window.elsewhere += size

    def untold(self) -> dict[int | str, int]:
        """What other servers have to know by now. Of owners far from their limit they need not:
        these cannot reach it on all servers together."""
        now, found = self.now(), {}
        for owner, one in self._windows.items():
            counted = one.used - one.elsewhere
            if one.until > now and counted > one.told and counted >= self.limit // TOLD_FROM:
                found[owner] = counted - one.told
                one.told = counted
        return found

    def used(self, owner: int | str) -> int:
        found = self._windows.get(owner)
        return found.used if found is not None and found.until > self.now() else 0


class Quotas:
    def __init__(self, settings: Settings) -> None:
        self.pushed = Meter(settings.quota_pushed * MEGABYTE)
        """By tape."""
        self.pushed_by_key = Meter(settings.quota_key * MEGABYTE)
        self.captured = Meter(settings.quota_captured * MEGABYTE)
        """By model: its runs together."""
        self.total = settings.quota_total * GIGABYTE
        """Of one tape."""
        self.archives = settings.quota_archives * GIGABYTE
        """Of the versions of one project."""

    def usage(self, tape: int, model_id: str, tape_bytes: int) -> ModelUsage:
        return ModelUsage(
            Used(tape_bytes, self.total),
            Used(self.pushed.used(tape), self.pushed.limit),
            Used(self.captured.used(model_id), self.captured.limit),
        )

    def push(self, access: WriteAccess, size: int, *, is_vital: bool = False) -> None:
        """Count a request, or refuse it: it is taken whole or not at all."""
        # On the hot path: one look at the clock, and two into a dictionary.
        models, keys = self.pushed, self.pushed_by_key
        now = models.now()
        model, key = models.window(access.tape, now), keys.window(access.key_id, now)
        if not is_vital and (model.used + size > models.limit or key.used + size > keys.limit):
            self._refuse(models, access.tape, size, "This model has pushed", "quota_pushed")
            self._refuse(keys, access.key_id, size, "This key has pushed", "quota_key")
        model.used += size
        key.used += size

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
