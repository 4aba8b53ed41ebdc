"""Conditions about what is held, and what is ordered."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tapeline import figures
from tapeline.watch.conditions import exposure_previews as previews
from tapeline.watch.conditions.condition import Condition, Finding, Option, Question
from tapeline.watch.conditions.judging import (
    amount,
    exceeded,
    magnitude,
    percent_of,
    spelled,
    unknown,
)
from tapeline.watch.facts.fact import Asked
from tapeline.watch.facts.of_exposure import Exposure, Holds
from tapeline.watch.facts.of_money import Money
from tapeline.watch.facts.of_orders import Orders

if TYPE_CHECKING:
    from tapeline.results.performance.standing import Standing


SYMBOL = Option(
    name="symbol", kind="text", help="One symbol, such as BTC-USD. Without it: each of them."
)
NO_ACCOUNT = "The account is worth nothing, so percent of it mean nothing."


def _exposure_of(question: Question) -> Exposure | Finding:
    found: Exposure | None = question.facts.get("exposure")
    if found is None:
        return unknown(None)
    if found.gross is None or found.trouble is not None:
        return unknown(found.trouble, again_in=found.again_in, now=question.now)
    return found


def _positions_of(found: Exposure, asked: Asked) -> list[Holds]:
    symbol = asked.options.get("symbol")
    if symbol is None:
        return found.positions
    return [one for one in found.positions if spelled(one.symbol) == spelled(str(symbol))]


def _in_unit(
    value: float, currency: str | None, asked: Asked, facts: Mapping[str, Any]
) -> float | Finding:
    """Money, or percent of the account."""
    if asked.unit != "percent":
        return value
    money: Money | None = facts.get("money")
    if money is None or money.standing is None:
        return unknown(None if money is None else money.trouble)
    account: Standing = money.standing
    if account.value is None:
        return unknown(account.reason)
    if account.value <= 0:
        return unknown(NO_ACCOUNT)
    if value and currency != account.currency:
        return unknown(f"It is held in {currency}, and the account is in {account.currency}.")
    return percent_of(value, account.value)


def _look_again(found: Exposure, now: float) -> float | None:
    return None if found.again_in is None else now + found.again_in


def _position_size(question: Question) -> Finding:
    asked, facts = question.asked, question.facts
    found: Exposure | None = facts.get("exposure")
    if found is None:
        return unknown(None)
    some = _positions_of(found, asked)
    if not some:
        if found.trouble is not None and not found.positions:
            return unknown(found.trouble)
        return exceeded(asked, 0.0, "Nothing is held.")
    largest = max(some, key=lambda one: magnitude(one.size))
    return exceeded(
        asked,
        abs(largest.size),
        f"{figures.quantity(largest.size)} {largest.symbol} are held; the limit is"
        f" {figures.quantity(asked.limit)}.",
    )


POSITION_SIZE = Condition(
    name="position-size",
    about="exposure",
    title="Size of a position",
    help="More than so many pieces of one symbol are held, long or short.",
    find=_position_size,
    needs=("exposure",),
    units=("count",),
    options=(SYMBOL,),
    tighter="lower",
)


def _position_value(question: Question) -> Finding:
    asked, facts = question.asked, question.facts
    found: Exposure | None = facts.get("exposure")
    if found is None:
        return unknown(None)
    some = _positions_of(found, asked)
    unpriced = [one.symbol for one in some if one.value is None]
    if unpriced:
        return unknown(f"No price of {unpriced[0]} is known.")
    if not some:
        if found.trouble is not None and not found.positions:
            return unknown(found.trouble)
        return exceeded(asked, 0.0, "Nothing is held.")
    largest = max(some, key=lambda one: magnitude(one.value or 0.0))
    value = _in_unit(abs(largest.value or 0.0), largest.currency, asked, facts)
    if isinstance(value, Finding):
        return value
    return exceeded(
        asked,
        value,
        f"{largest.symbol} is held for {amount(value, asked.unit, largest.currency)}; the limit is"
        f" {amount(asked.limit, asked.unit, largest.currency)}.",
    )


POSITION_VALUE = Condition(
    name="position-value",
    about="exposure",
    title="Value of a position",
    help="One symbol is held for more than this at its last price, long or short: in its own"
    " currency, or in percent of the account.",
    find=_position_value,
    needs=("exposure", "money"),
    units=("money", "percent"),
    options=(SYMBOL,),
    tighter="lower",
    preview=previews.position_value,
)


def _gross_exposure(question: Question) -> Finding:
    asked, facts, now = question.asked, question.facts, question.now
    found = _exposure_of(question)
    if isinstance(found, Finding):
        return found
    value = _in_unit(found.gross or 0.0, found.currency, asked, facts)
    if isinstance(value, Finding):
        return value
    said = (
        f"The gross exposure is {amount(value, asked.unit, found.currency)}; the limit is"
        f" {amount(asked.limit, asked.unit, found.currency)}."
    )
    return exceeded(asked, value, said, look_again=_look_again(found, now))


GROSS_EXPOSURE = Condition(
    name="gross-exposure",
    about="exposure",
    title="Gross exposure",
    help="All positions, long and short added up without their sign, are worth more than this: in"
    " money, or in percent of the account.",
    find=_gross_exposure,
    needs=("exposure", "money"),
    of_each=None,
    units=("money", "percent"),
    tighter="lower",
    preview=previews.gross,
)


def _net_exposure(question: Question) -> Finding:
    asked, facts, now = question.asked, question.facts, question.now
    found = _exposure_of(question)
    if isinstance(found, Finding):
        return found
    value = _in_unit(found.net or 0.0, found.currency, asked, facts)
    if isinstance(value, Finding):
        return value
    said = (
        f"The net exposure is {amount(value, asked.unit, found.currency)}; the limit is"
        f" {amount(asked.limit, asked.unit, found.currency)}."
    )
    return exceeded(asked, abs(value), said, look_again=_look_again(found, now))


NET_EXPOSURE = Condition(
    name="net-exposure",
    about="exposure",
    title="Net exposure",
    help="Long positions less short ones are worth more than this, in either direction: in money,"
    " or in percent of the account.",
    find=_net_exposure,
    needs=("exposure", "money"),
    of_each=None,
    units=("money", "percent"),
    tighter="lower",
    preview=previews.net,
)


def _open_orders(question: Question) -> Finding:
    asked, facts = question.asked, question.facts
    found: Orders | None = facts.get("newest_orders")
    if found is None:
        return unknown(None)
    symbol = asked.options.get("symbol")
    count = sum(
        one.fate == "open" and (symbol is None or spelled(one.symbol) == spelled(str(symbol)))
        for one in found.items
    )
    besides = f" Of the newest {len(found.items):,} orders." if found.is_cut else ""
    said = f"{count:,} orders are open; the limit is {figures.integer(asked.limit)}.{besides}"
    return exceeded(asked, float(count), said)


OPEN_ORDERS = Condition(
    name="open-orders",
    about="exposure",
    title="Open orders",
    help="More than so many limit and stop orders wait to be filled, of the newest 1,000 orders. An"
    " order is open until an update says that it was filled, cancelled, rejected or expired.",
    find=_open_orders,
    needs=("newest_orders",),
    units=("count",),
    options=(SYMBOL,),
    tighter="lower",
)


EXPOSURE: tuple[Condition, ...] = (
    POSITION_SIZE, POSITION_VALUE, GROSS_EXPOSURE, NET_EXPOSURE, OPEN_ORDERS,
)  # fmt: skip
