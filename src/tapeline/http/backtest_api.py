"""The view API's part about backtests: lists, metrics, series, round trips, comparisons.

What it answers was computed when the result arrived. Who asks before that waits for it, without
holding up anybody else. The arithmetic is imported at its first use: start-up stays light.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any

import anyio
import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.errors import CannotCompute, Invalid, NoSuchBacktest, StillComputing
from tapeline.http.answers import OwnMetric
from tapeline.http.auth_api import Done
from tapeline.http.endpoint import Call, Page
from tapeline.http.tape_api import Anything, lines, listed, reading
from tapeline.http.view_api import Listed
from tapeline.results import backtest_words, reports
from tapeline.results.records import Drawdown, Shown, Trips
from tapeline.results.reporter import FAILED
from tapeline.results.reports import NotReady
from tapeline.results.round_trips import RoundTrip
from tapeline.runs.run import arguments_of
from tapeline.tape import backtests, kinds, series, uploads

WAITED = 2.0  # seconds that a backtest's own page waits for its metrics
NO_STORE = {"Cache-Control": "no-store"}


class Stretch(msgspec.Struct, rename={"start": "from", "end": "to"}):
    """How much of a series, and in how many points."""

    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 1000
    start: float | None = None
    """Epoch seconds, as `to`: the stretch to look at."""
    end: float | None = None


class ComparedPage(Stretch):
    ids: str = ""
    """Up to eight backtests, with commas between them; the newest results if there are none."""
    align: str = "time"
    """`time`: by the calendar; `start`: each from its own first value."""
    base: str = "window"
    """Where a backtest is 100: at the start of the `window`, or at its own `start`."""


class Series(msgspec.Struct):
    items: list[series.Point]
    total: int
    """Points that there are in all."""


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
    value: float
    months: list[float | None]
    """January to December."""


class Periods(msgspec.Struct):
    years: list[Year]
    reason: str | None = None


class IndexedTrip(RoundTrip, kw_only=True):
    index: int


class RoundTrips(msgspec.Struct):
    items: list[IndexedTrip]
    next: str | None
    summary: Trips


class BacktestChange(msgspec.Struct):
    label: Annotated[str, msgspec.Meta(max_length=120)] | msgspec.UnsetType | None = msgspec.UNSET
    description: Annotated[str, msgspec.Meta(max_length=10_000)] | msgspec.UnsetType | None = (
        msgspec.UNSET
    )


class LiveMetrics(msgspec.Struct):
    computed: dict[str, Shown]
    custom: dict[str, OwnMetric]
    """The model's own."""


Job = Callable[[Connection, Call[Any]], Any]


def when_ready(job: Job) -> Callable[[Call[Any]], Awaitable[Response]]:
    """The job's answer as JSON, after the reports it needs have been made."""

    @wraps(job)
    async def respond(call: Call[Any]) -> Response:
        def encoded(connection: Connection) -> bytes:
            return msgspec.json.encode(job(connection, call))

        return Response(
            await read_when_ready(call, encoded), media_type="application/json", headers=NO_STORE
        )

    return respond


async def read_when_ready(call: Call[Any], job: Callable[[Connection], Any]) -> Any:
    reporter = call.services.reporter
    with anyio.move_on_after(reporter.patience):
        while True:
            try:
                return await call.services.store.read(job)
            except NotReady as missing:
                if reporter.has_failed(missing.upload):
                    raise CannotCompute from None
                await reporter.ready(missing.upload)
    raise StillComputing


def live_metrics(connection: Connection, call: Call[Any]) -> LiveMetrics:
    """Metrics of the live model, computed and its own."""
    from tapeline.results import live, metrics
    from tapeline.tape import read

    tape = reading(connection, call).tape
    found = call.services.reporter.live.of(connection, tape)
    computed = metrics.nothing(live.NO_SERIES) if found is None else metrics.shown(found)
    return LiveMetrics(computed, metrics.custom(read.state(connection, tape, "metrics")))


def list_backtests(connection: Connection, call: Call[Any]) -> Listed[Anything]:
    """Backtests with their key metrics, newest first."""
    from tapeline.results import metrics

    page: Page = call.query
    model = reading(connection, call)
    found, following = backtest_words.listed(
        connection, model.tape, before=page.before(), limit=page.limit
    )
    called = arguments_of(connection, model.model_id, [one.fields["backtest_id"] for one in found])
    items = []
    for one in found:
        more = {
            "metrics": _metrics(one.fields, metrics.shown(one.brief), one.computing),
            "arguments": called.get(one.fields["backtest_id"]),
        }
        items.append(one.fields | more)
    return listed(items, following)


async def show_backtest(call: Call[Any]) -> Response:
    """One backtest: the header of its result, its status, metrics, trials and counts."""

    def show(connection: Connection, *, may_wait: bool) -> bytes:
        return msgspec.json.encode(shown(connection, call, may_wait=may_wait))

    store, reporter = call.services.store, call.services.reporter
    content: bytes | None = None
    with anyio.move_on_after(WAITED):
        try:
            content = await store.read(show, may_wait=True)
        except NotReady as missing:
            await reporter.ready(missing.upload)
    if content is None:
        content = await store.read(show, may_wait=False)
    return Response(content, media_type="application/json", headers=NO_STORE)


def change_backtest(connection: Connection, call: Call[BacktestChange]) -> Anything:
    """Change a backtest's label or description; null goes back to its own."""
    words = {
        name: value
        for name in ("label", "description")
        if not isinstance(value := getattr(call.body, name), msgspec.UnsetType)
    }
    found = reading(connection, call)
    backtest_words.describe(connection, call.actor, found, call.path("backtest"), words)
    return shown(connection, call, may_wait=False)


