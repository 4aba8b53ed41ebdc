"""Who did what to which thing, when and from where. Written in the transaction of the change."""

import time
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, insert, select

from tapeline.accounts.actor import Actor
from tapeline.store.rows import record as as_record
from tapeline.store.tables.core import audit


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    seq: int
    at: float
    actor_kind: str
    actor_id: str | None
    actor: str
    action: str
    project_id: str | None
    subject: str
    details: dict[str, Any]
    address: str


def record(
    connection: Connection,
    actor: Actor,
    action: str,
    subject: str,
    *,
    project_id: str | None = None,
    **details: Any,
) -> None:
    connection.execute(
        insert(audit).values(
            at=time.time(),
            actor_kind=actor.kind,
            actor_id=actor.id,
            actor=actor.label,
            action=action,
            project_id=project_id,
            subject=subject,
            details=details,
            address=actor.address,
        )
    )


def of_project(
    connection: Connection, project_id: str, *, before: int | None, limit: int
) -> list[Entry]:
    return _newest(connection, audit.c.project_id == project_id, before, limit)


def of_account(
    connection: Connection, user_id: str, *, before: int | None, limit: int
) -> list[Entry]:
    """Everything an account did, in any project."""
    return _newest(connection, audit.c.actor_id == user_id, before, limit)


def _newest(
    connection: Connection, which: ColumnElement[bool], before: int | None, limit: int
) -> list[Entry]:
    query = select(audit).where(which).order_by(audit.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.seq < before)
    return [as_record(Entry, row) for row in connection.execute(query)]
