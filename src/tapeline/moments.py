"""Moments as people read them, in a time zone.

A model may send any time, and a calendar ends: this is the only place that converts to a zone, and
it never fails.
"""

from datetime import UTC, date, datetime, tzinfo

EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_800.0  # the years 1 to 9999
_DAY = 86_400.0  # no zone is farther from UTC


def moment(seconds: float, zone: tzinfo | None = UTC) -> datetime | None:
    """In a zone, or in this machine's own (None); in UTC during the first and last hours of the
    calendar, for which some zones have no date; None outside the years 1 to 9999."""
    try:
        found = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    try:
        return found.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return found


def written(seconds: float, form: str, zone: tzinfo | None = UTC) -> str:
    """A moment by a form of `strftime`; as a number of seconds where no calendar has it."""
    found = moment(seconds, zone)
    return str(seconds) if found is None else found.strftime(form)


def wall(seconds: float, zone: tzinfo) -> float:
    """What the clocks of a zone show, in seconds since they showed 1970; within the years 1 to
    9999, so that it can be written as a date."""
    inside = min(max(seconds, EARLIEST + _DAY), LATEST - _DAY)
    ahead = datetime.fromtimestamp(inside, zone).utcoffset()
    assert ahead is not None
    return min(max(seconds + ahead.total_seconds(), EARLIEST), LATEST - 1)


def day(seconds: float, zone: tzinfo) -> date:
    """The date that it is in a zone."""
    return datetime.fromtimestamp(wall(seconds, zone), UTC).date()


def from_wall(shown: float, zone: tzinfo) -> float:
    """The moment at which they show it; of two, the first."""
    return datetime.fromtimestamp(shown, UTC).replace(tzinfo=zone).timestamp()
