"""The fills of a symbol within a window, for a price chart: each one, or groups where there are
many."""

from collections.abc import Iterable, Iterator

import msgspec
from sqlalchemy import Connection

from tapeline.results.prices import stretches
from tapeline.results.prices.stretches import Entry, Window
from tapeline.results.rules.position import number

FEW = 1_000
"""Fills that are listed individually."""
STRETCHES = 120
COUNTED = 40
"""Fills of one stretch that are read then."""


class FillMark(msgspec.Struct, kw_only=True):
    time: float
    """Of the last fill in it."""
    side: str
    """`buy` or `sell`."""
    price: float | None
    """Null when none is known; of several fills the average by size."""
    size: float | None
    count: int = 1
    more: bool = False
    """Whether there are more than were counted."""
    order_id: str | None = None
    """Where it is one fill."""
    estimated: bool = False
    """The price is the symbol's last known one."""
    assumed: bool = False
    """A limit or stop order of which nobody said yet that it was filled."""


class FillMarks(msgspec.Struct):
    items: list[FillMark]
    grouped: bool = False
    """Whether a mark may stand for several fills. A closer look tells them apart."""
    last: float | None = None
    """When the symbol was last filled, in the window or not: the average price of what is held is
    as it is since then. Null: never."""


def fills(connection: Connection, tape: int, symbol: str, since: float, until: float) -> FillMarks:
    """By time."""
    known = stretches.book_of(connection, tape, symbol)
    if known is None:
        return FillMarks([])
    window = Window(tape, known.book, since, until)
    found = stretches.fills(connection, window, FEW + 1)
    newest = stretches.last_fill(connection, tape, known.book)
    last = None if newest is None else newest.time
    if len(found) <= FEW:
        return FillMarks([_mark(one) for one in found], last=last)
    return FillMarks(list(_grouped(connection, window)), grouped=True, last=last)


def _grouped(connection: Connection, window: Window) -> Iterator[FillMark]:
    for part in list(stretches.parts(connection, window, STRETCHES)):
        found = stretches.fills(connection, part, COUNTED + 1)
        yield from together(map(_mark, found[:COUNTED]), more=len(found) > COUNTED)


def together(some: Iterable[FillMark], *, more: bool = False) -> Iterator[FillMark]:
    """At most one mark for each side."""
    by_side: dict[str, list[FillMark]] = {}
    for one in some:
        by_side.setdefault(one.side, []).append(one)
    for side, marks in sorted(by_side.items(), key=lambda item: item[1][-1].time):
        priced = [(one.size or 0.0, one.price) for one in marks if one.price is not None]
        size = sum(one for one, _ in priced)
        value = sum(one * price for one, price in priced)
        yield FillMark(
            time=marks[-1].time,
            side=side,
            price=value / size if size else None,
            size=size or None,
            count=len(marks),
            more=more,
            order_id=marks[0].order_id if len(marks) == 1 and not more else None,
            estimated=any(one.estimated for one in marks),
            assumed=any(one.assumed for one in marks),
        )


def _mark(entry: Entry) -> FillMark:
    outcome, spec = entry.outcome, entry.spec
    size = spec.size if outcome.size is None else outcome.size
    return FillMark(
        time=entry.time,
        side="sell" if spec.side == "sell" else "buy",
        price=None if outcome.price is None else number(outcome.price),
        size=None if size is None else number(size),
        order_id=entry.order_id,
        estimated=outcome.estimated,
        assumed=spec.assumed,
    )
