"""Reads a date text exactly as JavaScript's Date.parse() does in V8 (node 20).

The ISO form is tried first. Where a text leaves it, the forgiving older rules go on from there with
what was read so far; they are V8's own, in no standard, and `tests/tape` compares them with node.
"""

import re
from datetime import UTC, datetime, timedelta

from tapeline.tape.dates.fields import DAY, Day, TimeOfDay, Unreadable, Zone
from tapeline.tape.dates.local_zone import local_offset
from tapeline.tape.dates.tokens import END, SIGNIFICANT_DIGITS, Token, Tokens

_LARGEST_TIME = 8_640_000_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# What programs print. Python reads it ten times faster than the rules below, with the same result,
# but would take an offset of 60 minutes.
_PLAIN_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:[0-5][0-9])"
)


def date_parse(text: str) -> float | None:
    """Epoch milliseconds, or None where JavaScript answers NaN."""
    if _PLAIN_ISO.fullmatch(text):
        try:
            return float((datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND)
        except ValueError:
            pass  # Feb 30 and 24:00 are not in Python's calendar, but in JavaScript's
    try:
        return _Reading(text).milliseconds()
    except Unreadable:
        return None


class _Reading:
    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self.day, self.time, self.zone = Day(), TimeOfDay(), Zone()
        self.seen_number = False

    def milliseconds(self) -> float:
        left_over = self._iso()
        self.seen_number = bool(self.day.parts)
        if left_over is not None:
            self._legacy(left_over)
        local = self.day.since_epoch() * DAY + self.time.milliseconds()
        offset = self.zone.offset()
        if offset is None:
            # No offset reaches a day, and the C library need not know years beyond the limit.
            _require(abs(local) <= _LARGEST_TIME + DAY)
            offset = local_offset(local)
        _require(abs(local - offset) <= _LARGEST_TIME)
        return float(local - offset)

    # The ISO form. A method answers the first token it could not use, None when all is read.

    def _iso(self) -> Token | None:
        if (left_over := self._iso_day()) is not None:
            return left_over
        if self.tokens.ahead.kind == "t":
            self.tokens.take()
            self._iso_time()
            self._iso_zone()
            _require(self.tokens.ahead is END)
        elif self.tokens.ahead is not END:
            return self.tokens.take()
        else:
            # A day alone is in UTC, a time of day without a zone is local.
            self.zone.set_hours(0)
        self.day.iso = True
        return None

    def _iso_day(self) -> Token | None:
        tokens = self.tokens
        if (left_over := self._iso_year()) is not None:
            return left_over
        for largest in (12, 31):
            if not tokens.skip("-"):
                return None
            part = tokens.take()
            if not (part.is_number_of(2) and 1 <= part.value <= largest):
                return part
            self.day.add(part.value)
        return None

    def _iso_year(self) -> Token | None:
        first = self.tokens.take()
        if first.is_number_of(4):
            self.day.add(first.value)
            return None
        if not (first.is_sign and self.tokens.ahead.is_number_of(6)):
            return first
        year = self.tokens.take().value
        if first.kind == "-" and year == 0:
            return first  # the older rules go on behind the number, as if it were not there
        self.day.add(year if first.kind == "+" else -year)
        return None

    def _iso_time(self) -> None:
        hour = self._two_digits(24)
        self.time.add(hour)
        _require(self.tokens.skip(":"))
        # 24:00 is the end of the day; nothing comes after it.
        largest = 0 if hour == 24 else 59
        self.time.add(self._two_digits(largest))
        if not self.tokens.skip(":"):
            return
        self.time.add(self._two_digits(largest))
        if self.tokens.skip("."):
            fraction = self.tokens.take()
            _require(fraction.kind == "number" and (hour < 24 or fraction.value == 0))
            self.time.add(_thousandths(fraction))

    def _iso_zone(self) -> None:
        if self.tokens.ahead.is_z:
            self.tokens.take()
            self.zone.set_hours(0)
        elif self.tokens.ahead.is_sign:
            self.zone.sign = _direction(self.tokens.take())
            if self.tokens.ahead.is_number_of(4):
                self.zone.hour, self.zone.minute = divmod(self.tokens.take().value, 100)
                _require(self.zone.hour <= 23 and self.zone.minute <= 59)
                return
            self.zone.hour = self._two_digits(23)
            _require(self.tokens.skip(":"))
            self.zone.minute = self._two_digits(59)

    def _two_digits(self, largest: int) -> int:
        token = self.tokens.take()
        _require(token.is_number_of(2) and token.value <= largest)
        return token.value

    # The older rules: every token finds its place by what was read before it.

    def _legacy(self, token: Token) -> None:
        while token is not END:
            if token.kind == "number":
                self.seen_number = True
                self._number(token.value)
            elif token.is_sign and (self.zone.is_utc or self.time.parts):
                self._offset(token)
            elif token.is_sign or token.kind == ")":
                _require(not self.seen_number)
            elif token.kind not in {":", ".", "space", "other"}:
                self._word(token)
            token = self.tokens.take()

    def _number(self, number: int) -> None:
        if self.tokens.skip(":"):
            self._before_colon(number)
        elif self.tokens.skip(".") and self.time.expects(number):
            self.time.add(number)
            fraction = self.tokens.take()
            _require(fraction.kind == "number")
            self.time.finish(_thousandths(fraction))
        elif self.zone.expects(number):
            self.zone.minute = number
        elif self.time.expects(number):
            self.time.finish(number)
            ahead = self.tokens.ahead
            _require(ahead.kind in {"end", "space"} or ahead.is_z or ahead.is_sign)
        else:
            self.day.add(number)
            self.tokens.skip("-")

    def _before_colon(self, number: int) -> None:
        if self.tokens.skip(":"):  # "10::" is ten o'clock
            _require(not self.time.parts)
            self.time.add(number)
            self.time.add(0)
        else:
            self.time.add(number)
            self.tokens.skip(".")

    def _word(self, token: Token) -> None:
        if token.kind == "half" and self.time.parts:
            self.time.half = token.value
        elif token.kind == "month":
            self.day.named_month = token.value
            self.tokens.skip("-")
        elif token.kind == "zone" and self.seen_number:
            self.zone.set_hours(token.value)
        else:
            # Weekdays and other words are passed over, but only ahead of the first number.
            _require(not self.seen_number and self.tokens.ahead.kind != "number")

    def _offset(self, sign: Token) -> None:
        self.zone.sign = _direction(sign)
        self.seen_number = True
        given = self.tokens.take() if self.tokens.ahead.kind == "number" else END
        if self.tokens.ahead.kind == ":":
            self.zone.hour, self.zone.minute = given.value, None
        elif given.length in {1, 2}:
            self.zone.hour, self.zone.minute = given.value, 0
        else:
            _require(given.length in {3, 4})
            self.zone.hour, self.zone.minute = divmod(given.value, 100)


def _require(accepted: bool) -> None:
    if not accepted:
        raise Unreadable


def _direction(sign: Token) -> int:
    return 1 if sign.kind == "+" else -1


def _thousandths(fraction: Token) -> int:
    """The digits after the point as milliseconds, cut and not rounded."""
    # After many leading zeros V8 miscounts the digits, and so do we.
    digits = min(fraction.length, SIGNIFICANT_DIGITS)
    return int(fraction.value * 1000 // 10**digits)
