"""Who did what to which thing, when and from where. Written in the transaction of the change."""

import time
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, insert, select

from tapeline.accounts.actor import Actor
from tapeline.store.backends import announcing
from tapeline.store.rows import record as as_record
from tapeline.store.tables.core import audit

ENDS_RIGHTS = {
    "key_deleted", "member_removed", "member_role_changed", "model_deleted", "password_changed",
    "project_deleted", "share_changed", "share_revoked", "signed_out", "user_disabled",
}  # fmt: skip
"""Actions after which somebody may see less than before. What is being sent on any server of the
installation is authorised again at once, and not only at its next look."""


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
    if action in ENDS_RIGHTS:
        announcing.announce(connection, "", [announcing.RIGHTS])


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
