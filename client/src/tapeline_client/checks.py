"""Checks that are cheap enough for every call, each with one sentence about what is wrong."""

from __future__ import annotations

import math
from typing import Any, Mapping

from tapeline_client.encoding import seconds
from tapeline_client.errors import InvalidEvent

SIDES = {"buy": "buy", "sell": "sell"}
CASH_TYPES = (
    "deposit", "withdrawal", "funding", "dividend", "interest", "rebate", "fee", "tax",
    "adjustment",
)  # fmt: skip
INSTRUMENTS = ("spot", "margin", "future", "perpetual", "option", "cfd")


def side(side: Any) -> str:
    # Enumerations of trading libraries carry the word as their value.
    said = str(getattr(side, "value", side)).lower()
    if said not in SIDES:
        raise InvalidEvent(f"`side` must be buy or sell, not {side!r:.100}.")
    return said


def word(value: Any, name: str, known: tuple[str, ...]) -> str:
    """One of some words, in any case, or a member of an enumeration with these values."""
    said = text(getattr(value, "value", value), name).lower()
    if said not in known:
        words = ", ".join(known[:-1])
        raise InvalidEvent(f"`{name}` must be {words} or {known[-1]}, not {value!r:.100}.")
    return said


def text(value: Any, name: str) -> str:
    if type(value) is str and value:
        return value
    if value is None or value == "":
        raise InvalidEvent(f"`{name}` is required.")
    return str(value)


def positive(value: Any, name: str) -> float:
    found = number(value, name)
    if found <= 0:
        raise InvalidEvent(f"`{name}` must be positive and finite, not {value!r}.")
    return found


def number(value: Any, name: str) -> float:
    if type(value) is not float:
        try:
            # True is a number to Python, but never a size or an amount.
            found = float("" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            raise InvalidEvent(f"`{name}` must be a number, not {value!r:.100}.") from None
        except OverflowError:
            raise InvalidEvent(f"`{name}` must be finite, not {value!r:.100}.") from None
        value = value if type(value) is int else found
    if not -math.inf < value < math.inf:
        raise InvalidEvent(f"`{name}` must be finite, not {value!r}.")
    checked: float = value
    return checked


def moment(value: Any, name: str) -> float | str:
    if isinstance(value, str):
        return value
    try:
        return seconds(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidEvent(f"`{name}` must be a time, not {value!r:.100}.") from None


def point(value: Any, index: int) -> dict[str, Any]:
    if isinstance(value, Mapping):
        at, worth = value.get("time"), value.get("value")
    else:
        try:
            at, worth = value
        except (TypeError, ValueError):
            raise InvalidEvent(f"`values[{index}]` must be a pair of time and value.") from None
    return {"time": moment(at, f"values[{index}]"), "value": worth}
