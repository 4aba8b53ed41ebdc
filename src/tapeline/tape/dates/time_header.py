"""Reads the `time` header of an event: epoch seconds as a number, or a date in words."""

import math
import re

from tapeline.errors import Invalid
from tapeline.tape.dates.parse import date_parse
from tapeline.tape.dates.tokens import WHITE_SPACE

# As seconds this is the year 2128; what is larger was counted in milliseconds or finer.
_LARGEST_SECONDS = 5e9
# No two ways to split the digits: a long header must not cost quadratic time.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


def read_time(text: str) -> float:
    """Epoch seconds."""
    try:
        number = float(text)
    except ValueError:
        return _read_words(text)
    # Python also takes 1_000 and the digits of other scripts for numbers.
    if not text.isascii() or "_" in text:
        return _read_words(text)
    return _in_seconds(number, text)


def _in_seconds(number: float, text: str) -> float:
    if not math.isfinite(number):
        raise _not_a_time(text)
    unit = 1.0
    while abs(number) / unit > _LARGEST_SECONDS:
        unit *= 1000
    return number / unit + 0.0  # no -0.0


def _read_words(text: str) -> float:
    bare = text.strip(WHITE_SPACE)
    if _NUMBER.fullmatch(bare):
        return _in_seconds(float(bare), text)
    milliseconds = date_parse(text)
    if milliseconds is None:
        raise _not_a_time(text)
    return milliseconds / 1000


def _not_a_time(text: str) -> Invalid:
    # Half a surrogate pair could not be sent back.
    shown = text[:100].encode(errors="replace").decode() + ("…" if len(text) > 100 else "")
    return Invalid(
        f'`time` could not be read: "{shown}". Send epoch seconds like 1735689600.5'
        " or a date like 2025-01-01T00:00:00Z.",
        field="time",
    )
