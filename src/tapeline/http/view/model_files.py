"""Downloads of logs as text and of orders as CSV, whole or filtered, in bounded memory."""

from collections.abc import AsyncGenerator
from datetime import tzinfo
from typing import Any

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.http.core import long_answers
from tapeline.http.core.answers import Csv, Text
from tapeline.http.core.endpoint import QueryCall
from tapeline.http.view import backtest_api, results_api
from tapeline.http.view.tape_api import LineFilter, reading
from tapeline.moments import moment
from tapeline.results.changes import words
from tapeline.results.changes.change import with_changes
from tapeline.results.pnl import quoted_fills
from tapeline.results.pnl.order_fills import FillShown
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels, line_search, order_list
from tapeline.tape.reading.order_list import Filter
from tapeline.zones import ZoneName, zone_of

PORTION = 1_000  # lines read from the store at once
ORDERS = 500  # orders, with their fills
ORDER_KEYS = ("id", "type", "symbol", "exchange", "side", "size", "funds", "price", "active")
FILL_KEYS = ("price", "size", "fee", "realized", "currency")
HEAD = ",".join(
    ("time", "date", *ORDER_KEYS, *(f"fill_{key}" for key in FILL_KEYS), "status", "annotation",
     "received_at", "late_by", "changes")
)  # fmt: skip


class OrderFilter(msgspec.Struct):
    symbol: str | None = None
    side: str | None = None
    since: float | None = None
    until: float | None = None
    zone: ZoneName = ""


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


async def download_orders(call: QueryCall[OrderFilter]) -> Csv:
    """The orders with their fills as CSV, in the order they arrived."""
    zone_of(call.query.zone)  # an unknown one is refused before the file begins
    await results_api.catch_up(call)
    found = await call.services.store.read(reading, call)
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{call.path("model")}-orders.csv"',
    }
    return long_answers.download(
        call.services,
        _orders(call, found.seq),
        long_answers.reading_model(call),
        "text/csv",
        headers,
    )


def _attached(call: QueryCall[LogFile], tape: int, channel: int, until: int, name: str) -> Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}.log"',
    }
    return long_answers.download(
        call.services,
        _pieces(call, tape, channel, until),
        long_answers.reading_model(call),
        "text/plain",
        headers,
    )


async def _pieces(
    call: QueryCall[LogFile], tape: int, channel: int, until: int
) -> AsyncGenerator[bytes, None]:
    """Only lines that existed at the request: a busy model would never come to an end."""
    search = line_search.search(call.query.type, call.query.q)
    zone = zone_of(call.query.zone)

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
    found = moment(seconds, zone)
    if found is None:
        return str(seconds)  # a model may say any time
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def _orders(call: QueryCall[OrderFilter], until: int) -> AsyncGenerator[bytes, None]:
    """Only orders that existed at the request: a busy model would never come to an end."""
    asked = call.query
    wanted = Filter(asked.symbol, asked.side and asked.side.lower(), asked.since, asked.until)
    zone = zone_of(asked.zone)

    from tapeline.results.backtests import exports  # noqa: PLC0415 - numpy, at its first use

    def portion(connection: Connection, after: int) -> tuple[bytes, int | None]:
        whole = reading(connection, call)  # raises if the model has been deleted
        tape = whole.tape
        found, following = order_list.following(connection, tape, wanted, after=after, limit=ORDERS)
        changes = results_api.changes_of(connection, call, whole, found)
        shown = with_changes(quoted_fills.with_fills(connection, tape, found), changes)
        rows = (
            [one["time"], exports.date(one["time"], zone), *_cells(one)]
            for one in shown
            if one["seq"] <= until
        )
        return exports.lines(rows), following

    yield f"{HEAD}\n".encode()
    after: int | None = 0
    while after is not None and after < until:
        some, after = await call.services.store.read(portion, after)
        if some:
            yield some


def _cells(order: dict[str, Any]) -> list[Any]:
    fill: FillShown | None = order["fill"]
    filled = (getattr(fill, key) if fill else None for key in FILL_KEYS)
    told = "; ".join(map(words.said, order["changes"]))
    about = (order["status"], order["annotation"], order["received_at"], order["late_by"], told)
    return [*(order[key] for key in ORDER_KEYS), *filled, *about]
