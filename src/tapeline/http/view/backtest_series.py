"""The view API for the curves of backtests: equity, drawdown, periods, comparisons.

The arithmetic is imported at its first use, so that start-up stays fast.
"""

from typing import Annotated

import msgspec
from sqlalchemy import Connection

from tapeline.errors import Invalid
from tapeline.http import settling
from tapeline.http.core.answers import Listed
from tapeline.http.core.endpoint import Call, QueryCall
from tapeline.http.view.backtest_api import backtest, named
from tapeline.http.view.performance_api import BenchmarkName
from tapeline.http.view.results_api import catch_up_neighbours
from tapeline.http.view.tape_api import reading
from tapeline.results.backtests import listing, reports
from tapeline.results.metrics.report_fields import Comparison, Drawdown
from tapeline.results.performance.answers import BUY_AND_HOLD, ShownBenchmark
from tapeline.runs.run import arguments_of
from tapeline.tape.backtest_results import series
from tapeline.tape.reading import backtests


class SeriesQuery(msgspec.Struct, rename={"start": "from", "end": "to"}):
    """How much of a series, and in how many points."""

    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 1000
    start: float | None = None
    """Epoch seconds, as `to`: the stretch to look at."""
    end: float | None = None


class ComparedPage(SeriesQuery):
    ids: str = ""
    """Up to eight backtests, with commas between them; the newest results if there are none."""
    align: str = "time"
    """`time`: by the calendar; `start`: each from its own first value."""
    base: str = "window"
    """Where a backtest is 100: at the start of the `window`, or at its own `start`."""


class EquityQuery(SeriesQuery):
    benchmark: BenchmarkName | None = None
    """To compare with: a symbol, or `buy-and-hold` for the symbols that it traded, bought once."""


class Series(msgspec.Struct):
    items: list[series.Point]
    total: int
    """Total number of points."""
    benchmark: ShownBenchmark | None = None
    """Null unless one was asked for."""


class DrawdownSeries(msgspec.Struct):
    items: list[series.Point]
    """Shares below the highest value so far."""
    deepest: list[Drawdown]
    reason: str | None = None


class Indicator(msgspec.Struct):
    name: str
    display_name: str
    type: str
    items: list[series.Point]
    total: int


class Rolling(msgspec.Struct):
    window: int | None
    """Returns in each window, half a year of them."""
    sharpe: list[series.Point]
    volatility: list[series.Point]
    reason: str | None = None


class Year(msgspec.Struct):
    year: int
    value: float | None
    """Null where it is not a finite number."""
    months: list[float | None]
    """January to December."""


class Periods(msgspec.Struct):
    years: list[Year]
    reason: str | None = None


async def catch_up_compared(call: QueryCall[EquityQuery]) -> None:
    """A symbol that the backtest did not trade may have prices in the books."""
    if call.query.benchmark not in (None, BUY_AND_HOLD):
        await catch_up_neighbours(call)
    if call.query.benchmark is not None:
        await settling.catch_up_neighbours(call)


def backtest_equity(connection: Connection, call: QueryCall[EquityQuery]) -> Series:
    """Account values over time, downsampled with their extremes kept."""
    from tapeline.results.backtests.trade_prices import of_backtest

    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Series([], 0)
    reports.require(connection, row.upload)
    answer = Series(*_points(connection, row.upload, "equity", page))
    if page.benchmark is not None:
        model = reading(connection, call)
        exchange = call.services.settings.price_source
        answer.benchmark = of_backtest(
            connection, model, row.upload, page.benchmark, page.points, exchange
        )
    return answer


def backtest_drawdown(connection: Connection, call: QueryCall[SeriesQuery]) -> DrawdownSeries:
    """How far the account was below its peak, and the deepest drawdowns."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return DrawdownSeries([], [], listing.NO_RESULT)
    report = reports.load(connection, row.upload)
    items, _ = _points(connection, row.upload, "drawdown", page)
    reason = report.computed["max_drawdown"].reason
    return DrawdownSeries(items, report.drawdowns, reason)


def backtest_rolling(connection: Connection, call: QueryCall[SeriesQuery]) -> Rolling:
    """Sharpe ratio and volatility over the half year before each day."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Rolling(None, [], [], listing.NO_RESULT)
    report = reports.load(connection, row.upload)
    sharpe, _ = _points(connection, row.upload, "rolling_sharpe", page)
    volatility, _ = _points(connection, row.upload, "rolling_volatility", page)
    return Rolling(report.rolling.window, sharpe, volatility, report.rolling.reason)


def backtest_periods(connection: Connection, call: Call) -> Periods:
    """Returns by month and year."""
    row = backtest(connection, call)
    if row.upload is None:
        return Periods([], listing.NO_RESULT)
    report = reports.load(connection, row.upload)
    months = {one.period: one.value for one in report.months}
    years = [
        Year(
            int(one.period),
            one.value,
            [months.get(f"{one.period}-{month:02}") for month in range(1, 13)],
        )
        for one in report.years
    ]
    return Periods(years, report.periods_reason)


def backtest_indicators(connection: Connection, call: QueryCall[SeriesQuery]) -> Listed[Indicator]:
    """A backtest's indicators, downsampled with their extremes kept."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Listed([])
    reports.require(connection, row.upload)
    return Listed(
        [
            Indicator(
                name,
                str((facts or {}).get("display_name", name)),
                str((facts or {}).get("type", "")),
                *_points(connection, row.upload, f"indicator-{(facts or {}).get('place')}", page),
            )
            for name, facts in backtests.header(row).get("indicators", {}).items()
        ]
    )


def compare_backtests(connection: Connection, call: QueryCall[ComparedPage]) -> Comparison:
    """Up to eight backtests: aligned, rebased to 100, metrics side by side."""
    from tapeline.results.backtests.compare import MOST, compare

    page = call.query
    if page.align not in {"time", "start"}:
        raise Invalid("`align` must be time or start.", field="align")
    if page.base not in {"window", "start"}:
        raise Invalid("`base` must be window or start.", field="base")
    names = list(dict.fromkeys(name for name in page.ids.split(",") if name))
    if len(names) > MOST:
        raise Invalid(f"`ids` must name at most {MOST} backtests.", field="ids")
    model = reading(connection, call)
    rows = [named(connection, model.tape, name) for name in names]
    rows = rows or list(backtests.newest(connection, model.tape, MOST))
    compared = compare(
        connection,
        rows,
        labels=[backtests.shown(row)["label"] for row in rows],
        align="start" if page.align == "start" else "time",
        points=page.points,
        start=page.start,
        end=page.end,
        base="start" if page.base == "start" else "window",
    )
    called = arguments_of(connection, model.model_id, [one.backtest_id for one in compared.items])
    for one in compared.items:
        one.arguments = called.get(one.backtest_id)
    return compared


def _points(
    connection: Connection, upload: str, name: str, page: SeriesQuery
) -> tuple[list[series.Point], int]:
    from tapeline.results.charts import pyramid

    times, values = pyramid.within(
        connection, upload, name, points=page.points, start=page.start, end=page.end
    )
    levels = pyramid.index(connection, upload, name)
    return series.thinned(times, values, page.points), levels[0].count if levels else 0
