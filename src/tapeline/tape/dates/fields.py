"""The day, the time of day and the zone of a date text, gathered number by number.

Which numbers are accepted, and which of them is the month, is V8's choice and not ours.
"""

from dataclasses import dataclass, field
from itertools import accumulate

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000

_DAYS_BEFORE = (0, *accumulate((31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30)))
_LARGEST_OFFSET = 2**31 - 1


class Unreadable(Exception):
    """Date.parse() answers NaN for this text."""


@dataclass(slots=True)
class Day:
    parts: list[int] = field(default_factory=list)
    named_month: int | None = None
    iso: bool = False

    def add(self, number: int) -> None:
        if len(self.parts) == 3:
            raise Unreadable
        self.parts.append(number)

    def since_epoch(self) -> int:
        if not self.parts:
            raise Unreadable
        year, month, day = self._year_month_day()
        if not self.iso and 0 <= year <= 99:
            year += 2000 if year <= 49 else 1900
        if not (1 <= month <= 12 and is_day(day)):
            raise Unreadable
        return _days_to(year, month) + day - 1

    def _year_month_day(self) -> tuple[int, int, int]:
        # What is missing is 1, the year too: "Jan 5" is in 2001.
        first, second, third = (*self.parts, 1, 1)[:3]
        if self.named_month is not None:
            year, day = (second, first) if is_day(first) else (first, second)
            return year, self.named_month, day
        if self.iso or not is_day(first):
            return first, second, third
        return third, first, second


@dataclass(slots=True)
class TimeOfDay:
    parts: list[int] = field(default_factory=list)
    half: int | None = None

    def expects(self, number: int) -> bool:
        """Whether the number can be the minute, second or millisecond that comes next."""
        return 1 <= len(self.parts) <= 3 and number < (60, 60, 1000)[len(self.parts) - 1]

    def add(self, number: int) -> None:
        if len(self.parts) == 4:
            raise Unreadable
        self.parts.append(number)

    def finish(self, number: int) -> None:
        self.parts = [*self.parts, number, 0, 0, 0][:4]

    def milliseconds(self) -> int:
        hour, minute, second, millisecond = (*self.parts, 0, 0, 0, 0)[:4]
        if self.half is not None:
            if hour > 12:
                raise Unreadable
            hour = hour % 12 + self.half
        total = hour * HOUR + minute * MINUTE + second * SECOND + millisecond
        in_range = hour < 24 and minute < 60 and second < 60 and millisecond < 1000
        midnight_after = hour == 24 and total == DAY
        if not (in_range or midnight_after):
            raise Unreadable
        return total


@dataclass(slots=True)
class Zone:
    sign: int | None = None
    hour: int | None = None
    minute: int | None = None

    def set_hours(self, hours: int) -> None:
        self.sign, self.hour, self.minute = (-1 if hours < 0 else 1), abs(hours), 0

    @property
    def is_utc(self) -> bool:
        return self.hour == 0 and self.minute == 0

    def expects(self, number: int) -> bool:
        """Whether the number can be the minutes of an offset like +05:30."""
        return self.hour is not None and self.minute is None and number < 60

    def offset(self) -> int | None:
        """Milliseconds east of Greenwich; None is the local zone."""
        if self.sign is None:
            return None
        # V8 counts the seconds in 32 bits, and absurd offsets wrap around there.
        seconds = ((self.hour or 0) * 3600 + (self.minute or 0) * 60) % 2**32
        if seconds > _LARGEST_OFFSET:
            raise Unreadable
        return self.sign * seconds * SECOND


def is_day(number: int) -> bool:
    return 1 <= number <= 31


def _days_to(year: int, month: int) -> int:
    """Days from the epoch to the first of a month; datetime ends at the years 1 and 9999."""
    past = year - 1
    leap_days = past // 4 - past // 100 + past // 400
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return past * 365 + leap_days + _DAYS_BEFORE[month - 1] + (is_leap and month > 2) - 719_162
