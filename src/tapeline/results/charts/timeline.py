"""Marks on a model's record that come from its runs: when a version took over, when nothing ran."""

import math
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from tapeline.results.charts.chart_window import Window
from tapeline.store.tables.runs import runs, versions

MOST = 1_000  # runs that are looked at, the newest
SHORTEST = 1.0  # seconds: one run taking over from another is not yet downtime


class Mark(msgspec.Struct, kw_only=True):
    kind: Literal["version", "downtime"]
    time: float
    until: float | None = None
    """Of downtime: when it ended; null while it lasts."""
    version: int | None = None
    """Of a version: its number."""
    version_id: str | None = None
    run_id: str
    """The run that started, or whose end began the downtime."""
    reason: str = ""


def marks(
    connection: Connection, model_id: str, window: Window, as_of: float = math.inf
) -> list[Mark]:
    """Oldest first, as known at a moment: a run that started or ended later does not count, so that
    a delayed link cannot reveal it."""
    query = (
        select(
            runs.c.id,
            runs.c.version_id,
            runs.c.started_at,
            runs.c.ended_at,
            runs.c.reason,
            versions.c.number,
        )
        .join(versions, versions.c.id == runs.c.version_id)
        .where(runs.c.model_id == model_id, runs.c.kind == "live", runs.c.started_at.is_not(None))
        .order_by(runs.c.created_at.desc())
        .limit(MOST)
    )
    if as_of != math.inf:
        query = query.where(runs.c.started_at <= as_of)
    found = connection.execute(query).all()
    rows = sorted((_known(row, as_of) for row in found), key=lambda row: row.started_at)
    since = -math.inf if window.since is None else window.since
    until = math.inf if window.until is None else window.until
    return [one for one in _marks(rows) if one.time <= until and _end(one) >= since]


class _Run(NamedTuple):
    id: str
    version_id: str
    number: int
    started_at: float
    ended_at: float | None
    reason: str


def _known(row: Row[*tuple[Any, ...]], as_of: float) -> _Run:
    ended = row.ended_at if row.ended_at is not None and row.ended_at <= as_of else None
    return _Run(row.id, row.version_id, row.number, row.started_at, ended, row.reason)


def _marks(rows: list[_Run]) -> list[Mark]:
    found: list[Mark] = []
    before: _Run | None = None
    for row in rows:
        if before is not None and before.ended_at is not None:
            found.extend(_downtime(before, before.ended_at, row.started_at))
        if before is None or before.version_id != row.version_id:
            found.append(
                Mark(
                    kind="version",
                    time=row.started_at,
                    version=row.number,
                    version_id=row.version_id,
                    run_id=row.id,
                )
            )
        before = row
    if before is not None and before.ended_at is not None:
        found.extend(_downtime(before, before.ended_at, None))
    return found


def _end(mark: Mark) -> float:
    if mark.kind == "version":
        return mark.time
    return math.inf if mark.until is None else mark.until


def _downtime(run: _Run, since: float, until: float | None) -> list[Mark]:
    if until is not None and until - since < SHORTEST:
        return []
    return [Mark(kind="downtime", time=since, until=until, run_id=run.id, reason=run.reason)]
