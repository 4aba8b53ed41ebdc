"""Bodies as nearly all of them come: read and checked in one go, instead of field by field.

Whatever is in any way unusual is None here, and `event_bodies` looks at it closely. Both must make
the same event of the same body.
"""

from typing import Annotated, Any, Literal

import msgspec

from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import Kind
from tapeline.tape.events.values import LONGEST_NAME

_encode = msgspec.json.Encoder().encode
_NOT_FOLDED: dict[str, Any] = {}
_NUL = b"\\u0000"

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
Positive = Annotated[float, msgspec.Meta(gt=0)]


class Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The body of a log event, which most events are, and nothing besides."""

    line: str
    type: str | None = "stdout"


# The fields stand in the order of their names: as the body of an order is written.
class _MarketOrder(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    exchange: Name
    id: Name
    side: Literal["buy", "sell"]
    size: Positive
    symbol: Name


class _LimitOrder(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    exchange: Name
    id: Name
    price: Positive
    side: Literal["buy", "sell"]
    size: Positive
    symbol: Name


_line = msgspec.json.Decoder(Line).decode
_ORDERS = {
    kinds.SPOT_MARKET: msgspec.json.Decoder(_MarketOrder).decode,
    kinds.SPOT_LIMIT: msgspec.json.Decoder(_LimitOrder).decode,
}
_ODD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def usual_event(
    path: str, content: bytes, at: float, received_at: float, tape: int, longest: int
) -> Event | None:
    kind = kinds.BY_PATH.get(path)
    if kind is kinds.LOG:
        if path == "/log":
            return None  # which may also be a backtest's
        try:
            line = _line(content)
        except _ODD:
            return None
        return event_of_line(line, at, received_at, tape, longest)
    if kind in _ORDERS:
        return _order(kind, content, at, received_at, tape)
    return None


def event_of_line(
    line: Line, at: float, received_at: float, tape: int, longest: int
) -> Event | None:
    """None for one that is empty, or so long that it may have to be cut."""
    if not 0 < len(line.line) * 4 <= longest:
        return None
    if not line.type:
        line.type = "stdout"
    return Event(tape, kinds.LOG, _NOT_FOLDED, _encode(line), at, received_at)


def _order(kind: Kind, content: bytes, at: float, received_at: float, tape: int) -> Event | None:
    try:
        order = _ORDERS[kind](content)
    except _ODD:
        return None
    if _NUL in content:  # perhaps in a name, where it must not be
        return None
    fields = msgspec.structs.asdict(order)
    return Event(tape, kind, fields, _encode(order), at, received_at)
