"""Tenants: whose share of the server an account uses.

An account that came by an invitation belongs to the tenant of the account that invited it, because
anyone who may invite can make as many accounts as they like. An account that the operator let in,
or that signed up without an invitation, is a tenant of its own.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from tapeline.accounts.actor import Actor
from tapeline.store.tables.core import members, users

_TENANT = func.coalesce(users.c.tenant_id, users.c.id)


def of_user(connection: Connection, user_id: str) -> str:
    found: str | None = connection.scalar(select(_TENANT).where(users.c.id == user_id))
    return found or user_id


def of_project(connection: Connection, project_id: str) -> str:
    return of_projects(connection, [project_id])[project_id]


def of_projects(connection: Connection, project_ids: Iterable[str]) -> dict[str, str]:
    """By their first owner: others may come and go."""
    wanted = set(project_ids)
    found = {project: project for project in wanted}
    owners = (
        select(members.c.project_id, _TENANT)
        .join(users, users.c.id == members.c.user_id)
        .where(members.c.project_id.in_(wanted), members.c.role == "owner")
        .order_by(members.c.since.desc(), members.c.user_id.desc())
    )
    for project, tenant in connection.execute(owners) if wanted else ():
        found[project] = tenant
    return found


def of_actor(connection: Connection, actor: Actor) -> str:
    """Of a person, or of the project of a key."""
    if actor.project_id is not None:
        return of_project(connection, actor.project_id)
    return of_user(connection, actor.id) if actor.id else ""
