"""The hours in which a rule counts: by weekday and time of day, or those of an exchange."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

import msgspec

from tapeline import moments
from tapeline.errors import Invalid
from tapeline.watch.rules.invalid import InvalidRule, a_text, only, unknown, wrong
from tapeline.zones import zone_of

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
KEYS = ("zone", "days", "from", "to")
WHOLE_DAY = 24 * 60  # minutes
LOOKED = 9  # days ahead: a week has every weekday, and a window may pass midnight


class Window(msgspec.Struct, frozen=True):
    """What holds at a moment, and until when. None: for ever."""

    is_open: bool
    since: float | None
    until: float | None


ALWAYS = Window(True, None, None)

Span = tuple[float, float]
"""From a moment until another."""


class Exchange(msgspec.Struct, frozen=True):
    """While an exchange is open, by its calendar."""

    calendar: str

    def written(self) -> dict[str, Any]:
        return {"calendar": self.calendar}


def of_sessions(sessions: Sequence[Span], now: float) -> Window:
    """What holds, by the hours of an exchange, which are in order."""
    place = bisect_right(sessions, (now, math.inf))
    if place and now < sessions[place - 1][1]:
        return Window(True, *sessions[place - 1])
    since = sessions[place - 1][1] if place else None
    return Window(False, since, sessions[place][0] if place < len(sessions) else None)


class Hours(msgspec.Struct, frozen=True):
    zone: str
    days: tuple[str, ...]
    start: int  # minutes after midnight
    end: int
    """Before `start`: on the next day."""

    def at(self, now: float) -> Window:
        zone = zone_of(self.zone)
        today = moments.day(now, zone)
        spans = _joined(
            self._span(day, zone)
            for day in (today + timedelta(days=n) for n in range(-LOOKED, LOOKED + 1))
            if DAYS[day.weekday()] in self.days
        )
        for begin, end in spans:
            if begin <= now < end:
                is_whole = end - begin > (2 * LOOKED - 1) * 86_400
                return ALWAYS if is_whole else Window(True, begin, end)
        before = max((end for _, end in spans if end <= now), default=None)
        return Window(False, before, min(begin for begin, _ in spans if begin > now))

    def _span(self, day: date, zone: tzinfo) -> tuple[float, float]:
        later = 0 if self.end > self.start else 1
        return _moment(day, self.start, zone), _moment(day + timedelta(days=later), self.end, zone)

    def written(self) -> dict[str, Any]:
        return {
            "zone": self.zone,
            "days": list(self.days),
            "from": _clock(self.start),
            "to": _clock(self.end),
        }


def read_any(value: object) -> Hours | Exchange:
    """Of a rule: by the clock, or by the calendar of an exchange."""
    if isinstance(value, dict) and "calendar" in value:
        only("hours", value, ("calendar",))
        return Exchange(a_text("hours.calendar", value["calendar"], 40))
    return read(value)


def read(value: object) -> Hours:
    if not isinstance(value, dict):
        raise wrong("hours", 'must be an object, such as {"zone": "Europe/Berlin"}')
    only("hours", value, KEYS)
    zone = value.get("zone", "UTC")
    if not isinstance(zone, str):
        raise wrong("hours.zone", "must be the name of a time zone, such as Europe/Berlin")
    try:
        zone_of(zone)
    except Invalid:
        raise InvalidRule(
            f"`hours.zone` is {zone[:60]!r}, which is not a time zone that this server knows.",
            field="hours.zone",
        ) from None
    days = value.get("days", list(DAYS))
    if not isinstance(days, list) or not days:
        raise wrong("hours.days", f"must be a list of {', '.join(DAYS)}")
    for day in days:
        if day not in DAYS:
            raise unknown("hours.days", day, DAYS)
    start, end = _minutes(value, "from", "00:00"), _minutes(value, "to", "24:00")
    if start == WHOLE_DAY:
        raise wrong("hours.from", "must be before 24:00")
    return Hours(zone, tuple(day for day in DAYS if day in days), start, end)


def _minutes(value: dict[str, Any], key: str, default: str) -> int:
    text = value.get(key, default)
    hour, colon, minute = text.partition(":") if isinstance(text, str) else ("", "", "")
    digits = hour.isascii() and hour.isdigit() and minute.isascii() and minute.isdigit()
    if colon and digits and len(hour) <= 2 and len(minute) == 2 and int(minute) < 60:
        total = int(hour) * 60 + int(minute)
        if total <= WHOLE_DAY:
            return total
    raise wrong(f"hours.{key}", "must be a time of day, such as 09:30")


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _moment(day: date, minutes: int, zone: tzinfo) -> float:
    later, minutes = divmod(minutes, WHOLE_DAY)
    day += timedelta(days=later)
    return datetime(
        day.year, day.month, day.day, minutes // 60, minutes % 60, tzinfo=zone
    ).timestamp()


def _joined(spans: Any) -> list[tuple[float, float]]:
    """Windows that touch are one: a rule is not closed at midnight of two whole days."""
    joined: list[tuple[float, float]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined
