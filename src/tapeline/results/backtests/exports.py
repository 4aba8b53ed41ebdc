"""A backtest's lists as files, piece by piece: a million rows are never in memory at once."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import Connection

from tapeline.moments import moment
from tapeline.results.backtests import reports
from tapeline.results.charts import pyramid
from tapeline.results.metrics.report_fields import TRIPS_IN_PIECE
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.backtest_results.result_format import PACKED

TOGETHER = 500  # lines of trades written at once
EQUITY = "time,date,value\n"
TRADE_KEYS = ("symbol", "side", "size", "funds", "price", "fee", "id", "annotation")
TRADES = "index,time,date," + ",".join(TRADE_KEYS) + ",more\n"
TRIP_KEYS = (
    "symbol", "size", "entry_time", "exit_time", "entry_price", "exit_price", "fees", "profit",
    "profit_percent", "entry_index", "exit_index",
)  # fmt: skip
TRIPS = "index,entry_date,exit_date," + ",".join(TRIP_KEYS) + "\n"
# A text that begins like this would be a formula in a spreadsheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def equity(connection: Connection, upload: str, number: int, *, zone: tzinfo = UTC) -> bytes | None:
    """A piece of the account values as lines of CSV; None after the last."""
    times, values = pyramid.piece(connection, upload, "equity", number)
    if not len(times):
        return None
    if zone is UTC:  # many at once: there may be a million
        days = np.datetime_as_string((times * 1000).astype("i8").astype("M8[ms]")).tolist()
        dates = [f"{day}Z" for day in days]
    else:
        dates = [date(time, zone, "milliseconds") for time in times.tolist()]
    rows = zip(times.tolist(), dates, values.tolist(), strict=True)
    # A NaN is the only value that is not itself.
    written = [
        f"{time!r},{day},{value!r}\n" if value == value else f"{time!r},{day},\n"  # noqa: PLR0124
        for time, day, value in rows
    ]
    return "".join(written).encode()


class Trades:
    """Trades in the order they were sent, some at a time; no piece is read twice.

    Keys that have no column are in `more`, as JSON.
    """

    def __init__(self, zone: tzinfo = UTC) -> None:
        self._zone = zone
        self._piece, self._first, self._place = 0, 0, 0
        self._raws: list[msgspec.Raw] = []

    def __call__(self, connection: Connection, upload: str, _number: int) -> bytes | None:
        if self._place == len(self._raws):
            found = result_pieces.piece(connection, upload, "trades", self._piece)
            if found is None:
                return None
            self._first, self._place, self._raws = found[0], 0, result_pieces.split_items(found[1])
            self._piece += 1
        some = self._raws[self._place : self._place + TOGETHER]
        start = self._first + self._place
        self._place += len(some)
        return lines(
            _trade(index, msgspec.json.decode(raw), self._zone)
            for index, raw in enumerate(some, start)
        )


def round_trips(
    connection: Connection, upload: str, number: int, *, zone: tzinfo = UTC
) -> bytes | None:
    """Round trips in the order of their exits."""
    trips = reports.trip_piece(connection, upload, number)
    if not trips:
        return None
    first = number * TRIPS_IN_PIECE
    return lines(
        [
            index,
            date(trip.entry_time, zone),
            date(trip.exit_time, zone),
            *(getattr(trip, key) for key in TRIP_KEYS),
        ]
        for index, trip in enumerate(trips, first)
    )


def items(connection: Connection, upload: str, number: int, *, name: str) -> bytes | None:
    """A piece of a list as it was sent, as JSON without its brackets; None after the last."""
    if name not in PACKED:
        trips = reports.trip_piece(connection, upload, number)
        return msgspec.json.encode(trips)[1:-1] if trips else None
    found = result_pieces.piece(connection, upload, name, number)
    return None if found is None else found[1].strip()[1:-1]


def _trade(index: int, trade: dict[str, Any], zone: tzinfo) -> list[Any]:
    more = {key: value for key, value in trade.items() if key not in TRADE_KEYS and key != "time"}
    kept = msgspec.json.encode(more).decode() if more else ""
    known = [trade.get(key) for key in TRADE_KEYS]
    return [index, trade.get("time"), date(trade.get("time"), zone), *known, kept]


def lines(rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    return value


def date(time: Any, zone: tzinfo = UTC, precision: str = "seconds") -> str:
    """Nothing for what is not a time, and for one that no calendar has."""
    try:
        found = moment(float(time), zone)
    except (TypeError, ValueError, OverflowError):
        return ""
    return "" if found is None else found.isoformat(timespec=precision)
