"""Python values as JSON: fast when they are plain, tolerant when they are not.

A trading loop must not die because a number came as a numpy scalar or a price as NaN, so a
value without a form in JSON gets the nearest one, and in the end its `repr`.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
from collections import abc
from dataclasses import asdict, is_dataclass
from typing import Any, Callable, Mapping

DEEPEST = 28
"""The server takes 32 levels, the event around the body included."""
LONGEST_REPR = 2000


def line(path: str, at: str, body: Mapping[str, Any]) -> bytes:
    """An event as it is queued and sent: one line, whatever is in it."""
    try:
        text = _encode(body)
        if "\\u0000" not in text:  # which the server refuses
            return f'{{"path":"{path}","time":{at},"body":{text}}}\n'.encode()
    except (ValueError, TypeError, RecursionError):
        # NaN, a key that is not text, half a surrogate pair, a cycle: the slow path takes all.
        pass
    return f'{{"path":"{path}","time":{at},"body":{_encode(plain(body))}}}\n'.encode()


def to_json(value: Any) -> str:
    """Any value, as events are encoded."""
    try:
        text = _encode(value)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        text = _encode(plain(value))
    return text


def log_line(path: str, at: str, line: str, kind: str, backtest: str | None) -> bytes:
    """The same for log lines, the most frequent events."""
    if "\0" in line:
        line = _text(line)
    body = f'"line":{_quote(line)},"type":{_quote(kind)}'
    if backtest is not None:
        body = f'{body},"backtest_id":{_quote(backtest)}'
    text = f'{{"path":"{path}","time":{at},"body":{{{body}}}}}\n'
    return text.encode("utf-8", "replace")


def stamp(at: Any) -> str:
    """A time as the server reads it: epoch seconds, or the text it was given as."""
    if isinstance(at, str):
        return json.dumps(at)
    found = seconds(at)
    if not math.isfinite(found):
        raise ValueError("not a time")
    return repr(found)


def seconds(value: Any) -> float:
    """Epoch seconds of a time in any form: a number, a datetime, a date, numpy's."""
    if isinstance(value, datetime.datetime):
        return value.timestamp()
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day).timestamp()  # noqa: DTZ001
    if type(value).__name__ == "datetime64":
        found = value.astype("datetime64[us]").item()  # numpy's times are in UTC
        return seconds(found.replace(tzinfo=datetime.timezone.utc))
    return float(value)


def plain(value: Any, depth: int = 0) -> Any:
    """The same value of nothing but JSON's own types; NaN and infinities become None."""
    if value is None or isinstance(value, (bool, str)):
        return _text(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, int):
        return int(value)
    if depth >= DEEPEST:
        return _repr(value)
    if isinstance(value, abc.Mapping):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, abc.ValuesView, abc.KeysView)):
        return [plain(item, depth + 1) for item in value]
    return plain(_simpler(value), depth + 1)


def _simpler(value: Any) -> Any:
    """One step towards JSON. Always ends: the last resort is a text."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, enum.Enum):
        return value.value
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, datetime.datetime) or type(value).__name__ == "datetime64":
        return _moment(value)
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (uuid.UUID, pathlib.PurePath)):
        return str(value)
    return _by_protocol(value)


def _moment(value: Any) -> float | None:
    try:
        return seconds(value)
    except (AttributeError, TypeError, ValueError, OverflowError, OSError):  # numpy's "not a time"
        return None


def _by_protocol(value: Any) -> Any:
    """Conversions that numpy, pandas and the like offer, without importing them."""
    try:
        if is_dataclass(value) and not isinstance(value, type):
            return asdict(value)
        kind = type(value).__name__
        if kind == "DataFrame":
            return value.to_dict("records")
        if kind == "Series":
            return value.to_dict()
        if hasattr(value, "tolist"):  # numpy arrays, and its scalars
            return value.tolist()
        if hasattr(value, "item"):
            return value.item()
    except Exception:  # noqa: BLE001 - a stranger's code; its text will do
        return _repr(value)
    return list(value) if isinstance(value, abc.Set) else _repr(value)


def _repr(value: Any) -> str:
    try:
        return _text(repr(value)[:LONGEST_REPR])
    except Exception:  # noqa: BLE001 - a stranger's code
        return f"<{type(value).__name__}>"


def _key(key: Any) -> str:
    """As JSON's own encoder has it where it has one."""
    if isinstance(key, str):
        return _text(key)
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    return str(_simpler(key)) if not isinstance(key, (tuple, frozenset)) else _repr(key)


def _text(text: str) -> str:
    return str(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _encoder() -> Callable[[Any], str]:
    """`JSONEncoder.encode` makes its C encoder anew for every call; this makes it once."""
    made = json.JSONEncoder(
        ensure_ascii=False,
        allow_nan=False,
        check_circular=False,
        separators=(",", ":"),
        default=_simpler,
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    quote: Any = getattr(json.encoder, "c_encode_basestring", None)
    try:
        inner = make(None, _simpler, quote, None, ":", ",", False, False, False)
        if "".join(inner({"a": [1.5, None, "é"]}, 0)) == '{"a":[1.5,null,"é"]}':
            return lambda value: "".join(inner(value, 0))
    except Exception:  # noqa: BLE001 - another interpreter, or a later one: the public way will do
        return made.encode
    return made.encode


_encode = _encoder()
_quote: Callable[[str], str] = getattr(json.encoder, "c_encode_basestring", None) or (
    json.encoder.py_encode_basestring
)
