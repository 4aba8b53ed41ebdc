"""Reads a backtest's trades, whatever keys a framework wrote them with."""

import math
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

# The same spellings that feed a live model's profit and loss.
PRICES = ("executionPrice", "executed_price", "filled_avg_price", "price")
SIZES = ("filled_size", "size")
FEES = ("fee", "fees")
OUT = frozenset({"canceled", "cancelled", "rejected", "expired"})


class Trade(msgspec.Struct, gc=False, frozen=True):
    index: int
    """Its place in the list that was sent."""
    time: float
    symbol: str
    side: str
    size: float | None
    price: float | None
    fee: float
    multiplier: float = 1.0
    is_declared: bool = False
    """Held before the first trade: it is matched, and is no trade itself."""


class _Sent(msgspec.Struct, gc=False):
    symbol: str
    side: str
    time: Any
    executionPrice: Any = None  # noqa: N815 - as clients spell it
    executed_price: Any = None
    filled_avg_price: Any = None
    price: Any = None
    filled_size: Any = None
    size: Any = None
    funds: Any = None
    fee: Any = None
    fees: Any = None
    multiplier: Any = None
    status: Any = None


_sent = msgspec.json.Decoder(list[_Sent])


def read(contents: Iterable[bytes]) -> Iterator[Trade]:
    """The trades of packed pieces, in the order they were sent, without canceled ones."""
    index = 0
    for content in contents:
        for one in _sent.decode(zlib.decompress(content)):
            if not (isinstance(one.status, str) and one.status.lower() in OUT):
                yield _understood(index, one)
            index += 1


def positive(value: Any) -> float | None:
    """A number above zero, also from a text; everything else is not known."""
    found = _number(value)
    return found if found is not None and found > 0 else None


def _understood(index: int, sent: _Sent) -> Trade:
    price = next((p for name in PRICES if (p := positive(getattr(sent, name)))), None)
    size = next((s for name in SIZES if (s := positive(getattr(sent, name)))), None)
    funds, multiplier = positive(sent.funds), positive(sent.multiplier) or 1.0
    if size is None and funds is not None and price is not None:
        size = funds / (price * multiplier)
    fee = next((f for name in FEES if (f := _number(getattr(sent, name))) is not None), 0.0)
    time = _number(sent.time) or 0.0
    return Trade(index, time, sent.symbol, sent.side.lower(), size, price, fee, multiplier)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None
