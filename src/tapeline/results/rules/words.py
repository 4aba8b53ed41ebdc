"""Values as orders and updates have them, read with care: what cannot be read was not said."""

import math
from decimal import Decimal
from typing import Any, Literal

from tapeline.errors import Invalid
from tapeline.tape.dates.time_header import read_time
from tapeline.tape.events.values import LONGEST_NAME

_LARGEST = 10**308


def decimal(value: Any) -> Decimal | None:
    """A number as it was written: the shortest text that means this double, not the double."""
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return Decimal(value) if abs(value) < _LARGEST else None


def amount(value: Any) -> Decimal | None:
    found = decimal(value)
    return found if found is not None and found >= 0 else None


def positive(value: Any) -> Decimal | None:
    found = decimal(value)
    return found if found is not None and found > 0 else None


def moment(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = read_time(str(value))
    except (Invalid, ValueError):  # Python writes no integer of thousands of digits
        return None
    return found if found > 0 else None  # zero is how some say that it has not happened


def text(value: Any) -> str | None:
    return value.strip().lower() if isinstance(value, str) else None


def truth(value: Any) -> bool | None:
    """As JSON has it, or as a form spells it."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(text(value) or "")


def side(value: Any) -> Literal["buy", "sell"] | None:
    match text(value):
        case "buy":
            return "buy"
        case "sell":
            return "sell"
    return None


def name(value: Any) -> str | None:
    if not isinstance(value, str) or "\0" in value or not 0 < len(value) <= LONGEST_NAME:
        return None
    return value
