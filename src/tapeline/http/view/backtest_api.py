"""The view API for backtests: lists, metrics, trades and round trips.

The figures are computed when a result arrives. Earlier requests wait for them, without delaying
others. The arithmetic is imported at its first use, so that start-up stays fast.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, TypeVar, cast

import anyio
import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.accounts import plain_names
from tapeline.errors import CannotCompute, NoSuchBacktest, StillComputing
from tapeline.http.core.answers import Anything, Done, Gives, Listed
from tapeline.http.core.endpoint import BodyCall, Call, Page, QueryCall
from tapeline.http.view.answers import BacktestTrade, OwnMetric, ShownBacktest, ShownLine
from tapeline.http.view.tape_api import LinePage, lines, listed, reading
from tapeline.results.backtests import listing, reports
from tapeline.results.backtests.reporter import FAILED
from tapeline.results.backtests.reports import NotReady
from tapeline.results.metrics.report_fields import Shown, Trips
from tapeline.results.metrics.round_trips import RoundTrip
from tapeline.runs.run import arguments_of
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.events import kinds
from tapeline.tape.reading import backtests

WAITED = 2.0  # seconds that a backtest's own page waits for its metrics
NO_STORE = {"Cache-Control": "no-store"}


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
    currency: str | None = None
    """Of computed metrics in money: that of the capital, or of most fills."""


C = TypeVar("C", bound=Call)


def when_ready(
    job: Callable[[Connection, C], Any], first: Callable[[C], Awaitable[None]] | None = None
) -> Callable[[C], Awaitable[Response]]:
    """The job's answer as JSON, after the reports it needs have been made. `first` prepares it."""

    @wraps(job)
    async def respond(call: C) -> Response:
        def encoded(connection: Connection) -> bytes:
            return msgspec.json.encode(job(connection, call))

        if first is not None:
            await first(call)
        return Response(
            await read_when_ready(call, encoded), media_type="application/json", headers=NO_STORE
        )

    return respond


async def read_when_ready(call: Call, job: Callable[[Connection], Any]) -> Any:
    reporter = call.services.reporter
    with anyio.move_on_after(reporter.patience):
        while True:
            try:
                return await call.services.store.compute(job)
            except NotReady as missing:
                if reporter.has_failed(missing.upload):
                    raise CannotCompute from None
                await reporter.ready(missing.upload)
    raise StillComputing


def live_metrics(connection: Connection, call: Call) -> LiveMetrics:
    """Metrics of the live model: computed ones, and those it reports."""
    from tapeline.results.metrics import all_metrics
    from tapeline.results.performance import live_metrics
    from tapeline.tape.reading import channels

    model = reading(connection, call)
    found = call.services.reporter.live.of(connection, model.tape, model.model_id)
    computed = all_metrics.nothing(live_metrics.NO_SERIES)
    if found is not None:
        computed = all_metrics.shown(found.metrics)
    custom = all_metrics.custom(channels.state(connection, model.tape, "metrics"))
    return LiveMetrics(computed, custom, found and found.currency)


def list_backtests(connection: Connection, call: QueryCall[Page]) -> Listed[ShownBacktest]:
    """Backtests with their key metrics, newest first."""
    from tapeline.results.metrics import all_metrics

    page = call.query
    model = reading(connection, call)
    found, following = listing.listed(
        connection, model.tape, before=page.before(), limit=page.limit
    )
    called = arguments_of(connection, model.model_id, [one.fields["backtest_id"] for one in found])
    items = []
    for one in found:
        more = {
            "metrics": _metrics(one.fields, all_metrics.shown(one.brief), one.computing),
            "arguments": called.get(one.fields["backtest_id"]),
        }
        items.append(one.fields | more)
    return listed(items, following)


