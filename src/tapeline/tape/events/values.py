"""Values of an event's body: strict for JSON, lenient for forms, and errors that name the key."""

import math
from collections.abc import Mapping
from typing import Any

from tapeline.accounts import plain_names
from tapeline.errors import Invalid, MissingField

Values = Mapping[str, Any]

TRUE, FALSE = {"true", "1", "yes"}, {"false", "0", "no"}
ABSENT_TEXTS = {"null", "undefined"}
# Names are keys of tables; an index of PostgreSQL takes 2,700 bytes, and a character may have four.
LONGEST_NAME = 500
SHOWN_NAMES = frozenset({"symbol", "exchange"})
"""Names that lists, charts and terminals show as they are."""


def text(values: Values, key: str) -> str:
    """A required text. An empty one counts as missing."""
    value = values.get(key)
    if value is None or value == "":
        raise MissingField(f"`{key}` is required.", field=key)
    if not isinstance(value, str):
        raise _wrong(key, "a text", value)
    if key != "line":  # a log line may hold anything, a name may not
        _check_name(value, key)
    return value


def optional_text(values: Values, key: str) -> str | None:
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        raise _wrong(key, "a text", value)
    return value


def number(value: Any, key: str) -> float:
    """A finite number; a numeric text counts as one in every encoding."""
    if value.__class__ is float and math.isfinite(value):  # as nearly all of them come
        return float(value)
    # Python also takes 1_000 and the digits of other scripts for numbers.
    if isinstance(value, str) and (not value.isascii() or "_" in value):
        raise _wrong(key, "a number", value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _wrong(key, "a number", value)
    try:
        found = float(value)
    except ValueError:
        raise _wrong(key, "a number", value) from None
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise Invalid(f"`{key}` must be a finite number.", field=key)
    return found


def positive(value: Any, key: str) -> float:
    found = number(value, key)
    if found <= 0:
        raise Invalid(f"`{key}` must be greater than zero, not {found:g}.", field=key)
    return found


def flag(value: Any, key: str, *, lenient: bool) -> bool:
    if isinstance(value, bool):
        return value
    if lenient and isinstance(value, str):
        if value.lower() in TRUE:
            return True
        if value.lower() in FALSE:
            return False
    raise _wrong(key, "true or false", value)


def is_reset(value: Any, *, lenient: bool) -> bool:
    """Null, or the texts that forms send for it."""
    return value is None or (lenient and isinstance(value, str) and value in ABSENT_TEXTS)


def names(value: Any) -> dict[str, None]:
    """A dictionary that came as a form arrives as its keys only."""
    listed = value if isinstance(value, list) else [value]
    return {str(name): None for name in listed}


def dictionary(values: Values, key: str, *, lenient: bool) -> dict[str, Any] | None:
    value = values.get(key)
    if value is None or (lenient and value == ""):
        return None
    if isinstance(value, dict):
        return value
    if lenient:
        return names(value)
    raise _wrong(key, "an object", value)


def _check_name(value: str, key: str) -> None:
    if "\0" in value:
        raise Invalid(f"`{key}` must not contain the character NUL.", field=key)
    if len(value) > LONGEST_NAME:
        raise Invalid(f"`{key}` must have at most {LONGEST_NAME} characters.", field=key)
    if key in SHOWN_NAMES:
        plain_names.require(value, key)


def _wrong(key: str, wanted: str, value: Any) -> Invalid:
    return Invalid(f"`{key}` must be {wanted}, not {_shown(value)}.", field=key)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "…")
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else f"{value!s:.40}"
