"""The view API for the results of orders: fills, profit and loss, the list of models."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members
from tapeline.errors import NoSuchModel
from tapeline.http.core.answers import Listed
from tapeline.http.core.endpoint import Call, Page, QueryCall
from tapeline.http.view.answers import ShownOrder
from tapeline.http.view.tape_api import listed
from tapeline.results.changes import stored_figures
from tapeline.results.changes.change import Change, with_changes
from tapeline.results.changes.figures import Assessed, Figures
from tapeline.results.changes.listing import ChangeCounts, paged
from tapeline.results.changes.stored import Place
from tapeline.results.charts.chart_window import Window
from tapeline.results.performance import flows
from tapeline.results.pnl import late_entries, overview, quoted_fills, summary, unbooked
from tapeline.results.pnl.account import settings_of
from tapeline.results.pnl.books import ledger_of
from tapeline.results.pnl.overview import Glance
from tapeline.results.pnl.summary import Pnl
from tapeline.store.tables.core import models
from tapeline.tape import tapes
from tapeline.tape.reading import channels, order_list, order_marks
from tapeline.tape.reading.order_list import Filter
from tapeline.tape.reading.order_marks import OrderMarks
from tapeline.tape.tapes import Reading

Moment = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]


class OrderPage(Page):
    symbol: str | None = None
    side: str | None = None
    since: float | None = None
    until: float | None = None
    after: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | None = None
    """Only orders that arrived after this `seq`, oldest first."""


class Symbols(msgspec.Struct):
    items: list[str]


class MarkWindow(msgspec.Struct):
    since: Moment | None = msgspec.field(name="from", default=None)
    """Epoch seconds, as `to`: the stretch that a chart shows."""
    until: Moment | None = msgspec.field(name="to", default=None)
    stretches: Annotated[int, msgspec.Meta(ge=1, le=500)] = 120
    """Into how many parts of equal length orders are counted where they are many."""


class ListedChanges(msgspec.Struct, kw_only=True):
    items: list[Change]
    next: str | None
    """Send it as `cursor` to go on; null at the end."""
    counts: ChangeCounts
    """Of all changes, listed or not."""
    unlisted: int
    """Older changes that are counted and not listed: the newest 10,000 are."""
    figures: Figures
    """Profit and loss as first reported, and as it stands."""
    late_seconds: float
    """What arrives later than this after the fact is a change."""


class PnlWindow(msgspec.Struct):
    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 1000
    since: Moment | None = msgspec.field(name="from", default=None)
    """Only the part of the series from here on, in epoch seconds: for a closer look."""
    until: Moment | None = msgspec.field(name="to", default=None)
    currency: str | None = None
    """The currency of the series; by default the model's quote currency."""


async def catch_up(call: Call) -> None:
    """A read reflects everything that was acknowledged before it."""
    services = call.services
    found = await services.store.read(tapes.reading, call.actor, call.path("model"))
    if found.tape:
        await services.bookkeeper.catch_up(found.tape, found.seq)


async def catch_up_rates(call: Call) -> None:
    """The same where a model counts in several currencies: any of its project may know a rate."""
    await catch_up(call)
    if await call.services.store.read(_counts_in_several, call):
        await catch_up_neighbours(call)


async def catch_up_all(call: Call) -> None:
    """The same for all models of a project; one query finds those that are behind."""

    def behind(connection: Connection) -> dict[int, int]:
        members.require(connection, call.actor, call.path("project"), "see")
        return unbooked.behind(connection, models.c.project_id == call.path("project"))

    await keep_books(call, behind)


async def catch_up_neighbours(call: Call) -> None:
    """The same for all models of a model's project: a price may come from any of them."""

    def behind(connection: Connection) -> dict[int, int]:
        found = tapes.reading(connection, call.actor, call.path("model"))
        return unbooked.behind(connection, models.c.project_id == found.project_id)

    await keep_books(call, behind)


def _counts_in_several(connection: Connection, call: Call) -> bool:
    found = tapes.reading(connection, call.actor, call.path("model"))
    return len(ledger_of(connection, found.tape).totals) > 1


