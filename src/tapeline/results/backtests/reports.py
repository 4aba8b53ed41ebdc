"""Reports in the store: finds missing ones, writes and reads them."""

import time
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, exists, func, literal, select

from tapeline.results.metrics.deflated import Trial
from tapeline.results.metrics.report_fields import (
    KEY,
    ROUND_TRIPS,
    TRIPS_IN_PIECE,
    VERSION,
    Report,
    Row,
)
from tapeline.results.metrics.round_trips import RoundTrip
from tapeline.results.pnl.account import settings_of
from tapeline.store import bulk, upsert
from tapeline.store.tables.results import report_pieces, reports, trials, trials_by_result
from tapeline.store.tables.tape import backtests
from tapeline.tape import tapes

_report = msgspec.json.Decoder(Report)
_trips = msgspec.json.Decoder(list[RoundTrip])


Series = tuple[str, int]
"""A name and a level."""


class NotReady(Exception):
    """The report of this upload has not been made yet."""

    def __init__(self, upload: str) -> None:
        super().__init__(upload)
        self.upload = upload


class Source(msgspec.Struct, frozen=True):
    """A result that needs a report."""

    tape: int
    backtest: int
    seq: int
    """The number of its event."""
    header: dict[str, Any]


def pending(connection: Connection, limit: int) -> list[str]:
    """Current uploads without a report, or with one of earlier formulas."""
    current = exists().where(reports.c.upload == backtests.c.upload, reports.c.version >= VERSION)
    query = select(backtests.c.upload).where(backtests.c.upload.is_not(None), ~current)
    return list(connection.scalars(query.order_by(backtests.c.upload).limit(limit)))


def source(connection: Connection, upload: str) -> Source | None:
    """None if the result was replaced or deleted."""
    row = connection.execute(
        select(backtests.c.tape, backtests.c.no, backtests.c.result, backtests.c.result_seq).where(
            backtests.c.upload == upload
        )
    ).first()
    if row is None or row.result is None:
        return None
    header = msgspec.json.decode(row.result, type=dict[str, Any])
    header["positions"] = settings_of(connection, row.tape).positions
    return Source(row.tape, row.no, row.result_seq, header)


class Gone(Exception):
    """The result was replaced or deleted while its report was being made."""


def begin(connection: Connection, upload: str) -> None:
    """Announce pieces; `finish` confirms that they are complete."""
    _held(connection, upload)
    row = upsert.insert(connection, reports).values(
        upload=upload, version=0, made_at=time.time(), brief=b"", content=b""
    )
    connection.execute(row.on_conflict_do_nothing(index_elements=["upload"]))


def put(connection: Connection, upload: str, rows: Sequence[Row]) -> None:
    """Nobody reads them before `finish`. Another server would write the same."""
    _held(connection, upload)
    values = [(upload, row.name, row.level, row.piece, row.content) for row in rows]
    columns = ("upload", "name", "level", "piece", "content")
    bulk.insert(connection, report_pieces, columns, values, replace=("content",))


def finish(connection: Connection, upload: str, report: Report, last: Mapping[Series, int]) -> None:
    """Make the report visible, and count the trial. `last`: the last piece of each series; what an
    earlier report had beyond them is deleted."""
    found = _held(connection, upload)
    _delete_older(connection, upload, last)
    brief = {name: report.computed[name] for name in KEY}
    content, words = msgspec.json.encode(report), msgspec.json.encode(brief)
    row = upsert.insert(connection, reports).values(
        upload=upload, version=VERSION, made_at=time.time(), brief=words, content=content
    )
    new = {name: row.excluded[name] for name in ("version", "made_at", "brief", "content")}
    connection.execute(row.on_conflict_do_update(index_elements=["upload"], set_=new))
    _count_trial(connection, found, report.trial)


def _delete_older(connection: Connection, upload: str, last: Mapping[Series, int]) -> None:
    of_upload = report_pieces.c.upload == upload
    series = (report_pieces.c.name, report_pieces.c.level)
    query = select(*series, func.max(report_pieces.c.piece).label("last")).where(of_upload)
    for row in connection.execute(query.group_by(*series)).all():
        known = last.get((row.name, row.level), -1)
        if row.last > known:
            connection.execute(
                delete(report_pieces).where(
                    of_upload,
                    report_pieces.c.name == row.name,
                    report_pieces.c.level == row.level,
                    report_pieces.c.piece > known,
                )
            )


def _count_trial(connection: Connection, found: Source, trial: Trial | None) -> None:
    """Of the backtest as it stands, and of this result."""
    measured = {
        "sharpe": trial and trial.sharpe,
        "periods_per_year": trial and trial.periods_per_year,
    }
    of_backtest = {"tape": found.tape, "backtest": found.backtest}
    for table, place in (
        (trials, of_backtest),
        (trials_by_result, of_backtest | {"seq": found.seq}),
    ):
        tried = upsert.insert(connection, table).values(**place, **measured)
        again = {name: tried.excluded[name] for name in measured}
        connection.execute(tried.on_conflict_do_update(index_elements=[*place], set_=again))


def _held(connection: Connection, upload: str) -> Source:
    """Hold the result, so that neither it nor its model is deleted before this transaction ends:
    the cleanup then finds everything that a report wrote."""
    found = source(connection, upload)
    if found is not None and tapes.hold(connection, found.tape):
        found = source(connection, upload)  # as it is now that we hold it
        if found is not None:
            return found
    raise Gone


def load(connection: Connection, upload: str) -> Report:
    row = connection.execute(
        select(reports.c.content).where(reports.c.upload == upload, reports.c.version >= VERSION)
    ).first()
    if row is None:
        raise NotReady(upload)
    return _report.decode(row.content)


def require(connection: Connection, upload: str) -> None:
    """Raise unless the report is there."""
    query = select(literal(1)).where(reports.c.upload == upload, reports.c.version >= VERSION)
    if connection.scalar(query) is None:
        raise NotReady(upload)


def round_trips(
    connection: Connection, upload: str, *, before: int | None, limit: int
) -> list[tuple[int, RoundTrip]]:
    """Round trips with their indexes, the last first; reads only the pieces it needs."""
    found: list[tuple[int, RoundTrip]] = []
    last = None if before is None else (max(before, 1) - 1) // TRIPS_IN_PIECE
    query = select(report_pieces.c.piece, report_pieces.c.content).where(
        report_pieces.c.upload == upload, report_pieces.c.name == ROUND_TRIPS
    )
    if last is not None:
        query = query.where(report_pieces.c.piece <= last)
    most = limit // TRIPS_IN_PIECE + 2
    for row in connection.execute(query.order_by(report_pieces.c.piece.desc()).limit(most)):
        trips = _trips.decode(zlib.decompress(row.content))
        for index, trip in reversed(list(enumerate(trips, row.piece * TRIPS_IN_PIECE))):
            if before is None or index < before:
                found.append((index, trip))
            if len(found) == limit:
                return found
    return found


def trip_piece(connection: Connection, upload: str, number: int) -> list[RoundTrip]:
    """A piece of the round trips, oldest first; empty after the last."""
    content = connection.scalar(
        select(report_pieces.c.content).where(
            report_pieces.c.upload == upload,
            report_pieces.c.name == ROUND_TRIPS,
            report_pieces.c.piece == number,
        )
    )
    return [] if content is None else _trips.decode(zlib.decompress(content))
