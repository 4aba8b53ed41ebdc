"""The shapes that nearly all bodies have: one that matches exactly needs no reader.

Decoding then checks it, several times faster than `bodies` reads it field by field. Anything else,
however small, fails here and is left to the kind's reader. Both must make the same event.
"""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec

from tapeline.tape.events.values import LONGEST_NAME

Decode = Callable[[bytes], msgspec.Struct]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Some = Annotated[str, msgspec.Meta(min_length=1)]


class Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    line: Some
    type: Some = "stdout"


# The fields stand in the order of their names: as the body of an order is written.
class MarketOrder(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    exchange: Name
    id: Name
    side: Literal["buy", "sell"]
    size: Positive
    symbol: Name


class LimitOrder(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    exchange: Name
    id: Name
    price: Positive
    side: Literal["buy", "sell"]
    size: Positive
    symbol: Name


class MarkPrice(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    price: Positive
    symbol: Name


line: Decode = msgspec.json.Decoder(Line).decode
market_order: Decode = msgspec.json.Decoder(MarketOrder).decode
mark_price: Decode = msgspec.json.Decoder(MarkPrice).decode
limit_order: Decode = msgspec.json.Decoder(LimitOrder).decode