async def keep_books(call: Call, behind: Callable[[Connection], dict[int, int]]) -> None:
    """`behind` finds tapes whose books are behind, and how far each has come."""
    for tape, seq in (await call.services.store.read(behind)).items():
        with suppress(NoSuchModel):  # deleted in this very moment
            await call.services.bookkeeper.catch_up(tape, seq)


def list_orders(connection: Connection, call: QueryCall[OrderPage]) -> Listed[ShownOrder]:
    """Orders merged with their updates and annotations, with their fills, newest first."""
    page = call.query
    wanted = Filter(page.symbol, page.side and page.side.lower(), page.since, page.until)
    found = tapes.reading(connection, call.actor, call.path("model"))
    tape = found.tape
    if page.after is not None:
        # Its pages continue with `cursor` too, from where the last one ended.
        after = max(page.after, page.before() or 0)
        items, following = order_list.following(
            connection, tape, wanted, after=after, limit=page.limit
        )
    else:
        items, following = order_list.listed(
            connection, tape, wanted, before=page.before(), limit=page.limit
        )
    changes = changes_of(connection, call, found, items)
    shown = quoted_fills.with_fills(connection, tape, items)
    return listed(with_changes(shown, changes), following)


def list_order_symbols(connection: Connection, call: Call) -> Symbols:
    """The symbols of a model's orders, of any status, by name."""
    tape = tapes.reading(connection, call.actor, call.path("model")).tape
    return Symbols(sorted(channels.used_names(connection, tape, "order")))


def mark_orders(connection: Connection, call: QueryCall[MarkWindow]) -> OrderMarks:
    """Orders for a chart: each one if they are few, otherwise counts per interval and side."""
    page = call.query
    tape = tapes.reading(connection, call.actor, call.path("model")).tape
    return order_marks.marks(connection, tape, page.since, page.until, page.stretches)


def list_changes(connection: Connection, call: QueryCall[Page]) -> ListedChanges:
    """Everything that was reported or changed after the fact, newest first."""
    found = tapes.reading(connection, call.actor, call.path("model"))
    every, figures = assessed(connection, call, found)
    items, following = paged(every.changes, call.query.before(), call.query.limit)
    return ListedChanges(
        items=items,
        next=following,
        counts=every.counts,
        unlisted=every.unlisted,
        figures=figures,
        late_seconds=_late_after(call),
    )


def assessed(connection: Connection, call: Call, found: Reading) -> Assessed:
    known, place = stored_figures.books_now(connection, found.tape), _place(call, found)
    key = (ledger_of(connection, found.tape).version, known.quote)
    return call.services.changes.assessed(
        connection,
        place,
        key,
        lambda folded: stored_figures.of_tape(connection, found.tape, folded, known),
    )


def changes_of(
    connection: Connection, call: Call, found: Reading, orders: list[dict[str, Any]]
) -> dict[str, list[Change]]:
    """Of some orders, by id."""
    ids = [one["id"] for one in orders]
    return call.services.changes.of_orders(connection, _place(call, found), ids)


def _place(call: Call, found: Reading) -> Place:
    return Place(found.tape, found.seq, _late_after(call))


def _late_after(call: Call) -> float:
    return float(call.services.settings.late_seconds)


def show_pnl(connection: Connection, call: QueryCall[PnlWindow]) -> Pnl:
    """Profit and loss: per currency, per symbol, over time, with marks and warnings."""
    page = call.query
    found = tapes.reading(connection, call.actor, call.path("model"))
    shown = summary.shown(
        connection,
        found.tape,
        found.model_id,
        window=Window(page.since, page.until),
        points=page.points,
        currency=page.currency,
    )
    shown.late = late_entries.late(connection, found.tape, call.services.settings.late_seconds)
    settings = settings_of(connection, found.tape)
    shown.capital, shown.capital_from = flows.capital_of(connection, found.tape, settings)
    return shown


def glance_at_models(connection: Connection, call: Call) -> Listed[Glance]:
    """The models of a project with lifecycle, version, last order, result and last backtest."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    return Listed(overview.of_project(connection, project_id, call.services.quotas))
