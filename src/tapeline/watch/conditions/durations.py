"""Lengths of time as people write them: 90 (seconds), "90s", "10m", "2h", "1d"."""

import re

SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
LONGEST = 366 * SECONDS["d"]

ENDLESS = 10_000 * LONGEST

_WRITTEN = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?([smhd]?)")


def read(value: object) -> float | None:
    """Seconds, or None if it is not a length of time from 0 s to a year."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = _WRITTEN.fullmatch(value.strip().lower())
        if match is None:
            return None
        value = float(match[1]) * SECONDS[match[2] or "s"]
    if isinstance(value, int | float) and 0 <= value <= LONGEST:
        return float(value)
    return None


def written(seconds: float) -> str | float:
    """The shortest form that `read` takes back exactly."""
    for letter in ("d", "h", "m", "s"):
        count = seconds / SECONDS[letter]
        if count >= 1 and count == int(count):
            return f"{int(count)}{letter}"
    return seconds


def in_words(seconds: float) -> str:
    """For sentences, in the two largest units: 1 d 4 h, 12 min 5 s, 0.4 s."""
    if seconds < 1:
        return f"{max(0.0, seconds):.1f} s"
    if not seconds < ENDLESS:  # nor any that is no number
        return "more than 10,000 years"
    left, words = round(seconds), []
    for letter, word in (("d", "d"), ("h", "h"), ("m", "min"), ("s", "s")):
        count, left = divmod(left, int(SECONDS[letter]))
        if count:
            words.append(f"{count} {word}")
        elif words:
            break
    return " ".join(words[:2])
