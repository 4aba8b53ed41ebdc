"""Reads the fill of an order, in any client's spelling. No store here."""

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from tapeline.errors import Invalid
from tapeline.results.pnl.position import ZERO, Spec
from tapeline.tape.dates.time_header import read_time
from tapeline.tape.events.values import LONGEST_NAME
from tapeline.tape.orders import OrderState

PRICES = ("executionPrice", "executed_price", "filled_avg_price")
TIMES = ("executionTime", "executed_time")
FEES = ("fee", "fees")
TAKEN_OUT = {"canceled", "cancelled", "rejected", "expired"}
FILLED = {"filled", "executed", "done", "closed"}
SHORTEST_CURRENCY = 2  # letters: BRK-B is a share of class B, not one that is quoted in B
_LARGEST = 10**308


class Fill(NamedTuple):
    """Where an order counts, and what it says there."""

    symbol: str
    time: float
    tie: int
    spec: Spec


def currency_of(symbol: str) -> str:
    """The currency that a symbol is quoted in; empty for a bare ticker, whose currency its model
    decides."""
    _, separator, quote = symbol.replace("/", "-").rpartition("-")
    quote = quote.partition(":")[0].strip().upper()
    return quote if separator and len(quote) >= SHORTEST_CURRENCY else ""


def fill_of(state: OrderState) -> Fill | None:
    """The one fill of an order; None while nothing of it counts."""
    base = state.base
    if base is None or state.first_seq is None:
        return None
    said = _OrderFields(state)
    filled = said.first(("filled_size",), _amount)
    size = filled if filled is not None else said.first(("size",), _positive)
    status = said.first(("status",), _text)
    if filled == 0 or (filled is None and status in TAKEN_OUT):
        return None
    execution, moment = said.first(PRICES, _positive), said.first(TIMES, _moment)
    posted = base.kind in ("spot-limit", "spot-stop")
    known = execution is not None or moment is not None or filled is not None or status in FILLED
    spec = Spec(
        side=said.first(("side",), _side) or "buy",
        price=execution if execution is not None else said.first(("price",), _positive),
        size=size,
        funds=None if size is not None else said.first(("funds",), _positive),
        fee=said.first(FEES, _decimal) or ZERO,
        assumed=posted and not known,
    )
    symbol = said.first(("symbol",), _name) or ""
    return Fill(symbol, base.time if moment is None else moment, state.first_seq, spec)


class _OrderFields:
    """An order's fields. A value that cannot be read counts as missing."""

    def __init__(self, state: OrderState) -> None:
        assert state.base is not None
        self._changes = state.changes
        self._base = state.base.body

    def first(self, names: Iterable[str], read: Any) -> Any:
        """The newest value under any of these names; else the order's own."""
        changed = [self._changes[name] for name in names if name in self._changes]
        if len(changed) > 1:
            changed.sort(key=lambda one: (one.time, one.seq), reverse=True)
        for change in changed:
            value = read(change.value)
            if value is not None:
                return value
        for name in names:
            if name in self._base:
                value = read(self._base[name])
                if value is not None:
                    return value
        return None


def _decimal(value: Any) -> Decimal | None:
    """A number as it was written: the shortest text that means this double, not the double."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return Decimal(value) if abs(value) < _LARGEST else None
    return Decimal(repr(value)) if math.isfinite(value) else None


def _amount(value: Any) -> Decimal | None:
    found = _decimal(value)
    return found if found is not None and found >= 0 else None


def _positive(value: Any) -> Decimal | None:
    found = _decimal(value)
    return found if found is not None and found > 0 else None


def _moment(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = read_time(str(value))
    except (Invalid, ValueError):  # Python writes no integer of thousands of digits
        return None
    return found if found > 0 else None  # some clients send zero for "not yet"


def _text(value: Any) -> str | None:
    return value.strip().lower() if isinstance(value, str) else None


def _side(value: Any) -> Literal["buy", "sell"] | None:
    match _text(value):
        case "buy":
            return "buy"
        case "sell":
            return "sell"
    return None


def _name(value: Any) -> str | None:
    if not isinstance(value, str) or "\0" in value or not 0 < len(value) <= LONGEST_NAME:
        return None
    return value
