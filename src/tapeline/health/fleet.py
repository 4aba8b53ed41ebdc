"""All models in numbers, for the metrics: their states, and how long ago each was heard of.

The number of series is bounded: only models that run or have sent something in the last day have
series of their own, and of those at most so many.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.runs.run import DEPLOYED
from tapeline.store.backends import steady
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs, samples
from tapeline.store.tables.tape import tapes

MOST = 1_000
RECENT = 86_400.0  # seconds
NEVER_RAN = "never_ran"


class ModelNumbers(msgspec.Struct, frozen=True):
    id: str
    project_id: str
    name: str
    running: bool
    restarts: int
    """Of its current run."""
    event_age: float | None
    """Seconds since an event arrived, to ten seconds; None if none ever did."""
    heartbeat_age: float | None
    """Seconds since its processes were last seen on their host; None if it does not run."""


class Fleet(msgspec.Struct, frozen=True):
    states: dict[str, int]
    """Models by the state of their newest live or scheduled run."""
    open_runs: dict[tuple[str, str], int]
    """Runs that have not ended, by kind and state."""
    models: list[ModelNumbers]


def look(connection: Connection) -> Fleet:
    age = steady.clock_of(connection).age
    kinds = select(runs.c.kind, runs.c.state, func.count().label("number"))
    grouped = kinds.where(runs.c.ended_at.is_(None)).group_by(runs.c.kind, runs.c.state)
    open_runs = {(row.kind, row.state): row.number for row in connection.execute(grouped)}
    found = connection.execute(_QUERY).all()
    states = Counter(row.state or NEVER_RAN for row in found)
    heard = [row for row in found if _is_open(row) or (row.heard_at and age(row.heard_at) < RECENT)]
    heard.sort(key=lambda row: (_is_open(row), row.heard_at or 0.0), reverse=True)
    return Fleet(dict(states), open_runs, [_numbers(row, age) for row in heard[:MOST]])


# One look into an index per model, however many runs and samples it has.
_own = runs.alias()
_newest = (
    select(_own.c.id)
    .where(_own.c.model_id == models.c.id, _own.c.kind.in_(DEPLOYED))
    .order_by(_own.c.created_at.desc())
    .limit(1)
    .scalar_subquery()
)
_seen_at = select(func.max(samples.c.at)).where(samples.c.run_id == runs.c.id).scalar_subquery()
_QUERY = (
    select(
        models.c.id,
        models.c.project_id,
        models.c.name,
        runs.c.state,
        runs.c.restarts,
        runs.c.started_at,
        runs.c.ended_at,
        tapes.c.signed_at.label("heard_at"),
        _seen_at.label("seen_at"),
    )
    .select_from(models)
    .outerjoin(runs, runs.c.id == _newest)
    .outerjoin(tapes, tapes.c.model_id == models.c.id)
)


def _is_open(row: Any) -> bool:
    return row.state is not None and row.ended_at is None


def _numbers(row: Any, age: Callable[[float], float]) -> ModelNumbers:
    running = row.state == "running"
    # Right after its start nobody has looked yet.
    seen_at = max(row.seen_at or 0.0, row.started_at or 0.0)
    return ModelNumbers(
        row.id,
        row.project_id,
        row.name,
        running,
        row.restarts or 0,
        age(row.heard_at) if row.heard_at else None,
        age(seen_at) if running and seen_at else None,
    )
