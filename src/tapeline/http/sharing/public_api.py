"""The API for visitors of a shared link: each route shows a projection made for the public.

No other route accepts a link's token, so a link gives access to nothing but these routes.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps
from typing import Annotated, Any, TypeVar

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tapeline.accounts import guesses, limits, passwords
from tapeline.errors import NoSuchModel, SharePasswordNeeded, Unavailable, WrongSharePassword
from tapeline.http.core.answers import Gives
from tapeline.http.core.endpoint import BodyCall, Call, Page, QueryCall, address_of
from tapeline.http.core.fields import Required
from tapeline.http.core.services import Services
from tapeline.http.view.backtest_api import read_when_ready
from tapeline.sharing.exhibits import exhibit as exhibits
from tapeline.sharing.exhibits.answers import (
    Exported,
    SharedBenchmark,
    SharedCorrections,
    SharedCurve,
    SharedDrawdown,
    SharedHead,
    SharedLines,
    SharedMetrics,
    SharedPeriods,
    SharedPositions,
    SharedTrades,
    SharedTrips,
)
from tapeline.sharing.exhibits.exhibit import Exhibit, ExhibitContext
from tapeline.sharing.links import links, passes, visits
from tapeline.sharing.links.links import Share
from tapeline.tape import tapes

HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}
COOKIE = "tapeline_share_"

Moment = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]


class CurveQuery(msgspec.Struct, rename={"start": "from", "end": "to"}):
    """How much of a curve, and in how many points."""

    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 1000
    start: Moment | None = None
    """Epoch seconds, as `to`: the stretch to look at."""
    end: Moment | None = None

    @property
    def asked(self) -> exhibits.ChartRange:
        return exhibits.ChartRange(self.points, self.start, self.end)


class BenchmarkQuery(msgspec.Struct):
    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 1000
    """Of each series."""


class SharePassword(msgspec.Struct):
    password: Required


class SharePass(msgspec.Struct, rename={"content": "pass"}):
    content: str
    """Send it as the header `share-pass`."""
    expires_at: float


Show = Callable[[Exhibit], Any]
Find = Callable[[Connection], Share]


def exhibit_context(services: Services) -> ExhibitContext:
    return ExhibitContext(
        services.cipher,
        services.inbox.appender.signer.key_id,
        float(services.settings.late_seconds),
        services.replays,
        services.kept,
        services.changes,
    )


def found_by(request: Request, services: Services) -> Find:
    """The link of a request, if it may be opened; looked up in the very transaction that reads."""
    token = str(request.path_params["token"])

    def find(connection: Connection) -> Share:
        share = links.by_token(connection, token)
        given = request.headers.get("share-pass") or request.cookies.get(COOKIE + share.id, "")
        if not passes.is_valid(services.cipher, services.store.clock, share, given):
            raise SharePasswordNeeded
        return share

    return find


def opened(connection: Connection, share: Share, services: Services) -> Exhibit:
    # The arithmetic is imported at its first use: start-up stays light.
    if share.backtest_id is None:
        from tapeline.sharing.exhibits.live import LiveExhibit

        return LiveExhibit(connection, share, exhibit_context(services))
    from tapeline.sharing.exhibits.backtest import BacktestExhibit

    return BacktestExhibit(connection, share, exhibit_context(services))


async def shown(call: Call, find: Find, show: Show) -> Any:
    """The link's exhibit as `show` presents it, including everything acknowledged before."""
    services = call.services
    await catch_up(services, await services.store.read(find))

    def job(connection: Connection) -> Any:
        return show(opened(connection, find(connection), services))

    return await read_when_ready(call, job)


async def answered(call: Call, find: Find, show: Show) -> Response:
    content = await shown(call, find, lambda exhibit: msgspec.json.encode(show(exhibit)))
    return Response(content, media_type="application/json", headers=HEADERS)


async def catch_up(services: Services, share: Share) -> None:
    """A delayed link is replayed from the tape and needs no books. The link is looked up again by
    what reads next, which says what became of it if its model was deleted meanwhile."""
    if share.backtest_id is None and not share.choices.delay_hours:
        with suppress(NoSuchModel):
            found = await services.store.read(tapes.of_model, share.model_id)
            if found.tape:
                await services.bookkeeper.catch_up(found.tape, found.seq)


