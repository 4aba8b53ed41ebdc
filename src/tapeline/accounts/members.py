"""Members of a project and what their roles allow. Outsiders do not even learn that it exists."""

import time
from typing import Literal, get_args

import msgspec
from sqlalchemy import Connection, delete, select, update

from tapeline.accounts import audit, lost_rights
from tapeline.accounts.actor import Actor
from tapeline.errors import (
    AlreadyMember,
    Forbidden,
    Invalid,
    LastOwner,
    NoSuchMember,
    NoSuchProject,
    PersonalProject,
)
from tapeline.store import upsert
from tapeline.store.rows import record
from tapeline.store.tables.core import members, users

Role = Literal["owner", "admin", "member", "viewer"]
Right = Literal["see", "change_models", "use_keys", "manage", "own"]

ROLES: tuple[Role, ...] = get_args(Role)
ALLOWED: dict[Right, tuple[Role, ...]] = {
    "see": ("owner", "admin", "member", "viewer"),
    "change_models": ("owner", "admin", "member"),
    "use_keys": ("owner", "admin", "member"),
    "manage": ("owner", "admin"),
    "own": ("owner",),
}


class Member(msgspec.Struct, frozen=True, kw_only=True):
    user_id: str
    email: str
    name: str
    role: Role
    since: float


def role_in(connection: Connection, actor: Actor, project_id: str) -> Role | None:
    """The actor's role, None for an outsider. A key sees its own project as a viewer does."""
    if actor.kind == "key":
        return "viewer" if actor.project_id == project_id else None
    role: Role | None = connection.scalar(
        select(members.c.role).where(
            members.c.project_id == project_id, members.c.user_id == actor.id
        )
    )
    return role


def require(connection: Connection, actor: Actor, project_id: str, right: Right) -> Role:
    """The actor's role if it allows this; otherwise 404 for outsiders and 403 for teammates."""
    role = role_in(connection, actor, project_id)
    if role is None:
        raise NoSuchProject
    if role not in ALLOWED[right]:
        allowed = " or ".join(ALLOWED[right])
        raise Forbidden(
            f"You are {_a(role)} of this project; this takes {_a(allowed)}. Ask an owner or admin."
        )
    return role


def rights_of(role: Role) -> tuple[Right, ...]:
    """All that a role allows, for pages that offer nothing that would be refused."""
    return tuple(right for right, roles in ALLOWED.items() if role in roles)


def check_role(text: str) -> Role:
    for role in ROLES:
        if text == role:
            return role
    raise Invalid(f"`role` must be one of {', '.join(ROLES)}.", field="role")


def join(connection: Connection, project_id: str, user_id: str, role: Role) -> None:
    row = {"project_id": project_id, "user_id": user_id, "role": role, "since": time.time()}
    # The same person may come twice at once, on two servers: the row itself decides.
    if not upsert.claim(connection, members, **row):
        raise AlreadyMember


def of_project(connection: Connection, project_id: str) -> list[Member]:
    query = (
        select(members.c.user_id, users.c.email, users.c.name, members.c.role, members.c.since)
        .join(users, users.c.id == members.c.user_id)
        .where(members.c.project_id == project_id)
        .order_by(members.c.since, members.c.user_id)
    )
    return [record(Member, row) for row in connection.execute(query)]


def set_role(
    connection: Connection, actor: Actor, project_id: str, user_id: str, role: Role
) -> Member:
    require(connection, actor, project_id, "manage")
    present = _present(connection, actor, project_id, user_id)
    if role == "owner":
        require(connection, actor, project_id, "own")
    if present.role == "owner" and role != "owner":
        _keep_an_owner(connection, project_id, user_id)
    connection.execute(
        update(members)
        .where(members.c.project_id == project_id, members.c.user_id == user_id)
        .values(role=role)
    )
    _end_lost_rights(connection, project_id, present, role)
    audit.record(
        connection,
        actor,
        "member_role_changed",
        f"user:{user_id}",
        project_id=project_id,
        email=present.email,
        before=present.role,
        after=role,
    )
    return msgspec.structs.replace(present, role=role)


def remove(connection: Connection, actor: Actor, project_id: str, user_id: str) -> None:
    """Remove a member; members may also remove themselves."""
    require(connection, actor, project_id, "see" if actor.id == user_id else "manage")
    present = _present(connection, actor, project_id, user_id)
    if present.role == "owner":
        _keep_an_owner(connection, project_id, user_id)
    connection.execute(
        delete(members).where(members.c.project_id == project_id, members.c.user_id == user_id)
    )
    lost_rights.left(connection, project_id, user_id, present.email)
    audit.record(
        connection,
        actor,
        "member_removed",
        f"user:{user_id}",
        project_id=project_id,
        email=present.email,
        role=present.role,
    )


def _end_lost_rights(connection: Connection, project_id: str, before: Member, now: Role) -> None:
    if ROLES.index(now) <= ROLES.index(before.role):
        return
    may_invite = now in ALLOWED["manage"]
    end = lost_rights.no_owner if may_invite else lost_rights.left
    end(connection, project_id, before.user_id, before.email)


def _present(connection: Connection, actor: Actor, project_id: str, user_id: str) -> Member:
    """The member, if the actor may change them: only owners change owners."""
    present = next(
        (one for one in of_project(connection, project_id) if one.user_id == user_id), None
    )
    if present is None:
        raise NoSuchMember
    if present.role == "owner":
        require(connection, actor, project_id, "own")
    return present


def _keep_an_owner(connection: Connection, project_id: str, leaving: str) -> None:
    if leaving == project_id:
        raise PersonalProject("The owner of a personal project cannot be changed.")
    # Locked, or two owners could leave at once on two servers.
    owners = connection.execute(
        select(members.c.user_id)
        .where(members.c.project_id == project_id, members.c.role == "owner")
        .with_for_update()
    ).all()
    if len(owners) < 2:
        raise LastOwner


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
