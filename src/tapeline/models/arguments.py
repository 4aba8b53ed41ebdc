"""Arguments of a backtest: a dictionary as text, in JSON or in Python's notation."""

import ast
import math
from typing import Any

import msgspec

from tapeline.errors import Invalid
from tapeline.models.archives.manifest import DEEPEST, is_plain

LONGEST = 100_000
LONGEST_LITERAL = 10_000


def read(text: str) -> dict[str, Any]:
    """The dictionary, with nothing in it that JSON cannot carry into the run."""
    if len(text) > LONGEST:
        raise _refused(f"must have at most {LONGEST:,} characters")
    try:
        return checked(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return checked(_literal(text))


def checked(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise _refused("must be a dictionary with texts as keys, such as {}")
    if not is_plain(value):
        raise _refused(f"must be nested at most {DEEPEST} levels deep, without the character NUL")
    return value


def _literal(text: str) -> Any:
    """Never evaluated: only the text of numbers, texts, lists and dictionaries is read."""
    if len(text) > LONGEST_LITERAL:  # parsing blocks everybody, unlike decoding JSON
        raise _refused(f"must be JSON when it has more than {LONGEST_LITERAL:,} characters")
    try:
        value = ast.literal_eval(text.strip())
        # Once through JSON: tuples become lists there, and other types are refused here.
        encoded = msgspec.json.encode(_without_odd_numbers(value))
        return msgspec.json.decode(encoded)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError):
        raise _refused(
            "must be a dictionary as JSON or as Python writes it, such as"
            " {\"to\": \"1y\"} or {'to': '1y'}"
        ) from None


def _without_odd_numbers(value: Any) -> Any:
    """The encoder would silently turn infinity into null and bytes into base64."""
    if isinstance(value, bytes | complex | set) or value is Ellipsis:
        raise ValueError(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(value)
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise ValueError(value)
        return {name: _without_odd_numbers(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_odd_numbers(item) for item in value]
    return value


def _refused(rest: str) -> Invalid:
    return Invalid(f"`backtestArgs` {rest}.", field="backtestArgs")
