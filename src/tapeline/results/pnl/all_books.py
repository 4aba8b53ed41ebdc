"""Computes all books of a model at once, in memory: for a record as of an earlier time.

The bookkeeper computes the same, entry by entry; both use the same function for each entry.
"""

from collections.abc import Iterable
from typing import NamedTuple

from tapeline.results.charts.curve import Step
from tapeline.results.charts.folding import Folding
from tapeline.results.pnl.books import Book, Name, name_of
from tapeline.results.pnl.order_fills import Booked
from tapeline.results.rules.days import Closes, day_of
from tapeline.results.rules.fills import Fill, marks_of
from tapeline.results.rules.position import FLOW, State, exact, number
from tapeline.results.rules.rates import Marks

Named = tuple[str | None, Fill]
"""The order that it is a fill of, if any."""


class AllBooks(NamedTuple):
    """The books of all entries, and the steps of their curves."""

    books: list[Book]
    outcomes: dict[str, list[Booked]]
    """By order, its entries in the order in which they count."""
    steps: dict[str, list[tuple[float, int, int, Step]]]
    """By currency: time, tie, book, and what was gained."""
    flows: dict[str, list[tuple[float, int, float]]]
    """By currency: time, tie and amount of deposits and withdrawals."""
    closes: dict[int, Closes]
    """By book: its marks and fills, the last of each day."""


def computed(said: Iterable[Named], *, long_only: bool) -> AllBooks:
    said = list(said)
    rates = marks_of(fill for _, fill in said)
    by_book: dict[Name, list[Named]] = {}
    for order_id, fill in said:
        by_book.setdefault(name_of(fill), []).append((order_id, fill))
    found = AllBooks([], {}, {}, {}, {})
    with exact():
        for number, ((is_cash, symbol, currency), some) in enumerate(by_book.items()):
            some.sort(key=lambda one: (one[1].time, one[1].tie))
            book = Book(number, symbol, currency, None, State(), is_cash)
            _fold(found, book, some, rates, long_only=long_only)
            found.books.append(book)
    return found


def _fold(found: AllBooks, book: Book, some: list[Named], rates: Marks, *, long_only: bool) -> None:
    folding, steps = Folding(book.state, long_only=long_only), []
    for order_id, fill in some:
        rate, paid_in = None, fill.spec.paid_in
        if paid_in is not None:
            rate = rates.at(paid_in, book.currency, (fill.time, fill.tie))
        outcome, step = folding.take(fill.spec, fill.time, rate)
        price = outcome.price if order_id is not None else None
        if fill.spec.side == "mark":
            price = fill.spec.price
        if price is not None:
            closes = found.closes.setdefault(book.book, {})
            closes[day_of(fill.time)] = (fill.time, number(price))
        if order_id is not None:
            booked = Booked(fill.time, fill.spec, outcome, book.book)
            found.outcomes.setdefault(order_id, []).append(booked)
        if step.is_move or (order_id is not None and outcome.price is not None):
            steps.append((fill.time, fill.tie, book.book, step))
        if outcome.notice == FLOW:
            flow = (fill.time, fill.tie, float(outcome.size or 0))
            found.flows.setdefault(book.currency, []).append(flow)
    if book.state.reason is None:
        found.steps.setdefault(book.currency, []).extend(steps)
