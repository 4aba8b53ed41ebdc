"""A run: its desired state, and its actual one."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.store.rows import record
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs

Kind = Literal["live", "backtest", "screener"]
State = Literal[
    "pending",
    "installing",
    "running",
    "restarting",
    "stopping",
    "stopped",
    "exited",
    "crashed",
    "failed",
]
Desired = Literal["running", "stopped"]

DEPLOYED: tuple[Kind, ...] = ("live", "screener")
"""A model has at most one instance of these at any moment."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    model_id: str
    version_id: str
    kind: Kind
    state: State
    desired: Desired
    reason: str
    plan: str
    memory_mb: int
    cpu_milli: int
    python_version: str
    backtest_id: str | None = None
    arguments: dict[str, Any] | None = None
    description: str = ""
    schedule: str | None = None
    due_at: float | None = None
    host: str | None = None
    fence: int | None = None
    """The fence of the launch that may be alive; None if none is."""
    lease_until: float | None = None
    """By the database's clock, of its newest launch; None if that has no lease."""
    launches: int = 0
    restarts: int = 0
    exit_code: int | None = None
    confinement: str = ""
    journal: int = 0
    refused: int = 0
    created_at: float
    created_by: str
    started_at: float | None = None
    ended_at: float | None = None

    @property
    def is_deployed(self) -> bool:
        return self.kind in DEPLOYED

    @property
    def lock_name(self) -> str:
        """Of the lock that one process at most can hold: all deployed runs of a model share it."""
        return self.model_id if self.is_deployed else self.id

    @property
    def is_launched(self) -> bool:
        """Whether something of it may be alive."""
        return self.fence is not None

    @property
    def is_unstarted(self) -> bool:
        """Whether its newest launch, as far as its journal was read, has not said that it runs."""
        return self.started_at is None or self.state in ("pending", "installing")


def unfinished(connection: Connection, waiting: int) -> list[tuple[Run, str]]:
    """Every run that has not ended, the oldest first, with its project.

    Of the queued backtests, only the first `waiting` of each project: there may be thousands.
    """
    waits = (runs.c.kind == "backtest") & runs.c.host.is_(None) & (runs.c.desired == "running")
    place = func.row_number().over(
        partition_by=[models.c.project_id, waits], order_by=[runs.c.created_at, runs.c.id]
    )
    placed = (
        select(runs, models.c.project_id, (waits & (place > waiting)).label("is_far_behind"))
        .join(models, models.c.id == runs.c.model_id)
        .where(runs.c.ended_at.is_(None))
        .subquery()
    )
    query = select(placed).where(~placed.c.is_far_behind).order_by(placed.c.created_at, placed.c.id)
    return [(record(Run, row), row.project_id) for row in connection.execute(query)]


def find(connection: Connection, run_id: str) -> Run | None:
    row = connection.execute(select(runs).where(runs.c.id == run_id)).first()
    return None if row is None else record(Run, row)


def launched_on(connection: Connection, *hosts: str) -> list[Run]:
    """The runs of which something may be alive on these hosts."""
    query = select(runs).where(
        runs.c.ended_at.is_(None), runs.c.host.in_(hosts), runs.c.fence.is_not(None)
    )
    return [record(Run, row) for row in connection.execute(query)]


def arguments_of(
    connection: Connection, model_id: str, backtest_ids: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """The arguments of backtests that ran here; pushed results have none."""
    query = select(runs.c.backtest_id, runs.c.arguments).where(
        runs.c.model_id == model_id, runs.c.backtest_id.in_(list(backtest_ids))
    )
    return {row.backtest_id: row.arguments or {} for row in connection.execute(query)}


class HostUse(msgspec.Struct, frozen=True):
    host: str
    running: int
    """Runs that have not ended."""
    started_at: float | None
    """When one was last started there."""


def by_host(connection: Connection) -> list[HostUse]:
    """Every host that ever had a run, the busiest first."""
    going = func.count().filter(runs.c.ended_at.is_(None))
    query = (
        select(runs.c.host, going.label("running"), func.max(runs.c.started_at).label("last"))
        .where(runs.c.host.is_not(None))
        .group_by(runs.c.host)
        .order_by(going.desc(), runs.c.host)
    )
    return [HostUse(row.host, row.running, row.last) for row in connection.execute(query)]


def open_among(connection: Connection, run_ids: Iterable[str]) -> set[str]:
    """Those of these that have not ended. The runs of a deleted model are gone."""
    query = select(runs.c.id).where(runs.c.id.in_(list(run_ids)), runs.c.ended_at.is_(None))
    return set(connection.scalars(query))
