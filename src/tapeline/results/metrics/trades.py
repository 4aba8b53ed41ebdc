"""Reads a backtest's trades, whatever keys a framework wrote them with."""

import math
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tapeline.results.rules.rises import TAKEN_OUT
from tapeline.results.rules.symbols import pair
from tapeline.results.rules.words import truth

# The same spellings that feed a live model's profit and loss.
PRICES = ("executionPrice", "executed_price", "filled_avg_price", "price")
SIZES = ("filled_size", "size")
FEES = ("fee", "fees")
DONE = frozenset({"filled", "executed", "done", "closed"})


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
    paid_in: str = ""
    """The currency of the fee; empty for that of the symbol."""
    is_inverse: bool = False


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
    fee_currency: Any = None
    multiplier: Any = None
    inverse: Any = None
    status: Any = None


_sent = msgspec.json.Decoder(list[_Sent])


def read(contents: Iterable[bytes]) -> Iterator[Trade]:
    """The trades of packed pieces, in the order they were sent, without those never filled."""
    index = 0
    for content in contents:
        for one in _sent.decode(zlib.decompress(content)):
            if _is_filled(one):
                yield _understood(index, one)
            index += 1


def _is_filled(sent: _Sent) -> bool:
    """What was filled before an order was taken out stays."""
    status, filled = _text(sent.status), _number(sent.filled_size)
    if status in TAKEN_OUT:
        return filled is not None and filled > 0
    return not status or status in DONE or filled != 0


def positive(value: Any) -> float | None:
    """A number above zero, also from a text; everything else is not known."""
    found = _number(value)
    return found if found is not None and found > 0 else None


def _understood(index: int, sent: _Sent) -> Trade:
    price = next((p for name in PRICES if (p := positive(getattr(sent, name)))), None)
    size = next((s for name in SIZES if (s := positive(getattr(sent, name)))), None)
    funds, multiplier = positive(sent.funds), positive(sent.multiplier) or 1.0
    if size is None and funds is not None and price is not None:
        unit = positive(price * multiplier)  # a product of doubles may be zero, or no number
        size = None if unit is None else positive(funds / unit)
    time = _number(sent.time) or 0.0
    fee, paid_in = _fee(sent, price)
    return Trade(
        index, time, sent.symbol, sent.side.lower(), size, price, fee, multiplier,
        paid_in=paid_in, is_inverse=truth(sent.inverse) or False,
    )  # fmt: skip


def _fee(sent: _Sent, price: float | None) -> tuple[float, str]:
    """In the currency of the symbol where that can be told, and else what it was paid in."""
    fee = next((f for name in FEES if (f := _number(getattr(sent, name))) is not None), 0.0)
    paid_in = _text(sent.fee_currency).upper()
    base, quote = pair(sent.symbol)
    if quote and paid_in == base != quote and price is not None:
        return fee * price, ""  # paid in what was traded: its own price is the rate
    return fee, "" if paid_in == quote else paid_in


def _text(value: Any) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None
