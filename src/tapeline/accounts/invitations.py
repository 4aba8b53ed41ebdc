"""Invitations to a project: a link that works once and expires.

It expires by the clock that does not jump: `expires_at` in the table is a stamp of
`steady.with_pauses`.
"""

import time
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from tapeline.accounts import audit, members
from tapeline.accounts.actor import Actor
from tapeline.accounts.members import Role
from tapeline.accounts.users import User
from tapeline.errors import NoSuchInvitation
from tapeline.ids import fingerprint, new_id, new_secret
from tapeline.store.backends import steady
from tapeline.store.rows import record
from tapeline.store.tables.core import invitations, projects

DAY = 24 * 3600


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    role: Role
    invited_by: str
    created_at: float
    expires_at: float


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What a person with the link may see before accepting."""

    id: str
    project_id: str
    project: str
    role: Role
    invited_by: str
    expires_at: float


Shown = TypeVar("Shown", Invitation, Offer)


def invite(
    connection: Connection, actor: Actor, project_id: str, role: Role, days: int
) -> tuple[str, Invitation]:
    """Make an invitation and give the secret for its link. Only owners make owners."""
    members.require(connection, actor, project_id, "own" if role == "owner" else "manage")
    secret, ends = new_secret(), steady.with_pauses(connection) + days * DAY
    invitation = Invitation(
        id=new_id(),
        role=role,
        invited_by=actor.label,
        created_at=time.time(),
        expires_at=ends,
    )
    connection.execute(
        insert(invitations).values(
            **msgspec.structs.asdict(invitation),
            project_id=project_id,
            author_id=actor.id,
            secret_hash=fingerprint(secret),
        )
    )
    audit.record(
        connection,
        actor,
        "invitation_made",
        f"invitation:{invitation.id}",
        project_id=project_id,
        role=role,
    )
    return secret, _shown(connection, invitation)


def open_of(connection: Connection, actor: Actor, project_id: str) -> list[Invitation]:
    members.require(connection, actor, project_id, "manage")
    query = (
        select(
            invitations.c.id,
            invitations.c.role,
            invitations.c.invited_by,
            invitations.c.created_at,
            invitations.c.expires_at,
        )
        .where(invitations.c.project_id == project_id, *_usable(connection))
        .order_by(invitations.c.created_at.desc(), invitations.c.id)
    )
    return [_shown(connection, record(Invitation, row)) for row in connection.execute(query)]


def withdraw(connection: Connection, actor: Actor, project_id: str, invitation_id: str) -> None:
    members.require(connection, actor, project_id, "manage")
    gone = connection.execute(
        delete(invitations).where(
            invitations.c.id == invitation_id,
            invitations.c.project_id == project_id,
            *_usable(connection),
        )
    )
    if not gone.rowcount:
        raise NoSuchInvitation
    audit.record(
        connection,
        actor,
        "invitation_withdrawn",
        f"invitation:{invitation_id}",
        project_id=project_id,
    )


def offer(connection: Connection, secret: str) -> Offer:
    row = connection.execute(
        select(
            invitations.c.id,
            invitations.c.project_id,
            projects.c.name.label("project"),
            invitations.c.role,
            invitations.c.invited_by,
            invitations.c.expires_at,
        )
        .join(projects, projects.c.id == invitations.c.project_id)
        .where(invitations.c.secret_hash == fingerprint(secret), *_usable(connection))
    ).first()
    if row is None:
        raise NoSuchInvitation
    return _shown(connection, record(Offer, row))


def author(connection: Connection, secret: str) -> str | None:
    """The account that made it; None for invitations of earlier versions."""
    query = select(invitations.c.author_id)
    found: str | None = connection.scalar(
        query.where(invitations.c.secret_hash == fingerprint(secret))
    )
    return found


def accept(connection: Connection, actor: Actor, user: User, secret: str) -> Offer:
    """Join by the link. The conditional update decides if two people come at the same time."""
    offered = offer(connection, secret)
    members.join(connection, offered.project_id, user.id, offered.role)
    claimed = connection.execute(
        update(invitations)
        .where(invitations.c.id == offered.id, *_usable(connection))
        .values(used_at=time.time(), used_by=user.id)
    )
    if not claimed.rowcount:
        raise NoSuchInvitation
    audit.record(
        connection,
        actor,
        "member_joined",
        f"user:{user.id}",
        project_id=offered.project_id,
        email=user.email,
        role=offered.role,
        invitation=offered.id,
    )
    return offered


def _usable(connection: Connection) -> tuple[Any, ...]:
    now = steady.with_pauses(connection)
    return invitations.c.used_at.is_(None), invitations.c.expires_at > now


def _shown(connection: Connection, found: Shown) -> Shown:
    return msgspec.structs.replace(found, expires_at=steady.shown(connection, found.expires_at))
