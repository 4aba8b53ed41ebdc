"""Turns data of a model into what a link shows: new records of named fields, never old ones with
something removed. Additional fields of a model are therefore never in them."""

import math
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from tapeline.results.charts.timeline import Mark
from tapeline.results.metrics.round_trips import RoundTrip
from tapeline.results.metrics.trades import FEES, PRICES, SIZES, positive
from tapeline.results.pnl.account import Capital, SettingsChange
from tapeline.results.pnl.order_fills import FillShown
from tapeline.results.pnl.summary import NotComputed, Position
from tapeline.sharing.exhibits import corrections, reasons
from tapeline.sharing.exhibits.answers import (
    Hidden,
    SharedChange,
    SharedLifecycle,
    SharedLine,
    SharedMark,
    SharedNotComputed,
    SharedPosition,
    SharedPrice,
    SharedSettings,
    SharedState,
    SharedTrade,
    SharedTrip,
)
from tapeline.sharing.exhibits.finite import finite
from tapeline.sharing.links.choices import Choices
from tapeline.sharing.links.pseudonyms import Names
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.lateness import late_by

SIDES = {"buy", "sell"}
STATUSES = {
    "new", "open", "pending", "accepted", "partially_filled", "filled", "executed", "done",
    "closed", "canceled", "cancelled", "rejected", "expired",
}  # fmt: skip
TYPES = {"spot-market", "spot-limit", "spot-stop", "market", "limit", "stop"}
NO_REASON = "It cannot be computed. The reason would reveal what this link hides."
LINE_TYPES = {"stdout", "stderr"}


def hidden(choices: Choices) -> Hidden:
    return Hidden(**{name: getattr(choices, name) for name in Hidden.__struct_fields__})


def order(
    item: dict[str, Any], fill: FillShown | None, choices: Choices, names: Names
) -> SharedTrade:
    """`item` as lists of orders have it: with id, time, received_at and seq of ours, and with its
    changes."""
    price = item.get("price") if fill is None or fill.price is None else fill.price
    ordered = number(item.get("size"))
    filled = 0.0 if fill is None else fill.size
    size = filled if ordered is not None or fill is not None else None
    money, texts = choices.shows_money, choices.shows_texts
    return SharedTrade(
        id=names.order(item["id"]),
        index=item["seq"],
        symbol=names.symbol(item.get("symbol")),
        exchange=names.exchange(item.get("exchange")),
        type=_word(item.get("type"), TYPES),
        side=_word(item.get("side"), SIDES),
        status=_word(item.get("status"), STATUSES),
        time=item["time"],
        received_at=item["received_at"],
        late_by=item["late_by"],
        price=number(price) if choices.shows_prices else None,
        size=number(size) if choices.shows_sizes else None,
        funds=number(item.get("funds")) if money else None,
        fee=_converted_fee(fill, choices),
        profit=finite(fill.realized) if money and fill is not None else None,
        estimated=None if fill is None else fill.estimated,
        assumed=None if fill is None else fill.assumed,
        annotation=_text(item.get("annotation")) if texts else None,
        currency=names.currency(fill.currency) if money and fill is not None else None,
        is_computed=fill is None or fill.not_computed is None,
        ordered=ordered if choices.shows_sizes else None,
        changes=[corrections.shown(one, choices, names) for one in item["changes"]],
    )


def _converted_fee(fill: FillShown | None, choices: Choices) -> float | None:
    """In the quote currency. A fee without a price is not converted yet: it may be in any."""
    if fill is None or not choices.shows_money:
        return None
    prices = [fill.price, *(one.price for one in fill.portions)]
    is_converted = None not in prices
    return finite(fill.fee) if choices.shows_foreign_amounts or is_converted else None


def trade(index: int, item: dict[str, Any], choices: Choices, names: Names) -> SharedTrade:
    """Of a backtest, with whatever keys its framework wrote."""
    price = next((one for name in PRICES if (one := positive(item.get(name)))), None)
    size = next((one for name in SIZES if (one := positive(item.get(name)))), None)
    fee = next((one for name in FEES if (one := number(item.get(name))) is not None), None)
    is_foreign = item.get("fee_currency") not in (None, "")
    money = choices.shows_money
    return SharedTrade(
        id=None,
        index=index,
        symbol=names.symbol(item.get("symbol")),
        exchange=names.exchange(item.get("exchange")),
        type=_word(item.get("type"), TYPES),
        side=_word(item.get("side"), SIDES),
        status=_word(item.get("status"), STATUSES),
        time=number(item.get("time")),
        received_at=None,
        late_by=None,
        price=price if choices.shows_prices else None,
        size=size if choices.shows_sizes else None,
        funds=positive(item.get("funds")) if money else None,
        fee=fee if money and (choices.shows_foreign_amounts or not is_foreign) else None,
        profit=None,
        estimated=None,
        assumed=None,
        annotation=_text(item.get("annotation")) if choices.shows_texts else None,
    )


def trip(index: int, one: RoundTrip, choices: Choices, names: Names) -> SharedTrip:
    money, prices = choices.shows_money, choices.shows_prices
    return SharedTrip(
        index=index,
        symbol=names.symbol(one.symbol),
        entry_time=one.entry_time,
        exit_time=one.exit_time,
        entry_price=finite(one.entry_price) if prices else None,
        exit_price=finite(one.exit_price) if prices else None,
        size=finite(one.size) if choices.shows_sizes else None,
        fees=finite(one.fees) if money else None,
        profit=finite(one.profit) if money else None,
        profit_percent=finite(one.profit_percent),
    )


