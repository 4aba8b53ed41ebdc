"""A halt, and the models in it."""

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select

from tapeline.store.rows import record
from tapeline.store.tables.watch import halted_models, halts

ELSEWHERE = ""
"""In place of a run: the model runs elsewhere and only reports."""


class Halt(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    project_id: str | None
    """None if it is about everything on this installation."""
    why: str
    at: float
    by: str
    resumed_at: float | None = None
    resumed_by: str | None = None

    def covers(self, project_id: str) -> bool:
        return self.project_id in (None, project_id)


class HaltedModel(msgspec.Struct, frozen=True, kw_only=True):
    halt_id: str
    model_id: str
    run_id: str
    since: float
    was_desired: bool
    """To run, until the halt."""
    stated_at: float | None = None
    stopped_at: float | None = None
    how: str | None = None
    proof: dict[str, Any] | None = None


def in_force(connection: Connection) -> list[Halt]:
    query = select(halts).where(halts.c.resumed_at.is_(None)).order_by(halts.c.at, halts.c.id)
    return [record(Halt, row) for row in connection.execute(query)]


def on(connection: Connection, project_id: str | None) -> Halt | None:
    """That keeps this project from running: its own, or one of everything."""
    is_of_all = halts.c.project_id.is_(None)
    scope = is_of_all if project_id is None else or_(is_of_all, halts.c.project_id == project_id)
    return _newest(connection, scope, halts.c.resumed_at.is_(None))


def newest(connection: Connection, project_id: str | None) -> Halt | None:
    """The one in force, else the last one that was."""
    is_of_all = halts.c.project_id.is_(None)
    scope = is_of_all if project_id is None else or_(is_of_all, halts.c.project_id == project_id)
    return on(connection, project_id) or _newest(connection, scope)


def own(connection: Connection, project_id: str | None) -> Halt | None:
    """In force, of exactly this scope."""
    return _newest(
        connection,
        halts.c.project_id.is_not_distinct_from(project_id),
        halts.c.resumed_at.is_(None),
    )


def _newest(connection: Connection, *which: ColumnElement[bool]) -> Halt | None:
    query = select(halts).where(*which).order_by(halts.c.at.desc(), halts.c.id).limit(1)
    row = connection.execute(query).first()
    return None if row is None else record(Halt, row)


def rows_of(connection: Connection, halt_ids: Iterable[str]) -> list[HaltedModel]:
    query = select(halted_models).where(halted_models.c.halt_id.in_(list(halt_ids)))
    ordered = query.order_by(halted_models.c.since, halted_models.c.model_id)
    return [record(HaltedModel, row) for row in connection.execute(ordered)]
