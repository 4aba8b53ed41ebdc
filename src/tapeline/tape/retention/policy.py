"""How many days a project keeps each kind of data. What is about money is always kept.

Orders, their updates, cash, positions, capital, prices and lifecycle have no row here, so nobody
can choose to lose them.
"""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

import msgspec
from sqlalchemy import Connection, delete, select

from tapeline.accounts import audit, members
from tapeline.accounts.actor import Actor
from tapeline.store import upsert
from tapeline.store.tables.core import retention

Kept = Literal["logs", "events", "backtests", "samples"]
KINDS: tuple[Kept, ...] = get_args(Kept)
DAY = 86_400.0

Policy = dict[Kept, int]
"""Days by kind; a kind that is not in it is kept for ever."""


def of_project(connection: Connection, project_id: str) -> Policy:
    return of_all(connection, project_id).get(project_id, {})


def of_all(connection: Connection, project_id: str | None = None) -> dict[str, Policy]:
    """Of each project that has one."""
    query = select(retention)
    if project_id is not None:
        query = query.where(retention.c.project_id == project_id)
    found: dict[str, Policy] = {}
    for row in connection.execute(query):
        found.setdefault(row.project_id, {})[row.kind] = row.days
    return found


def change(
    connection: Connection, actor: Actor, project_id: str, changes: Mapping[Kept, int | None]
) -> None:
    """Set the days of some kinds; None keeps that kind for ever."""
    members.require(connection, actor, project_id, "manage")
    for kind, days in changes.items():
        here = (retention.c.project_id == project_id, retention.c.kind == kind)
        connection.execute(delete(retention).where(*here))
        if days is not None:
            row = upsert.insert(connection, retention)
            connection.execute(row.values(project_id=project_id, kind=kind, days=days))
    if changes:
        subject = f"project:{project_id}"
        audit.record(
            connection, actor, "retention_changed", subject, project_id=project_id,
            **dict(changes.items()),
        )  # fmt: skip


Ago = Callable[[float], float]
"""The wall clock's time so many seconds ago. What is removed is gone, so it must come from a clock
that notices jumps (`store.clock.ago`)."""


def cutoffs(policy: Policy, ago: Ago) -> dict[Kept, float]:
    """What was received before, by kind, goes."""
    return {kind: ago(days * DAY) for kind, days in policy.items()}


class Progress(msgspec.Struct):
    """How far the events of a tape were looked at, and what was removed of them."""

    reached: dict[str, int] = {}
    """By kind of retention."""
    removed: dict[str, int] = {}
    """Events, by kind of retention."""
    until: float = 0.0
    """When the newest of them was received."""