async def note_view(services: Services, request: Request, share: Share) -> None:
    agent = request.headers.get("user-agent", "")
    who = visits.visitor(services.cipher, share, address_of(request), agent)
    if not await services.store.read(visits.is_counted, share, who):
        with suppress(Unavailable):  # the page can be shown anyway
            await services.store.write(visits.count, share, who)


async def check_password(
    services: Services, request: Request, token: str, password: str
) -> tuple[Share, str, float]:
    """The link and a pass for it. Attempts are counted before anything is compared."""
    share = await services.store.read(links.by_token, token)
    if share.password_hash is not None:
        guess = guesses.at_link(services.settings, address_of(request), share.id)
        await services.store.read(limits.refuse_if_over, guess.counters)
        await services.store.write(limits.count, guess.counters)
        right = await services.with_password(passwords.matches, share.password_hash, password)
        if not right:
            raise WrongSharePassword
        await services.store.write(guesses.was_right, guess)
    return share, *passes.issue(services.cipher, services.store.clock, share)


C = TypeVar("C", bound=Call)


def showing(show: Callable[[Exhibit, C], Any]) -> Callable[[C], Awaitable[Response]]:
    @wraps(show)
    async def respond(call: C) -> Response:
        find = found_by(call.request, call.services)
        return await answered(call, find, lambda exhibit: show(exhibit, call))

    return respond


async def show_shared(call: Call) -> Annotated[Response, Gives(SharedHead)]:
    """What a link shows: title, choices, figures and proof."""
    find = found_by(call.request, call.services)
    response = await answered(call, find, lambda exhibit: exhibit.head)
    await note_view(call.services, call.request, await call.services.store.read(find))
    return response


async def exchange_password(call: BodyCall[SharePassword]) -> SharePass:
    """Exchange a link's password for a pass that is valid for some hours."""
    _, content, ends = await check_password(
        call.services, call.request, call.path("token"), call.body.password
    )
    return SharePass(content, ends)


@showing
def shared_curve(exhibit: Exhibit, call: QueryCall[CurveQuery]) -> SharedCurve:
    """The curve: profit and loss or account value, rebased where amounts are hidden."""
    return exhibit.curve(call.query.asked)


@showing
def shared_drawdown(exhibit: Exhibit, call: QueryCall[CurveQuery]) -> SharedDrawdown:
    """How far the value was below its peak, and the deepest drawdowns."""
    return exhibit.drawdown(call.query.asked)


@showing
def shared_benchmark(exhibit: Exhibit, call: QueryCall[BenchmarkQuery]) -> SharedBenchmark:
    """The account beside buying and holding what it traded, unless the link hides symbols."""
    return exhibit.benchmark(call.query.points)


@showing
def shared_periods(exhibit: Exhibit, _call: Call) -> SharedPeriods:
    """Returns by month and year."""
    return exhibit.periods()


@showing
def shared_metrics(exhibit: Exhibit, _call: Call) -> SharedMetrics:
    """Metrics in the units that the link shows."""
    return exhibit.metrics


@showing
def shared_trades(exhibit: Exhibit, call: QueryCall[Page]) -> SharedTrades:
    """Orders or trades, last first."""
    page = call.query
    return exhibit.trades(page.before(), page.limit)


@showing
def shared_round_trips(exhibit: Exhibit, call: QueryCall[Page]) -> SharedTrips:
    """Round trips of a backtest, last first."""
    page = call.query
    return exhibit.round_trips(page.before(), page.limit)


@showing
def shared_positions(exhibit: Exhibit, _call: Call) -> SharedPositions:
    """Positions of a live model."""
    return exhibit.positions()


@showing
def shared_changes(exhibit: Exhibit, call: QueryCall[Page]) -> SharedCorrections:
    """What a live model reported or changed after the fact, newest first."""
    page = call.query
    return exhibit.corrections(page.before(), page.limit)


@showing
def shared_logs(exhibit: Exhibit, call: QueryCall[Page]) -> SharedLines:
    """Log lines, newest first, if the link hides nothing."""
    page = call.query
    return exhibit.logs(page.before(), page.limit)


@showing
def shared_export(exhibit: Exhibit, call: QueryCall[CurveQuery]) -> Exported:
    """Everything a link shows in one object, with the last 1,000 trades."""
    return exhibit.everything(call.query.asked, 1000)