def delete_backtest(connection: Connection, call: Call[Any]) -> Done:
    """Delete a backtest; it still counts as a trial."""
    found = reading(connection, call)
    backtest_words.remove(connection, call.actor, found, call.path("backtest"))
    return Done()


def backtest_equity(connection: Connection, call: Call[Any]) -> Series:
    """Account values over time, downsampled with their extremes kept."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Series([], 0)
    reports.require(connection, row.upload)
    return Series(*_points(connection, row.upload, "equity", page))


def backtest_drawdown(connection: Connection, call: Call[Any]) -> DrawdownSeries:
    """How far the account was below its highest value, and the deepest falls."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return DrawdownSeries([], [], backtest_words.NO_RESULT)
    report = reports.load(connection, row.upload)
    items, _ = _points(connection, row.upload, "drawdown", page)
    reason = report.computed["max_drawdown"].reason
    return DrawdownSeries(items, report.drawdowns, reason)


def backtest_rolling(connection: Connection, call: Call[Any]) -> Rolling:
    """Sharpe ratio and volatility over the half year before each day."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Rolling(None, [], [], backtest_words.NO_RESULT)
    report = reports.load(connection, row.upload)
    sharpe, _ = _points(connection, row.upload, "rolling_sharpe", page)
    volatility, _ = _points(connection, row.upload, "rolling_volatility", page)
    return Rolling(report.rolling.window, sharpe, volatility, report.rolling.reason)


def backtest_periods(connection: Connection, call: Call[Any]) -> Periods:
    """Returns by month and year."""
    row = backtest(connection, call)
    if row.upload is None:
        return Periods([], backtest_words.NO_RESULT)
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


def backtest_indicators(connection: Connection, call: Call[Any]) -> Listed[Indicator]:
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


def backtest_trades(connection: Connection, call: Call[Any]) -> Listed[Anything]:
    """A backtest's trades, the last first; `index` is the place in the list that was sent."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Listed([])
    found = uploads.items(connection, row.upload, "trades", before=page.before(), limit=page.limit)
    items = [{**trade, "index": index} for index, trade in found]
    return listed(items, found[-1][0] if len(found) == page.limit else None)


def backtest_round_trips(connection: Connection, call: Call[Any]) -> RoundTrips:
    """Trades matched into round trips, first in, first out; the last first."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        nothing = Trips(
            count=0, fees=0.0, profit=None, open=[], open_count=0, symbols=[], warnings=[]
        )
        return RoundTrips([], None, nothing)
    report = reports.load(connection, row.upload)
    found = reports.round_trips(connection, row.upload, before=page.before(), limit=page.limit)
    items = [IndexedTrip(**msgspec.structs.asdict(trip), index=index) for index, trip in found]
    following = str(found[-1][0]) if len(found) == page.limit else None
    return RoundTrips(items, following, report.trips)


def backtest_logs(connection: Connection, call: Call[Any]) -> Listed[Anything]:
    """Lines of one backtest's log."""
    row = backtest(connection, call)
    return lines(connection, call, kinds.CHANNELS_OF_BACKTESTS + row.no)


def compare_backtests(connection: Connection, call: Call[Any]) -> Any:
    """Up to eight backtests: aligned, rebased to 100, metrics side by side."""
    from tapeline.results.compare import MOST, compare

    page: ComparedPage = call.query
    if page.align not in {"time", "start"}:
        raise Invalid("`align` must be time or start.", field="align")
    if page.base not in {"window", "start"}:
        raise Invalid("`base` must be window or start.", field="base")
    names = list(dict.fromkeys(name for name in page.ids.split(",") if name))
    if len(names) > MOST:
        raise Invalid(f"`ids` must name at most {MOST} backtests.", field="ids")
    model = reading(connection, call)
    rows = [_named(connection, model.tape, name) for name in names]
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


def backtest(connection: Connection, call: Call[Any]) -> Any:
    return backtests.find(connection, reading(connection, call).tape, call.path("backtest"))


def _named(connection: Connection, tape: int, name: str) -> Any:
    try:
        return backtests.find(connection, tape, name)
    except NoSuchBacktest:
        raise NoSuchBacktest(f"There is no backtest {name!r} of this model.", field="ids") from None


def shown(connection: Connection, call: Call[Any], *, may_wait: bool) -> Anything:
    from tapeline.results import metrics

    model, name = reading(connection, call), call.path("backtest")
    row = backtests.find(connection, model.tape, name)
    fields, report = backtests.shown(row), None
    computed, computing = metrics.nothing(backtest_words.NO_RESULT), False
    if row.upload is not None:
        try:
            report = reports.load(connection, row.upload)
            computed = metrics.shown(report.computed)
        except NotReady:
            failed = call.services.reporter.has_failed(row.upload)
            if may_wait and not failed:
                raise
            computed, computing = metrics.nothing(FAILED) if failed else {}, not failed
    trials = backtest_words.trials_of(connection, model.tape, report.trial if report else None)
    return fields | {
        "arguments": arguments_of(connection, model.model_id, [name]).get(name),
        "metrics": _metrics(fields, computed, computing),
        "trials": trials,
        "basis": report and report.basis,
    }


def _metrics(fields: Anything, computed: dict[str, Shown], computing: bool) -> Anything:
    from tapeline.results import metrics

    own = metrics.custom(fields["metrics"]["custom"])
    return {"computed": computed, "custom": own, "computing": computing}


def _points(
    connection: Connection, upload: str, name: str, page: Stretch
) -> tuple[list[series.Point], int]:
    from tapeline.results import pyramid

    times, values = pyramid.stretch(
        connection, upload, name, points=page.points, start=page.start, end=page.end
    )
    levels = pyramid.index(connection, upload, name)
    return series.thinned(times, values, page.points), levels[0].count if levels else 0
