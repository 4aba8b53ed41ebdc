"""Measures how much time has really passed, because a wall clock can jump.

People, NTP servers and hypervisors set the wall clock. Durations are measured with `Clock.now`
instead, which only ever moves forward, at the speed of time; it is saved in the database, so it
goes on after a restart. `Clock.with_pauses` also counts the time in which the machine was off:
what is kept lasts by the first, what somebody may use or must do again by the second. Wall-clock
stamps stay what people read.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from tapeline.logs import Log

log = Log(__name__)

# Suspended laptops: this clock counts their sleep. Other systems than Linux have only the second.
_SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
JUMP = 2.0  # seconds; smaller steps are what NTP does every day
TOGETHER = 0.05  # seconds between two readings that count as one moment
KEPT = 50  # periods, and as many jumps
DAY = 24 * 3600.0


class Moment(NamedTuple):
    boot: float
    """Seconds since the machine was started; it never jumps."""
    wall: float


class Jump(msgspec.Struct, frozen=True):
    at: float
    """Wall-clock time after it."""
    seconds: float
    """Positive if the clock went ahead."""
    when: float
    """By the clock that does not jump."""

    def sentence(self) -> str:
        day = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        way = "ahead" if self.seconds > 0 else "back"
        return f"the clock of this machine jumped {_span(abs(self.seconds))} {way}, to {day}"


class Period(msgspec.Struct, frozen=True):
    """A time without a jump."""

    since: float
    """By the clock that does not jump."""
    ahead: float
    """How far the wall clock was ahead of it."""
    paused: float = 0.0
    """How long the machine was off until then, as far as its wall clock told at the next boot."""


class Saved(msgspec.Struct, frozen=True):
    """What the database keeps of a clock."""

    now: float
    boot_id: str
    boot: float
    periods: tuple[Period, ...]
    jumps: tuple[Jump, ...]
    """The newest last."""

    def recent(self) -> Jump | None:
        """The last jump, if it is worth telling an operator about."""
        last = self.jumps[-1] if self.jumps else None
        return last if last and self.now - last.when < DAY else None


def read() -> Moment:
    """Both clocks at one moment, even if the machine is busy and stops us in between."""
    while True:
        before, wall = time.clock_gettime(_SINCE_BOOT), time.time()
        if time.clock_gettime(_SINCE_BOOT) - before < TOGETHER:
            return Moment(before, wall)


class Clock:
    """Epoch seconds that never jump. Of the first start they are the wall clock's, and from then on
    they count the time in which a server or its machine ran. Thread-safe."""

    def __init__(self, read: Callable[[], Moment] = read) -> None:
        self._read = read
        self._noting = threading.Lock()
        moment = read()
        self._started = moment.wall - moment.boot
        self._periods: tuple[Period, ...] = (Period(moment.wall, 0.0),)
        self.jumps: tuple[Jump, ...] = ()
        """The newest last."""
        self.jumped = 0
        """How often it has, since this process was started."""

    def now(self) -> float:
        return self._started + self._read().boot

    def with_pauses(self) -> float:
        """As `now`, and the time in which the machine was off counts too. For credentials and
        schedules, where too late is worse than too early."""
        return self.now() + self._periods[-1].paused

    def shown(self, stamp: float) -> float:
        """A stamp of `with_pauses` as people read it: the same at every look until a jump."""
        return stamp + self.ahead

    @property
    def ahead(self) -> float:
        """How far the wall clock is ahead of `with_pauses`: what is kept without it can be shown
        by the wall clock again, however often that one was set."""
        last = self._periods[-1]
        return last.ahead - last.paused

    def age(self, stamp: float) -> float:
        """Seconds since a wall-clock stamp, pauses included, even if the clock was set since. Of
        two moments with the same stamp it is the later one."""
        now, found = self.now(), self._period_of(stamp)
        return max(0.0, now + self._periods[-1].paused - (stamp - found.ahead + found.paused))

    def put_right(self, stamp: float) -> float:
        """What the clock would have shown at a wall-clock stamp, had it been set then as it is
        now. For moments from which something lasts by today's wall clock. The answer is not to be
        kept: it cannot be put right once more."""
        found = self._period_of(stamp)
        return stamp + self.ahead - (found.ahead - found.paused)

    def _period_of(self, stamp: float) -> Period:
        """Of two moments with the same stamp it is the later one."""
        until, last = self.now(), self._periods[-1]
        is_to_come = stamp - last.ahead > until
        for one in reversed(self._periods):
            if one.since - JUMP <= stamp - one.ahead <= until + JUMP:
                return one
            until = one.since
        return last if is_to_come else self._periods[0]

    def ago(self, seconds: float) -> float:
        """The wall-clock stamp of a moment that is really this long ago. Whatever was stamped
        before it is older, even if the clock was set while it waited."""
        moment = self._read()
        now = self._started + moment.boot
        since = now - seconds
        lasted = [one.ahead for one, after in pairwise(self._periods) if after.since > since]
        return since + min(*lasted, self._periods[-1].ahead, moment.wall - now)

    def look(self) -> bool:
        """Whether the wall clock has jumped since the last look."""
        before = self.jumped
        self.wall()
        return self.jumped > before

    def wall(self) -> float:
        """The wall-clock time, which `jumped` already knows of. It may jump a moment later."""
        with self._noting:
            moment = self._read()
            now = self._started + moment.boot
            seconds = moment.wall - now - self._periods[-1].ahead
            if abs(seconds) >= JUMP:
                self._begin_period(now, moment.wall - now, pause=0.0)
                self._note(Jump(moment.wall, seconds, now))
            return moment.wall

    def saved(self) -> Saved:
        boot = self._read().boot
        return Saved(self._started + boot, boot_id(), boot, self._periods, self.jumps)

    def resume(self, saved: Saved) -> None:
        """Go on where an earlier process stopped; on the same boot, the pause counts too."""
        moment = self._read()
        is_same_boot = saved.boot_id == boot_id() != "" and moment.boot >= saved.boot
        now = saved.now + (moment.boot - saved.boot if is_same_boot else 0.0)
        self._started = now - moment.boot
        self._periods, self.jumps = saved.periods, saved.jumps
        seconds = moment.wall - now - self._periods[-1].ahead
        # After another boot, a clock that is ahead is nothing new: the machine was off.
        if is_same_boot or seconds <= -JUMP:
            self.look()
        elif seconds >= JUMP:
            self._begin_period(now, moment.wall - now, pause=seconds)

    def catch_up(self, now: float) -> None:
        """With another server on the same database, which has counted more."""
        more = now - self.now()
        if more > 0:
            self._started += more
            self._periods = tuple(
                Period(one.since + more, one.ahead - more, one.paused - more)
                for one in self._periods
            )

    def _begin_period(self, now: float, ahead: float, *, pause: float) -> None:
        begun = Period(now, ahead, self._periods[-1].paused + pause)
        self._periods = (*self._periods, begun)[-KEPT:]

    def _note(self, jump: Jump) -> None:
        self.jumps = (*self.jumps, jump)[-KEPT:]
        self.jumped += 1
        log.warning("clock_jumped", seconds=round(jump.seconds, 1), why=jump.sentence())


def boot_id() -> str:
    """The name of this boot; empty where the system does not tell."""
    with suppress(OSError):
        return BOOT_ID.read_text().strip()
    return ""


def _span(seconds: float) -> str:
    for unit, size in (("days", DAY), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"
