"""Downloads of logs as text, whole or filtered, in bounded memory."""

from collections.abc import AsyncGenerator
from datetime import datetime, tzinfo

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.fair_line import Owner
from tapeline.http.core import long_answers
from tapeline.http.core.answers import Text
from tapeline.http.core.endpoint import QueryCall
from tapeline.http.view import backtest_api
from tapeline.http.view.tape_api import LineFilter, reading, wanted_by
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels
from tapeline.zones import ZoneName, zone_of

PORTION = 1_000  # lines read from the store at once


class LogFile(LineFilter):
    zone: ZoneName = ""


async def download_log(call: QueryCall[LogFile]) -> Text:
    """The live log as text, oldest first: time, type and line."""
    zone_of(call.query.zone)  # an unknown one is refused before the file begins
    found = await call.services.store.read(reading, call)
    return _attached(call, found.tape, kinds.LOG.channel, found.seq, call.path("model"))


async def download_backtest_log(call: QueryCall[LogFile]) -> Text:
    """One backtest's log as text, oldest first: time, type and line."""

    def find(connection: Connection) -> tuple[int, int, int]:
        found, row = reading(connection, call), backtest_api.backtest(connection, call)
        return found.tape, kinds.CHANNELS_OF_BACKTESTS + row.no, found.seq

    zone_of(call.query.zone)
    tape, channel, seq = await call.services.store.read(find)
    return _attached(call, tape, channel, seq, f"{call.path('model')}-backtest")


def _attached(call: QueryCall[LogFile], tape: int, channel: int, until: int, name: str) -> Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}.log"',
    }
    return long_answers.download(
        call.services,
        Owner(call.path("model")),
        _pieces(call, tape, channel, until),
        long_answers.reading_model(call),
        "text/plain",
        headers,
    )


async def _pieces(
    call: QueryCall[LogFile], tape: int, channel: int, until: int
) -> AsyncGenerator[bytes, None]:
    """Only lines that existed at the request: a busy model would never come to an end."""
    search, zone = wanted_by(call.query), zone_of(call.query.zone)

    def portion(connection: Connection, after: int) -> tuple[bytes, int | None]:
        reading(connection, call)  # raises if the model has been deleted: its log may be incomplete
        found = channels.after(connection, tape, channel, after=after, limit=PORTION, **search)
        lines = [_line(record, zone) for record in found.records if record.seq <= until]
        return b"".join(lines), found.next

    after: int | None = 0
    while after is not None and after < until:
        some, after = await call.services.store.read(portion, after)
        if some:
            yield some


class _Said(msgspec.Struct):
    line: str = ""
    type: str = ""


_said = msgspec.json.Decoder(_Said)


def _line(record: StoredEvent, zone: tzinfo) -> bytes:
    said = _said.decode(record.body)
    return f"{_moment(record.time, zone)} {said.type} {said.line}\n".encode()


def _moment(seconds: float, zone: tzinfo) -> str:
    try:
        moment = datetime.fromtimestamp(seconds, zone)
    except (OverflowError, ValueError):
        return str(seconds)  # a model may say any time
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
