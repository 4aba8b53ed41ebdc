"""What an order says of its fills, whatever words its client has for it. No store here."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from tapeline.results.rules import rises
from tapeline.results.rules.position import ONE, ZERO, Spec
from tapeline.results.rules.rates import Marks
from tapeline.results.rules.rises import (
    FEES,
    FILLED,
    FILLED_SIZE,
    PRICES,
    TAKEN_OUT,
    TIMES,
    Statement,
)
from tapeline.results.rules.said import Said
from tapeline.results.rules.symbols import currency_of, pair
from tapeline.results.rules.words import decimal, moment, name, positive, side, text, truth
from tapeline.tape.orders import OrderState

POSTED = {"spot-limit", "spot-stop"}
INVERSE = "It is an inverse contract, which is not computed."


class Fill(NamedTuple):
    """Where an entry counts, and what it says there."""

    symbol: str
    time: float
    tie: int
    spec: Spec
    cash: str | None = None
    """Of cash: its currency, empty for the model's own."""


def fills_of(state: OrderState, told: list[Statement]) -> list[Fill]:
    """All fills of an order; none while nothing of it counts. `told`: what updates said of them."""
    base = state.base
    if base is None or state.first_seq is None:
        return []
    said = Said(state)
    symbol = said.first(("symbol",), name) or ""
    spec = _common(said, symbol)
    is_partial = FILLED_SIZE in base.body or FILLED_SIZE in state.changes
    statements = rises.in_order(state, told) if is_partial else []
    if any(one.filled is not None for one in statements):
        limit = said.first(("price",), positive)
        return [
            Fill(
                symbol,
                one.time,
                one.tie,
                msgspec.structs.replace(spec, size=one.size, price=one.price or limit, fee=one.fee),
            )
            for one in rises.found(statements)
        ]
    return _whole(state, said, symbol, spec)


def _whole(state: OrderState, said: Said, symbol: str, spec: Spec) -> list[Fill]:
    """Nobody said how much was filled: all of it, or nothing."""
    status = said.first(("status",), text)
    if status in TAKEN_OUT or state.base is None or state.first_seq is None:
        return []
    execution, at = said.first(PRICES, positive), said.first(TIMES, moment)
    known = execution is not None or at is not None or status in FILLED
    size = said.first(("size",), positive)
    filled = msgspec.structs.replace(
        spec,
        price=execution if execution is not None else said.first(("price",), positive),
        size=size,
        funds=None if size is not None else said.first(("funds",), positive),
        fee=said.first(FEES, decimal) or ZERO,
        assumed=state.base.kind in POSTED and not known,
    )
    return [Fill(symbol, state.base.time if at is None else at, state.first_seq, filled)]


def opening(body: dict[str, Any], time: float, seq: int) -> Fill:
    """A declared position."""
    symbol: str = body["symbol"]
    quote, said = currency_of(symbol), body.get("quote")
    problem = INVERSE if body.get("inverse") else None
    if said and quote and said != quote:
        problem = (
            problem or f"A position says that it is quoted in {said}, its symbol says {quote}."
        )
    spec = Spec(
        "position",
        price=positive(body.get("average_price")),
        size=decimal(body["size"]),
        multiplier=positive(body.get("multiplier")),
        problem=problem,
        word=body.get("instrument"),
        claim=said if said and not quote else None,
    )
    return Fill(symbol, time, seq, spec)


def cash(body: dict[str, Any], time: float, seq: int) -> Fill:
    symbol: str = body.get("symbol") or ""
    currency = body.get("currency") or currency_of(symbol)
    spec = Spec("cash", size=decimal(body["amount"]), word=body["type"])
    return Fill(symbol, time, seq, spec, currency)


def mark(symbol: str, price: float, time: float, seq: int, source: str | None = None) -> Fill:
    """`source`: where the platform has it from; None for a mark that the model reported."""
    return Fill(symbol, time, seq, Spec("mark", decimal(price), word=source))


def marks_of(some: Iterable[Fill]) -> Marks:
    """The rates among them."""
    return Marks(
        (one.symbol, (one.time, one.tie), one.spec.price)
        for one in some
        if one.spec.side == "mark" and one.spec.price is not None
    )


def _common(said: Said, symbol: str) -> Spec:
    """What all fills of an order share."""
    base, quote = pair(symbol)
    paid_in = (said.first(("fee_currency",), name) or "").strip().upper()
    multiplier = said.first(("multiplier",), positive)
    return Spec(
        side=said.first(("side",), side) or "buy",
        multiplier=ONE if multiplier is None else multiplier,
        fee_in_base=bool(quote and paid_in) and paid_in == base != quote,
        problem=INVERSE if said.first(("inverse",), truth) else None,
        word=said.first(("instrument",), text),
        claim=paid_in if paid_in and not quote else None,
        paid_in=paid_in if quote and paid_in not in ("", base, quote) else None,
    )