def position(one: Position, choices: Choices, names: Names) -> SharedPosition:
    money, prices = choices.shows_money, choices.shows_prices
    return SharedPosition(
        symbol=names.symbol(one.symbol),
        size=finite(one.size) if choices.shows_sizes else None,
        value=finite(one.value) if money else None,
        average_price=finite(one.average_price) if prices else None,
        last_price=finite(one.last_price) if prices else None,
        last_price_time=one.last_price_time,
        realized=finite(one.realized) if money else None,
        unrealized=finite(one.unrealized) if money else None,
        fees=finite(one.fees) if money else None,
        fills=one.fills,
        currency=names.currency(one.currency) if money else None,
    )


def not_computed(one: NotComputed, choices: Choices, names: Names) -> SharedNotComputed:
    reason = reasons.shown(one.reason, choices) or NO_REASON
    return SharedNotComputed(symbol=names.symbol(one.symbol), reason=reason, fills=one.fills)


def settings(one: SettingsChange, choices: Choices) -> SharedSettings:
    """Amount and currency of a capital together tell more than either: both, or none."""
    capital = one.capital if isinstance(one.capital, Capital) else None
    if not choices.shows_sizes:
        capital = None
    change: Literal["set", "removed"] | None = None
    if one.capital is not UNSET:
        change = "removed" if one.capital is None else "set"
    return SharedSettings(
        received_at=one.received_at,
        positions=None if one.positions is UNSET else one.positions,
        capital_change=change,
        capital=None if capital is None else capital.amount,
        currency=None if capital is None else capital.currency,
    )


def line(record: StoredEvent) -> SharedLine:
    """Only where texts are shown at all."""
    fields = msgspec.json.decode(record.body, type=dict[str, Any])
    return SharedLine(
        line=str(fields.get("line", "")),
        type=_word(fields.get("type"), LINE_TYPES) or "stdout",
        time=record.time,
        received_at=record.received_at,
        seq=record.seq,
    )


def lifecycle(said: dict[str, Any]) -> SharedLifecycle:
    """Without the message, which is free text."""
    running = said.get("running")
    return SharedLifecycle(
        running=running if isinstance(running, bool) else None,
        start_at=number(said.get("start_at")),
        end_at=number(said.get("end_at")),
    )


def mark(one: Mark) -> SharedMark:
    return SharedMark(kind=one.kind, time=one.time, until=one.until, version=one.version)


def change(
    record: StoredEvent, late_after: float, choices: Choices, names: Names
) -> tuple[str, msgspec.Struct] | None:
    """An event for a stream, with its name; None for events that a link never shows."""
    kind = kinds.BY_NUMBER[record.kind]
    if kind is kinds.LOG:
        return ("log", line(record)) if choices.shows_texts else None
    if kind not in kinds.ABOUT_ORDERS | {kinds.MARK_PRICE, kinds.LIFECYCLE}:
        return None
    item = msgspec.json.decode(record.body, type=dict[str, Any])
    ours: dict[str, Any] = {
        "time": record.time,
        "received_at": record.received_at,
        "seq": record.seq,
    }
    if kind is kinds.LIFECYCLE:
        return "lifecycle", SharedState(**msgspec.structs.asdict(lifecycle(item)), **ours)
    if kind is kinds.MARK_PRICE:
        price = number(item.get("price")) if choices.shows_prices else None
        return "price", SharedPrice(symbol=names.symbol(item.get("symbol")), price=price, **ours)
    if kind is kinds.UPDATE_ANNOTATION and not choices.shows_texts:
        return None
    is_post = kind in kinds.ORDERS
    return "order" if is_post else "update", _changed(
        item, ours, late_after if is_post else math.inf, choices, names
    )


def _changed(
    item: dict[str, Any], ours: dict[str, Any], late_after: float, choices: Choices, names: Names
) -> SharedChange:
    money = choices.shows_money
    price = next((one for name in PRICES if (one := number(item.get(name))) is not None), None)
    size = next((one for name in SIZES if (one := number(item.get(name))) is not None), None)
    fee = next((one for name in FEES if (one := number(item.get(name))) is not None), None)
    raw = choices.shows_foreign_amounts  # this event alone does not tell the currency of its fee
    return SharedChange(
        id=names.order(str(item["id"])),
        symbol=names.symbol(item.get("symbol")),
        exchange=names.exchange(item.get("exchange")),
        side=_word(item.get("side"), SIDES),
        status=_word(item.get("status"), STATUSES),
        price=price if choices.shows_prices else None,
        size=size if choices.shows_sizes else None,
        funds=number(item.get("funds")) if money else None,
        fee=fee if money and raw else None,
        late_by=late_by(ours["time"], ours["received_at"], late_after),
        annotation=_text(item.get("annotation")) if choices.shows_texts else None,
        **ours,
    )


def number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _word(value: object, known: set[str]) -> str | None:
    """A known word; anything else may be a sentence that reveals too much."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if word in known else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
