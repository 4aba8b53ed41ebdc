"""A backtest's result, cut into a header and pieces: no list is ever whole in memory as objects.

It may be 100 MB. Long lists are split without decoding their items, then checked and packed some
thousand at a time. Runs in a process of its own for large bodies; see `preparing`.
"""

import re
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import msgspec

from tapeline import nesting
from tapeline.errors import Invalid, MalformedBody, MissingField
from tapeline.tape.dates.time_header import read_time
from tapeline.tape.events.values import dictionary, number, text
from tapeline.tape.proof.seals import PiecesDigest

NAN = float("nan")
PIECE = 10_000  # items in one piece
PACKED = ("account_values", "trades")  # JSON; the series beside them are plain doubles
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
KEPT_AS_THEY_ARE = ("exchange", "initial_account_value", "final_account_value")
# A text, or one of the constants that Python writes although JSON lacks them.
_CONSTANT = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b')

Emit = Callable[[str, int, int, bytes], None]
"""Takes a piece: which list, which piece of it, the index of its first item, its content."""

Raws = Mapping[str, bytes]


def split(content: bytes) -> dict[str, bytes]:
    """The values of a JSON object, undecoded. NaN and Infinity are read as null."""
    try:
        raws = msgspec.json.decode(without_constants(content), type=dict[str, msgspec.Raw])
    except UNREADABLE as error:
        raise Invalid(f"The body is not valid JSON: {error}.") from None
    return {name: bytes(raw) for name, raw in raws.items()}


def decoded(raw: bytes | msgspec.Raw, field: str, max_depth: int) -> Any:
    """Values that were split off undecoded are not checked yet: their texts and numbers may still
    be bad."""
    content = bytes(raw)
    try:
        value = msgspec.json.decode(content)
    except UNREADABLE as error:
        raise Invalid(f"`{field}` is not valid JSON: {error}.", field=field) from None
    if nesting.is_deeper(content, max_depth - 1):  # it lies in the body
        raise MalformedBody(f"The body is nested deeper than {max_depth} levels.")
    return value


def without_constants(content: bytes) -> bytes:
    if b"NaN" not in content and b"Infinity" not in content:
        return content
    return _CONSTANT.sub(lambda found: found[0] if found[0][:1] == b'"' else b"null", content)


def compacted(content: bytes) -> bytes:
    """JSON without the whitespace between its parts: a line of a file must stay one line."""
    return msgspec.json.format(content, indent=-1)


def prepare(
    fields: Mapping[str, Any],
    lists: Raws,
    emit: Emit,
    *,
    lenient: bool,
    max_depth: int,
) -> dict[str, Any]:
    """Check everything, emit the pieces, and answer the header that goes on the tape."""
    header: dict[str, Any] = {
        "backtest_id": text(fields, "backtest_id"),
        "symbols": _symbols(fields, lenient=lenient),
        "quote_asset": text(fields, "quote_asset"),
        "start_time": _moment(fields, "start_time"),
        "stop_time": _moment(fields, "stop_time"),
        "metrics": dictionary(fields, "metrics", lenient=lenient) or {},
    }
    for key in KEPT_AS_THEY_ARE:
        if isinstance(fields.get(key), str | int | float):
            header[key] = fields[key]
    sealing = _Sealing(emit, max_depth)
    header["account_values"] = _account_values(_list(lists, "account_values", lenient), sealing)
    header["trades"] = _trades(_list(lists, "trades", lenient), sealing)
    header["indicators"] = _indicators(fields, lists, sealing, lenient=lenient)
    # The chain commits to the header, and through these to every piece.
    header["digests"] = {name: digest.hex() for name, digest in sealing.digests.items()}
    return header


class _Sealing:
    """Pieces on their way out: digested as they are, then packed."""

    def __init__(self, emit: Emit, max_depth: int) -> None:
        self.digests: dict[str, PiecesDigest] = {}
        self.max_depth = max_depth
        self._emit = emit

    def __call__(self, name: str, piece: int, first: int, content: bytes) -> None:
        self.digests.setdefault(name, PiecesDigest()).add(piece, first, content)
        packed = zlib.compress(content, 1) if name in PACKED else content
        self._emit(name, piece, first, packed)


def plain(name: str, content: bytes) -> bytes:
    """A piece as it was before it was packed."""
    return zlib.decompress(content) if name in PACKED else content


def _symbols(fields: Mapping[str, Any], *, lenient: bool) -> list[str]:
    symbols = fields.get("symbols")
    if lenient and isinstance(symbols, str):
        symbols = [symbols]
    if symbols is None:
        raise MissingField("`symbols` is required.", field="symbols")
    if not isinstance(symbols, list) or not all(isinstance(one, str) for one in symbols):
        raise Invalid("`symbols` must be a list of texts.", field="symbols")
    return symbols


def _moment(fields: Mapping[str, Any], key: str) -> float:
    """Epoch seconds, or a date in words."""
    value = fields.get(key)
    if value in (None, ""):
        raise MissingField(f"`{key}` is required.", field=key)
    if not isinstance(value, str):
        return number(value, key)
    try:
        return read_time(value)
    except Invalid as error:
        raise Invalid(f"`{key}`: {error.message}", field=key) from None


def _list(lists: Raws, name: str, lenient: bool) -> list[msgspec.Raw]:
    content = lists.get(name)
    if content is None:
        if lenient:
            return []
        raise MissingField(f"`{name}` is required; it may be an empty list.", field=name)
    content = without_constants(content)
    try:
        if content.lstrip()[:1] == b"{":  # a file part may wrap its list in an object
            content = bytes(msgspec.json.decode(content, type=dict[str, msgspec.Raw])[name])
        return msgspec.json.decode(content, type=list[msgspec.Raw])
    except KeyError:
        raise Invalid(f"`{name}` holds no `{name}`.", field=name) from None
    except UNREADABLE:
        raise Invalid(f"`{name}` must be a list.", field=name) from None


