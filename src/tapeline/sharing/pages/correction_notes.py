"""The parts of a shared page about changes after the fact, and about what nobody explained."""

from typing import Any, NamedTuple

from tapeline import figures
from tapeline.results.changes import words
from tapeline.sharing.exhibits.answers import (
    Exported,
    SharedCorrection,
    SharedReported,
    SharedUnexplained,
)
from tapeline.sharing.pages.page_moment import Moment, moment
from tapeline.tape.backtest_results.series import Point

ROWS = 12  # of the difference over time


class Row(NamedTuple):
    """One change in a table."""

    at: Moment | None
    what: str
    how: str


class Profit(NamedTuple):
    name: str
    text: str
    sign: str


def facts(found: Exported) -> dict[str, Any]:
    """For the template; empty of backtests."""
    head, changes = found.shared, found.changes
    some = [] if changes is None else changes.items
    return {
        "corrections": [_row(one) for one in some],
        "more_corrections": changes is not None
        and (changes.next is not None or changes.unlisted > 0),
        "profits": _profits(head.reported, head.currency),
        "no_profits": head.reported.reason if head.reported is not None else None,
        "unexplained": _unexplained(head.unexplained, head.currency),
    }


def _row(one: SharedCorrection) -> Row:
    named = [words.SUBJECTS[one.about], one.symbol]
    return Row(
        moment(one.received_at),
        " ".join(part for part in named if part),
        words.said(one),
    )


def _profits(found: SharedReported | None, currency: str | None) -> list[Profit]:
    if found is None or found.reason is not None:  # one without the other says little
        return []
    both = (
        ("As first reported", found.first, found.first_currency or currency),
        ("As it stands", found.now, currency),
    )
    return [
        Profit(name, text, figures.tone(text))
        for name, value, its in both
        if value is not None and (text := _amount(value, found.unit, its))
    ]


def _amount(value: float, unit: str, currency: str | None) -> str:
    if unit == "money":
        return figures.gain(value, currency)
    text = f"{abs(value) * 100:,.2f} %"
    if figures.is_nothing(text):
        return text
    return f"{'+' if value > 0 else figures.MINUS}{text}"


class Unexplained(NamedTuple):
    at: Moment | None
    difference: str
    reported: str
    rows: list[tuple[Moment | None, str]]
    """Over time, where it grew."""


def _unexplained(found: SharedUnexplained | None, currency: str | None) -> Unexplained | None:
    if found is None:
        return None
    some = _rows(found.items) if _grew(found.items) else []
    return Unexplained(
        moment(found.time),
        _amount(found.difference, found.unit, currency),
        figures.money(found.reported, currency),
        [(moment(one.time), _amount(one.value or 0.0, found.unit, currency)) for one in some],
    )


def _grew(items: list[Point]) -> bool:
    known = [abs(one.value) for one in items if one.value is not None]
    return len(known) > 1 and known[-1] > known[0]


def _rows(items: list[Point]) -> list[Point]:
    """The last of them, and others at even distances before it, newest first."""
    known = [one for one in items if one.value is not None]
    step = max(1, -(-len(known) // ROWS))
    return known[::-1][::step]
