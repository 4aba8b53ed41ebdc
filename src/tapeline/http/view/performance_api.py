"""The view API for live models as accounts, one or many together: one request for a whole page."""

import time
from typing import Annotated, Literal

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members
from tapeline.errors import CannotCompute
from tapeline.http import settling
from tapeline.http.core.answers import Gives, Listed
from tapeline.http.core.endpoint import Call, Page, QueryCall
from tapeline.http.view.results_api import (
    Moment,
    catch_up,
    catch_up_all,
    catch_up_neighbours,
    keep_books,
)
from tapeline.models import projects
from tapeline.results.charts.chart_window import Window
from tapeline.results.performance.answers import BUY_AND_HOLD, Performance
from tapeline.results.performance.trip_answers import LiveTrip
from tapeline.results.pnl import summary, unbooked
from tapeline.results.pnl.account import settings_of
from tapeline.results.pnl.books import books_of
from tapeline.results.pnl.model_currency import own_currency
from tapeline.results.portfolio.answers import Portfolio
from tapeline.store.tables.core import models
from tapeline.tape import tapes

Encoded = Annotated[msgspec.Raw, Gives(Portfolio)]
BenchmarkName = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Currency = Annotated[str, msgspec.Meta(min_length=2, max_length=20, pattern=r"^[A-Za-z0-9.]+$")]


class PerformanceWindow(msgspec.Struct):
    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 500
    """Of each series."""
    since: Moment | None = msgspec.field(name="from", default=None)
    """Only the part of the series from here on, in epoch seconds."""
    until: Moment | None = msgspec.field(name="to", default=None)
    symbol: str | None = None
    """Only this symbol, by itself and in money, in the currency that it trades in."""
    benchmark: BenchmarkName | None = None
    """To compare with: a symbol, or `buy-and-hold` for the model's own symbols, bought once."""


class TripPage(Page):
    symbol: str | None = None
    side: Literal["long", "short"] | None = None


class PortfolioQuery(msgspec.Struct):
    currency: Currency | None = None
    """That all amounts are converted to; by default that of most capitals."""
    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 500
    """Of each series."""
    correlated: Annotated[int, msgspec.Meta(ge=0, le=200)] = 50
    """How many models the matrix of correlations has: those with the largest accounts."""
    benchmark: BenchmarkName | None = None
    """A symbol to compare with."""


async def catch_up_compared(call: QueryCall[PerformanceWindow]) -> None:
    if call.query.benchmark in (None, BUY_AND_HOLD):
        await catch_up(call)
    else:
        await catch_up_neighbours(call)
    if call.query.benchmark is not None:
        await settling.catch_up_neighbours(call)


def show_performance(connection: Connection, call: QueryCall[PerformanceWindow]) -> Performance:
    """The account over time, returns, drawdowns, exposure, metrics and round trips in groups."""
    from tapeline.results.metrics import all_metrics  # noqa: PLC0415 - start-up stays light
    from tapeline.results.performance import (  # noqa: PLC0415
        buy_and_hold,
        live_metrics,
        performance,
    )
    from tapeline.results.performance.evidence import evidence  # noqa: PLC0415
    from tapeline.results.performance.reported_values import reported  # noqa: PLC0415

    page = call.query
    model = tapes.reading(connection, call.actor, call.path("model"))
    own = summary.own_of(connection, model.tape)
    found = evidence(connection, model.tape, own, page.symbol)
    said = reported(connection, model.tape, found.currency)
    if page.symbol is not None:
        said = (said[0][:0], said[1][:0])  # the account's, of all symbols together
        measures = live_metrics.measured(connection, model.tape, model.model_id, page.symbol)
    else:
        live = call.services.reporter.live
        measures = live.of(connection, model.tape, model.model_id) or live_metrics.NOTHING
    metrics = all_metrics.shown(measures.metrics) or all_metrics.nothing(live_metrics.NO_SERIES)
    view = performance.View(Window(page.since, page.until), page.points)
    answer = performance.performance(found, said, metrics, measures.trips, view)
    if page.benchmark is not None:
        answer.benchmark = buy_and_hold.of_live(
            connection,
            model,
            found,
            page.benchmark,
            page.points,
            call.services.settings.price_source,
        )
    return answer


def list_round_trips(connection: Connection, call: QueryCall[TripPage]) -> Listed[LiveTrip]:
    """Positions, or parts of them, that were closed again, the newest exit first."""
    from tapeline.results.performance import live_trips  # noqa: PLC0415 - start-up stays light

    page = call.query
    model = tapes.reading(connection, call.actor, call.path("model"))
    own = own_currency(connection, model.tape)
    books = [
        one
        for one in books_of(connection, model.tape)
        if summary.reason_of(one, own) is None and page.symbol in (None, one.symbol)
    ]
    long_only = settings_of(connection, model.tape).long_only
    found = live_trips.of_books(connection, model.tape, books, long_only=long_only)
    if found is None:
        raise CannotCompute(live_trips.TOO_MANY)
    every = [one for one in found.matched.trips if page.side in (None, one.side)]
    end = min(len(every), len(every) if page.before() is None else page.before() or 0)
    start = max(0, end - page.limit)
    items = live_trips.shown(
        connection,
        model.tape,
        found,
        every[start:end][::-1],
        books,
        live_trips.versions_of(connection, model.model_id),
        own,
    )
    return Listed(items, str(start) if start else None)


async def catch_up_project(call: QueryCall[PortfolioQuery]) -> None:
    """The books of all models of a project, and the prices to compare with."""
    await catch_up_all(call)
    if call.query.benchmark is not None:
        await settling.catch_up_projects(call, [call.path("project")])


async def catch_up_own(call: QueryCall[PortfolioQuery]) -> None:
    """The same for all models of a person; one query finds those that are behind."""

    def behind(connection: Connection) -> dict[int, int]:
        own = _own(connection, call)
        return unbooked.behind(connection, models.c.project_id.in_(own))

    await keep_books(call, behind)
    if call.query.benchmark is not None:
        await settling.catch_up_projects(call, await call.services.store.read(_own, call))


def show_portfolio(connection: Connection, call: QueryCall[PortfolioQuery]) -> Encoded:
    """All models of a project together: value, return, exposure, contributions, correlation."""
    project = call.path("project")
    members.require(connection, call.actor, project, "see")
    return _shown(connection, call, [project])


def show_own_portfolio(connection: Connection, call: QueryCall[PortfolioQuery]) -> Encoded:
    """The same for all models of all your projects."""
    return _shown(connection, call, _own(connection, call))


def _own(connection: Connection, call: Call) -> list[str]:
    return [one.id for one in projects.of_user(connection, call.actor.user_id())]


def _shown(
    connection: Connection, call: QueryCall[PortfolioQuery], found: list[str]
) -> msgspec.Raw:
    from tapeline.results.portfolio import portfolio  # noqa: PLC0415 - start-up stays light

    page = call.query
    currency = page.currency and page.currency.upper()
    wanted = portfolio.Wanted(
        currency,
        page.points,
        page.correlated,
        benchmark=page.benchmark,
        exchange=call.services.settings.price_source,
    )
    known = call.services.holdings
    return msgspec.Raw(portfolio.remembered(connection, found, known, wanted, time.time()))
