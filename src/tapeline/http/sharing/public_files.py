"""Downloads of a shared link: a tear sheet, tables, and the verifiable record."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.errors import ChangedMeanwhile, NoSuchModel, NotShared
from tapeline.fair_threads import checkpoint
from tapeline.http.core import long_answers, rendering
from tapeline.http.core.answers import Csv, Html, Ndjson
from tapeline.http.core.endpoint import Call
from tapeline.http.core.services import Services
from tapeline.http.sharing import public_api
from tapeline.results.changes import words
from tapeline.sharing.exhibits import record
from tapeline.sharing.exhibits.exhibit import ChartRange, Exhibit
from tapeline.sharing.links.choices import Choices
from tapeline.sharing.links.delay import Cut
from tapeline.sharing.links.links import Share
from tapeline.tape import tapes
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import removed, signing_keys
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.seals import GENESIS
from tapeline.tape.reading import whole_tape
from tapeline.tape.record import writing
from tapeline.tape.record.whole_file import WrittenFile
from tapeline.tape.record.writing import Shows
from tapeline.tape.roots import proofs

PORTION = 2_000  # rows read at once
PART = 3_000_000  # bytes of a record sent at once, about
CURVE = ("time", "date", "value")
TRADES = (
    "index", "time", "date", "symbol", "exchange", "type", "side", "status", "price", "size",
    "funds", "fee", "profit", "late_by", "received_at", "currency",
    "ordered", "changes",
)  # fmt: skip
TRIPS = (
    "index", "symbol", "entry_time", "exit_time", "entry_price", "exit_price", "size", "fees",
    "profit", "profit_percent",
)  # fmt: skip


async def shared_tear_sheet(call: Call) -> Html:
    """The tear sheet of a backtest, without what the link hides."""

    def facts(exhibit: Exhibit) -> dict[str, Any]:
        from tapeline.sharing.exhibits.backtest import BacktestExhibit

        if not isinstance(exhibit, BacktestExhibit):
            raise NotShared
        return exhibit.tear_sheet()

    find = public_api.found_by(call.request, call.services)
    response = rendering.render_alone(
        "tear_sheet.html", **await public_api.shown(call, find, facts)
    )
    response.headers["X-Robots-Tag"] = "noindex"
    return response


async def shared_curve_csv(call: Call) -> Csv:
    """The curve as CSV, in its unit, at most 5,000 points."""

    def rows(exhibit: Exhibit) -> Sequence[Any]:
        return exhibit.curve(ChartRange(5_000)).items

    find = public_api.found_by(call.request, call.services)
    items = await public_api.shown(call, find, rows)
    return _table(call, "curve", _one(_csv_lines(CURVE, items, is_first=True)))


async def shared_trades_csv(call: Call) -> Csv:
    """Orders or trades as CSV, last first."""
    return await _paged(call, "trades", TRADES, lambda exhibit, *page: exhibit.trades(*page))


async def shared_round_trips_csv(call: Call) -> Csv:
    """Round trips of a backtest as CSV, last first."""
    return await _paged(
        call, "round-trips", TRIPS, lambda exhibit, *page: exhibit.round_trips(*page)
    )


async def shared_record(call: Call) -> Ndjson:
    """The record as NDJSON, hidden fields as commitments; `tapeline verify` checks it."""
    services, find = call.services, public_api.found_by(call.request, call.services)

    def looked(connection: Connection) -> tuple[Share, tapes.Reading]:
        share = find(connection)
        return share, tapes.of_model(connection, share.model_id)

    share, found = await services.store.read(looked)
    if not share.choices.delay_hours:
        with suppress(NoSuchModel):  # the link went with it, which the next look says
            await sign(services, found)

    def ends(connection: Connection) -> tuple[tapes.Reading, Cut]:
        _, found = looked(connection)  # anew: it may have been signed now, or begun
        return found, record.end(connection, found, share.choices)

    found, end = await services.store.read(ends)

    def may_read(connection: Connection) -> None:
        if find(connection).choices != share.choices:  # perhaps more is to be hidden now
            raise ChangedMeanwhile

    return _ndjson(services, _lines(services, found, end, record.shows(share)), may_read)


async def export_record(call: Call) -> Ndjson:
    """The whole record in one file: events, chain and signatures, for `tapeline verify`."""
    found = await call.services.store.read(tapes.reading, call.actor, call.path("model"))
    await sign(call.services, found)
    end = await call.services.store.read(record.end, found, Choices())
    lines = _lines(call.services, found, end, writing.ALL)
    return _ndjson(call.services, lines, long_answers.reading_model(call))


async def sign(services: Services, found: tapes.Reading) -> None:
    """Vouch for where the tape stands now."""
    if found.tape:
        await services.store.write(services.inbox.appender.sign_head, found.tape)


async def _lines(
    services: Services, found: tapes.Reading, end: Cut, shows: Shows
) -> AsyncGenerator[bytes, None]:
    """A file without its last line, the signature over all others, is not whole."""
    hand = await services.store.write(services.inbox.appender.own_hand)
    keys = await services.store.read(signing_keys.listed)
    file = WrittenFile(found.model_id, hand)
    async with aclosing(_content(services, found, end, shows, keys)) as pieces:
        async for piece in pieces:
            yield file.take(piece)
    yield file.last_line()


async def _content(
    services: Services, found: tapes.Reading, end: Cut, shows: Shows, keys: Sequence[Key]
) -> AsyncGenerator[bytes, None]:
    """Up to a signed event, whose checkpoint comes after it."""
    store, last = services.store, end.seq
    listed = frozenset(one.key_id for one in keys)
    plan = await store.read(proofs.plan, found.tape, *end)
    witnesses = await store.read(proofs.witnesses, plan)
    yield writing.head(found.model_id, last, shows, keys, witnesses)

    def following(connection: Connection, part: Part) -> Part | None:
        return (
            _part(connection, found, part, last, shows, listed, plan)
            if part.reached < last
            else None
        )

    start = Part(0, GENESIS, whole_tape.FEW, [])
    async with aclosing(store.read_ahead(following, start)) as parts:
        async for part in parts:
            for piece in part.pieces:
                if isinstance(piece, bytes):
                    yield piece
                    continue
                async for line in writing.lists_of(store, found.tape, piece):
                    yield line


Piece = bytes | StoredEvent


class Part(NamedTuple):
    """Some groups of a record, as far as it is written."""

    reached: int
    link: bytes
    size: int
    """How many events to take next."""
    pieces: list[Piece]


def _part(
    connection: Connection,
    found: tapes.Reading,
    before: Part,
    last: int,
    shows: Shows,
    keys: frozenset[str],
    plan: proofs.Plan,
) -> Part:
    """In a thread, because other requests wait for the event loop. Much at a time, because a busy
    machine makes us wait for each turn of it."""
    tapes.of_model(connection, found.model_id)  # raises if the model has been deleted
    reached, link, size, pieces = before.reached, before.link, before.size, list[Piece]()
    while reached < last and sum(map(_length, pieces)) < PART:
        checkpoint()  # the client may have left
        groups = whole_tape.groups(connection, found.tape, reached, last, size)
        start, reached = reached, removed.last(groups[-1][-1])
        signed = record.daily_checkpoints(connection, found.tape, start, reached, last)
        checkable = {one.seq: one for one in signed if one.key_id in keys}
        links = {removed.last(group[-1]): group[-1].link for group in groups}
        proven = proofs.written(connection, found.tape, plan, links)
        lines = writing.written(link, groups, shows, checkable, proven)
        link, size = lines.link, whole_tape.more(size)
        pieces += lines.pieces
    return Part(reached, link, size, pieces)


def _length(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else PART  # lists of any length may follow it


async def _paged(
    call: Call, name: str, columns: Sequence[str], page: Callable[..., Any]
) -> Response:
    find = public_api.found_by(call.request, call.services)

    async def rows(before: int | None) -> Any:
        return await public_api.shown(
            call, find, lambda exhibit: (exhibit.edition, page(exhibit, before, PORTION))
        )

    # Errors must come with their status code, not in the middle of a file.
    edition, first = await rows(None)

    async def lines() -> AsyncGenerator[bytes, None]:
        some, now = first, edition
        while True:
            yield _csv_lines(columns, some.items, is_first=some is first)
            if some.next is None:
                return
            now, some = await rows(int(some.next))
            if now != edition:
                raise ChangedMeanwhile

    return _table(call, name, lines())


def _csv_lines(columns: Sequence[str], items: Sequence[Any], *, is_first: bool) -> bytes:
    from tapeline.results.backtests import exports

    return (",".join(columns) + "\n" if is_first else "").encode() + exports.lines(
        _cells(columns, items, exports.date)
    )


def _cells(
    columns: Sequence[str], items: Sequence[Any], date: Callable[[Any], str]
) -> Iterator[list[Any]]:
    for one in items:
        yield [date(one.time) if name == "date" else _cell(getattr(one, name)) for name in columns]


def _cell(value: Any) -> Any:
    """A list is one of changes, which a cell has in words."""
    return "; ".join(map(words.said, value)) if isinstance(value, list) else value


async def _one(content: bytes) -> AsyncGenerator[bytes, None]:
    yield content


def _table(call: Call, name: str, lines: long_answers.Pieces) -> Response:
    attached = {"Content-Disposition": f'attachment; filename="shared-{name}.csv"'}
    find = public_api.found_by(call.request, call.services)
    headers = public_api.HEADERS | attached
    return long_answers.download(call.services, lines, find, "text/csv", headers)


def _ndjson(
    services: Services,
    lines: long_answers.Pieces,
    may_read: long_answers.MayRead,
) -> Response:
    attached = {"Content-Disposition": 'attachment; filename="record.ndjson"'}
    headers = public_api.HEADERS | attached
    return long_answers.download(services, lines, may_read, "application/x-ndjson", headers)