def _portions(raws: list[msgspec.Raw]) -> Iterator[tuple[int, bytes]]:
    for first in range(0, len(raws), PIECE):
        joined = b",".join(bytes(raw) for raw in raws[first : first + PIECE])
        yield first, b"[" + joined + b"]"


def _account_values(raws: list[msgspec.Raw], emit: _Sealing) -> dict[str, Any]:
    for first, joined in _portions(raws):
        packed, points = _points(joined, first, "account_values", emit.max_depth)
        emit("account_values", first // PIECE, first, packed)
        emit("equity", first // PIECE, first, points)
    return {"count": len(raws)}


def _trades(raws: list[msgspec.Raw], emit: _Sealing) -> dict[str, Any]:
    for first, joined in _portions(raws):
        plain_trades = _are_plain_trades(joined)
        kept = compacted(joined) if plain_trades else _checked_trades(joined, first, emit.max_depth)
        emit("trades", first // PIECE, first, kept)
    return {"count": len(raws)}


class _Point(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    time: float
    value: float | None


class _Trade(msgspec.Struct, gc=False):
    symbol: Annotated[str, msgspec.Meta(min_length=1)]
    side: Annotated[str, msgspec.Meta(min_length=1)]
    time: float


_plain_points = msgspec.json.Decoder(list[_Point])
_plain_trades = msgspec.json.Decoder(list[_Trade])


def _points(joined: bytes, first: int, name: str, max_depth: int) -> tuple[bytes, bytes]:
    """Items of `time` and `value` as they are kept, and as two rows of doubles.

    There may be a million of them. Nearly all are plain numbers, which are checked and read at
    once; anything else is examined one by one, to be understood or named in the error.
    """
    try:
        items = _plain_points.decode(joined)
    except UNREADABLE:
        return _odd_points(joined, first, name, max_depth)
    times = array("d", [item.time for item in items])
    values = array("d", [NAN if item.value is None else item.value for item in items])
    return compacted(joined), times.tobytes() + values.tobytes()


def _odd_points(joined: bytes, first: int, name: str, max_depth: int) -> tuple[bytes, bytes]:
    items = decoded(joined, _field(name), max_depth)
    times, values = array("d"), array("d")
    for index, item in enumerate(items, first):
        where = f"{name}[{index}]"
        times.append(_number_of(item, "time", where))
        values.append(_value_of(item, where))
    return msgspec.json.encode(items), times.tobytes() + values.tobytes()


def _are_plain_trades(joined: bytes) -> bool:
    try:
        trades = _plain_trades.decode(joined)
        msgspec.json.decode(joined)  # fields that we do not know are skipped above, not read
    except UNREADABLE:
        return False
    # Flat: a brace or bracket for each item and no more, so that nothing can be nested too deep.
    return joined.count(b"{") == len(trades) and joined.count(b"[") == 1


def _checked_trades(joined: bytes, first: int, max_depth: int) -> bytes:
    items = decoded(joined, "trades", max_depth)
    for index, item in enumerate(items, first):
        where = f"trades[{index}]"
        _number_of(item, "time", where)
        for key in ("symbol", "side"):
            if not isinstance(item.get(key), str) or not item[key]:
                raise Invalid(f"`{where}` needs `{key}`, a text.", field="trades")
    return msgspec.json.encode(items)


def _indicators(
    fields: Mapping[str, Any], lists: Raws, emit: _Sealing, *, lenient: bool
) -> dict[str, Any]:
    content = lists.get("indicators")
    if content is None:
        return dictionary(fields, "indicators", lenient=lenient) or {}
    try:
        by_name = msgspec.json.decode(content, type=dict[str, dict[str, msgspec.Raw]] | None)
    except UNREADABLE:
        raise Invalid(
            "`indicators` must be an object of objects with `values`.", field="indicators"
        ) from None
    return {
        name: _indicator(place, name, parts, emit)
        for place, (name, parts) in enumerate((by_name or {}).items())
    }


def _indicator(
    place: int, name: str, parts: Mapping[str, msgspec.Raw], emit: _Sealing
) -> dict[str, Any]:
    raws = _list({"values": bytes(parts["values"])}, "values", False) if "values" in parts else []
    for first, joined in _portions(raws):
        _, points = _points(joined, first, f"indicators.{name}.values", emit.max_depth)
        emit(f"indicator-{place}", first // PIECE, first, points)
    words = {
        key: decoded(raw, "indicators", emit.max_depth)
        for key, raw in parts.items()
        if key != "values"
    }
    return {"display_name": name, "type": "", **words, "place": place, "count": len(raws)}


def _number_of(item: Any, key: str, where: str) -> float:
    if not isinstance(item, dict) or item.get(key) is None:
        raise Invalid(f"`{where}` needs `{key}`, a number.", field=_field(where))
    try:
        return number(item[key], key)
    except Invalid:
        raise Invalid(f"`{where}.{key}` must be a finite number.", field=_field(where)) from None


def _value_of(item: dict[str, Any], where: str) -> float:
    if "value" not in item:
        raise Invalid(f"`{where}` needs `value`, a number or null.", field=_field(where))
    return NAN if item["value"] is None else _number_of(item, "value", where)


def _field(where: str) -> str:
    return re.split(r"[.\[]", where)[0]