async def show_backtest(call: Call) -> Annotated[Response, Gives(ShownBacktest)]:
    """One backtest: the header of its result, its status, metrics, trials and counts."""

    def show(connection: Connection, *, may_wait: bool) -> bytes:
        return msgspec.json.encode(shown(connection, call, may_wait=may_wait))

    store, reporter = call.services.store, call.services.reporter
    content: bytes | None = None
    with anyio.move_on_after(WAITED):
        try:
            content = await store.compute(show, may_wait=True)
        except NotReady as missing:
            await reporter.ready(missing.upload)
    if content is None:
        content = await store.compute(show, may_wait=False)
    return Response(content, media_type="application/json", headers=NO_STORE)


def change_backtest(connection: Connection, call: BodyCall[BacktestChange]) -> ShownBacktest:
    """Change a backtest's label or description; null restores the original."""
    words = {
        name: value
        for name in ("label", "description")
        if not isinstance(value := getattr(call.body, name), msgspec.UnsetType)
    }
    plain_names.require(words.get("label") or "", "label")
    found = reading(connection, call)
    listing.describe(connection, call.actor, found, call.path("backtest"), words)
    return cast("ShownBacktest", shown(connection, call, may_wait=False))


def delete_backtest(connection: Connection, call: Call) -> Done:
    """Delete a backtest; it still counts as a trial."""
    found = reading(connection, call)
    listing.remove(connection, call.actor, found, call.path("backtest"))
    return Done()


def backtest_trades(connection: Connection, call: QueryCall[Page]) -> Listed[BacktestTrade]:
    """A backtest's trades, last first; `index` is the position in the list that was sent."""
    row, page = backtest(connection, call), call.query
    if row.upload is None:
        return Listed([])
    found = result_pieces.items(
        connection, row.upload, "trades", before=page.before(), limit=page.limit
    )
    items = [{**trade, "index": index} for index, trade in found]
    return listed(items, found[-1][0] if len(found) == page.limit else None)


def backtest_round_trips(connection: Connection, call: QueryCall[Page]) -> RoundTrips:
    """Trades matched into round trips (first in, first out), last first."""
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


def backtest_logs(connection: Connection, call: QueryCall[LinePage]) -> Listed[ShownLine]:
    """Lines of one backtest's log."""
    row = backtest(connection, call)
    return lines(connection, call, kinds.CHANNELS_OF_BACKTESTS + row.no)


def backtest(connection: Connection, call: Call) -> Any:
    return backtests.find(connection, reading(connection, call).tape, call.path("backtest"))


def named(connection: Connection, tape: int, name: str) -> Any:
    try:
        return backtests.find(connection, tape, name)
    except NoSuchBacktest:
        raise NoSuchBacktest(f"There is no backtest {name!r} of this model.", field="ids") from None


def shown(connection: Connection, call: Call, *, may_wait: bool) -> Anything:
    from tapeline.results.metrics import all_metrics

    model, name = reading(connection, call), call.path("backtest")
    row = backtests.find(connection, model.tape, name)
    fields, report = backtests.shown(row), None
    computed, computing = all_metrics.nothing(listing.NO_RESULT), False
    if row.upload is not None:
        try:
            report = reports.load(connection, row.upload)
            computed = all_metrics.shown(report.computed)
        except NotReady:
            failed = call.services.reporter.has_failed(row.upload)
            if may_wait and not failed:
                raise
            computed, computing = all_metrics.nothing(FAILED) if failed else {}, not failed
    trials = listing.trials_of(connection, model.tape, report.trial if report else None)
    return fields | {
        "arguments": arguments_of(connection, model.model_id, [name]).get(name),
        "metrics": _metrics(fields, computed, computing),
        "trials": trials,
        "basis": report and report.basis,
    }


def _metrics(fields: Anything, computed: dict[str, Shown], computing: bool) -> Anything:
    from tapeline.results.metrics import all_metrics

    own = all_metrics.custom(fields["metrics"]["custom"])
    return {"computed": computed, "custom": own, "computing": computing}
