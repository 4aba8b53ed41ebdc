"""Metrics of a live model: of the series that it, or its bookkeeping, says it earned."""

import hashlib
import threading
from collections import OrderedDict
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.records import Measured
from tapeline.results.round_trips import Matched
from tapeline.store.tape_tables import states

REMEMBERED = 500  # models whose metrics are kept at hand
NO_SERIES = "There is no profit and loss yet."

Key = tuple[int, bytes]


class LiveSeries(msgspec.Struct, frozen=True):
    """Times and values as they came, and what tells one state of them from the next."""

    times: list[float]
    values: list[float]
    is_money: bool
    """Profit and loss in money; otherwise the value of the account."""
    matched: Matched | None = None
    """The round trips, where whoever keeps the books has matched them."""


class LiveMetrics:
    """Computed once for each state of a model's series."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, dict[str, Measured]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, connection: Connection, tape: int) -> dict[str, Measured] | None:
        """None when there is no series."""
        stored = _stored(connection, tape)
        if stored is None:
            return None
        key = (tape, hashlib.sha256(stored).digest())
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = _computed(live_series(stored))
        with self._lock:
            self._known[key] = found
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return found


def live_series(stored: bytes) -> LiveSeries:
    """The seam to whoever keeps the books: today the series that the model set by `set-pnl`."""
    points: list[dict[str, Any]] = msgspec.json.decode(stored)["values"]
    nan = float("nan")
    return LiveSeries(
        [point["time"] for point in points],
        [nan if point["value"] is None else point["value"] for point in points],
        is_money=True,
    )


def _stored(connection: Connection, tape: int) -> bytes | None:
    found = connection.scalar(
        select(states.c.value).where(states.c.tape == tape, states.c.name == "pnl")
    )
    return None if found is None else bytes(found)


def _computed(series: LiveSeries) -> dict[str, Measured]:
    from tapeline.results import metrics  # noqa: PLC0415 - start-up stays light
    from tapeline.results.account import Account, ordered  # noqa: PLC0415
    from tapeline.results.measures import Subject  # noqa: PLC0415

    account = Account(ordered(series.times, series.values), is_money=series.is_money)
    return metrics.compute(Subject(account, series.matched))
