"""When a message has to wait: quiet hours, and digests that gather what happened since the last.

What is critical never waits.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from tapeline import moments
from tapeline.errors import Invalid
from tapeline.watch.rules import hours
from tapeline.watch.rules.hours import Hours
from tapeline.zones import zone_of

EVERY = ("hour", "day")
HOUR = 3600.0


class Digest(msgspec.Struct, frozen=True):
    every: str
    at: int = 0
    """Minutes after midnight, of one a day."""
    zone: str = "UTC"

    def following(self, now: float) -> float:
        """The next moment after this one."""
        if self.every == "hour":
            return (now // HOUR + 1) * HOUR
        zone = zone_of(self.zone)
        today = moments.day(now, zone)
        for later in range(3):
            day = today + timedelta(days=later)
            moment = datetime(
                day.year, day.month, day.day, self.at // 60, self.at % 60, tzinfo=zone
            ).timestamp()
            if moment > now:
                return moment
        raise AssertionError("every day has its moment")

    def written(self) -> dict[str, Any]:
        if self.every == "hour":
            return {"every": "hour"}
        return {"every": "day", "at": f"{self.at // 60:02}:{self.at % 60:02}", "zone": self.zone}


def read_quiet(value: object) -> Hours | None:
    """As `hours` of a rule: {"zone": "Europe/Berlin", "from": "22:00", "to": "07:00"}."""
    if value is None:
        return None
    try:
        found = hours.read(value)
    except Invalid as problem:
        field = (problem.field or "").replace("hours", "quiet")
        raise Invalid(problem.message.replace("`hours", "`quiet"), field=field) from None
    if found.at(0.0).until is None and found.at(0.0).is_open:
        raise Invalid("`quiet` must not be all the time.", field="quiet")
    return found


def read_digest(value: object) -> Digest | None:
    """{"every": "hour"}, or {"every": "day", "at": "08:00", "zone": "Europe/Berlin"}."""
    if value is None:
        return None
    if not isinstance(value, dict) or value.get("every") not in EVERY:
        raise Invalid('`digest` must be {"every": "hour"} or {"every": "day"}.', field="digest")
    if strange := set(value) - {"every", "at", "zone"}:
        known = "every, at and zone"
        raise Invalid(f"`digest` has {min(strange)!r}; it knows {known}.", field="digest")
    if value["every"] == "hour":
        return Digest("hour")
    try:
        day = hours.read({"zone": value.get("zone", "UTC"), "from": value.get("at", "08:00")})
    except Invalid:
        wrong = '`digest` needs a time of day and a zone, such as {"every": "day", "at": "08:00"}.'
        raise Invalid(wrong, field="digest") from None
    return Digest("day", day.start, day.zone)


def quiet_until(quiet: object, wall: float) -> float | None:
    """When it ends; None if it is not quiet."""
    if quiet is None:
        return None
    window = hours.read(quiet).at(wall)
    return window.until if window.is_open else None


def next_digest(digest: object, wall: float) -> float | None:
    found = read_digest(digest)
    return None if found is None else found.following(wall)
