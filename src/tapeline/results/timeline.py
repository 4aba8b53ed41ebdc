"""Marks on a model's record that come from its runs: when a version took over, when nothing ran."""

import math
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, select

from tapeline.results.chart import Window
from tapeline.store.run_tables import runs, versions

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


def marks(connection: Connection, model_id: str, window: Window) -> list[Mark]:
    """Oldest first. One record per model: these say what changed underneath it."""
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
    rows = sorted(connection.execute(query).all(), key=lambda row: float(row.started_at))
    since = -math.inf if window.since is None else window.since
    until = math.inf if window.until is None else window.until
    return [one for one in _marks(rows) if one.time <= until and _end(one) >= since]


def _marks(rows: list[Row[*tuple[Any, ...]]]) -> list[Mark]:
    found: list[Mark] = []
    before: Row[*tuple[Any, ...]] | None = None
    for row in rows:
        if before is not None and before.ended_at is not None:
            found.extend(_downtime(before, row.started_at))
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
        found.extend(_downtime(before, None))
    return found


def _end(mark: Mark) -> float:
    if mark.kind == "version":
        return mark.time
    return math.inf if mark.until is None else mark.until


def _downtime(row: Row[*tuple[Any, ...]], until: float | None) -> list[Mark]:
    if until is not None and until - row.ended_at < SHORTEST:
        return []
    return [Mark(kind="downtime", time=row.ended_at, until=until, run_id=row.id, reason=row.reason)]
