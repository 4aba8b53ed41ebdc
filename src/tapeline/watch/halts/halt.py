"""A halt, and the models in it."""

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, or_, select

from tapeline.store.rows import record
from tapeline.store.tables.watch import halted_models, halts

ELSEWHERE = ""
"""In place of a run: the model runs elsewhere and only reports."""


class Halt(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    project_id: str | None
    """None if it is about everything on this installation, or on one machine of it."""
    why: str
    at: float
    by: str
    resumed_at: float | None = None
    resumed_by: str | None = None
    host: str | None = None
    """The machine that it is about. Nothing enforces it but the hold on that machine's disk."""

    @property
    def scope(self) -> str:
        return "machine" if self.host else "project" if self.project_id else "server"


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


def scopes_in_force(connection: Connection) -> frozenset[str | None]:
    """The halted projects; None among them if everything is halted."""
    query = select(halts.c.project_id).where(halts.c.resumed_at.is_(None), halts.c.host.is_(None))
    return frozenset(connection.scalars(query))


def on(connection: Connection, project_id: str | None) -> Halt | None:
    """That keeps this project from running: its own, or one of everything."""
    return _newest(connection, _about(project_id), halts.c.resumed_at.is_(None))


def newest(connection: Connection, project_id: str | None) -> Halt | None:
    """The one in force, else the last one that was."""
    return on(connection, project_id) or _newest(connection, _about(project_id))


def _about(project_id: str | None) -> ColumnElement[bool]:
    is_of_all = and_(halts.c.project_id.is_(None), halts.c.host.is_(None))
    return is_of_all if project_id is None else or_(is_of_all, halts.c.project_id == project_id)


def own(connection: Connection, project_id: str | None) -> Halt | None:
    """In force, of exactly this scope."""
    return _newest(
        connection,
        halts.c.project_id.is_not_distinct_from(project_id),
        halts.c.host.is_(None),
        halts.c.resumed_at.is_(None),
    )


def _newest(connection: Connection, *which: ColumnElement[bool]) -> Halt | None:
    query = select(halts).where(*which).order_by(halts.c.at.desc(), halts.c.id).limit(1)
    row = connection.execute(query).first()
    return None if row is None else record(Halt, row)


def rows_of(connection: Connection, halt_id: str) -> list[HaltedModel]:
    query = select(halted_models).where(halted_models.c.halt_id == halt_id)
    ordered = query.order_by(halted_models.c.since, halted_models.c.model_id)
    return [record(HaltedModel, row) for row in connection.execute(ordered)]
