"""Downloads of backtests: a tear sheet to print or send, and their lists as files."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import tzinfo
from functools import partial
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.errors import ChangedMeanwhile
from tapeline.http.core import long_answers, rendering
from tapeline.http.core.answers import Anything, Csv, Gives, Html
from tapeline.http.core.endpoint import Call, QueryCall
from tapeline.http.view import backtest_api
from tapeline.http.view.tape_api import reading
from tapeline.models import models
from tapeline.results.backtests import listing, reports
from tapeline.store.portions import pieces
from tapeline.tape.reading import backtests
from tapeline.zones import ZoneName, zone_of

Piece = Callable[[Connection, str, int], bytes | None]


class FileQuery(msgspec.Struct):
    zone: ZoneName = ""


async def tear_sheet(call: QueryCall[FileQuery]) -> Html:
    """A tear sheet: one self-contained page of HTML, for screen and print."""
    zone = _zone(call)

    def made(connection: Connection) -> tuple[str, Anything]:
        from tapeline.results.backtests import tear_sheet as sheet

        found = reading(connection, call)
        row = backtests.find(connection, found.tape, call.path("backtest"))
        backtest = backtests.shown(row)
        model = models.get(connection, call.actor, found.project_id, found.model_id)
        if row.upload is None:
            empty = {"title": sheet.named(backtest), "model_name": model.name}
            return "tear_sheet_empty.html", empty
        trial = reports.load(connection, row.upload).trial
        facts = sheet.facts(
            connection,
            row.upload,
            backtest=backtest,
            model_name=model.name,
            trials=listing.trials_of(connection, found.tape, trial),
            zone=zone,
        )
        return "tear_sheet.html", facts

    template, facts = await backtest_api.read_when_ready(call, made)
    return rendering.render_alone(template, **facts)


async def equity_csv(call: QueryCall[FileQuery]) -> Csv:
    """The account values as CSV."""
    from tapeline.results.backtests import exports

    return await _csv(call, "equity", exports.EQUITY, partial(exports.equity, zone=_zone(call)))


async def trades_csv(call: QueryCall[FileQuery]) -> Csv:
    """The trades as CSV, in the order they were sent."""
    from tapeline.results.backtests import exports

    return await _csv(call, "trades", exports.TRADES, exports.Trades(_zone(call)))


async def round_trips_csv(call: QueryCall[FileQuery]) -> Csv:
    """The round trips as CSV."""
    from tapeline.results.backtests import exports

    piece = partial(exports.round_trips, zone=_zone(call))
    return await _csv(call, "round-trips", exports.TRIPS, piece)


def _zone(call: QueryCall[FileQuery]) -> tzinfo:
    return zone_of(call.query.zone)


async def export_json(call: Call) -> Annotated[Response, Gives(Anything)]:
    """Everything about a backtest in one object: header, metrics, values, trades, round trips."""

    def head(connection: Connection) -> tuple[str | None, Anything]:
        row = backtest_api.backtest(connection, call)
        if row.upload is not None:
            reports.require(connection, row.upload)
        return row.upload, backtest_api.shown(connection, call, may_wait=True)

    upload, fields = await backtest_api.read_when_ready(call, head)
    return long_answers.download(
        call.services,
        _object(call, upload, fields),
        long_answers.reading_model(call),
        "application/json",
        _attached(call, ".json"),
    )


async def _object(call: Call, upload: str | None, fields: Anything) -> AsyncGenerator[bytes, None]:
    from tapeline.results.backtests import exports

    yield msgspec.json.encode(fields)[:-1]
    for name in ("account_values", "trades", "round_trips"):
        yield f',"{name}":['.encode()
        async for number, items in _pieces(call, upload, partial(exports.items, name=name)):
            yield b"," + items if number else items
        yield b"]"
    yield b"}"


async def _csv(call: Call, name: str, head: str, piece: Piece) -> Response:
    def found(connection: Connection) -> str | None:
        row = backtest_api.backtest(connection, call)
        if row.upload is not None:
            reports.require(connection, row.upload)
        upload: str | None = row.upload
        return upload

    upload = await backtest_api.read_when_ready(call, found)
    return long_answers.download(
        call.services,
        _lines(call, upload, head, piece),
        long_answers.reading_model(call),
        "text/csv",
        _attached(call, f"-{name}.csv"),
    )


async def _lines(
    call: Call, upload: str | None, head: str, piece: Piece
) -> AsyncGenerator[bytes, None]:
    yield head.encode()
    async for _, some in _pieces(call, upload, piece):
        yield some


def _pieces(call: Call, upload: str | None, piece: Piece) -> AsyncIterator[tuple[int, bytes]]:
    """All pieces, as long as their result is the current one: a replaced result is deleted piece by
    piece, and a reader must not take the rest for the whole."""

    def read(connection: Connection, number: int) -> bytes | None:
        if upload is None:
            return None
        if backtest_api.backtest(connection, call).upload != upload:
            raise ChangedMeanwhile
        return piece(connection, upload, number)

    return pieces(lambda number: call.services.store.read(read, number))


def _attached(call: Call, ending: str) -> dict[str, str]:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", call.path("backtest"))[:80]
    return {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="backtest-{name}{ending}"',
    }
