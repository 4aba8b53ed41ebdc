"""Projects: each has models, keys and members. Everybody has a personal one."""

import time

import msgspec
from sqlalchemy import Connection, Label, delete, func, insert, select, update

from tapeline.accounts import audit, members
from tapeline.accounts.actor import Actor
from tapeline.accounts.members import Right, Role
from tapeline.accounts.users import User
from tapeline.errors import NoSuchProject, PersonalProject
from tapeline.ids import new_id
from tapeline.models import models
from tapeline.models.texts import checked_description, checked_name
from tapeline.store.rows import record
from tapeline.store.tables import core


class Project(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    description: str
    created_at: float


class OwnProject(Project, frozen=True, kw_only=True):
    """A project as one of its members sees it."""

    role: Role
    may: tuple[Right, ...]
    """What the role allows; everything else is refused."""
    models: int


def create(
    connection: Connection, actor: Actor, user: User, name: str, description: str
) -> Project:
    project = _insert(connection, new_id(), user, name, description)
    audit.record(
        connection,
        actor,
        "project_created",
        f"project:{project.id}",
        project_id=project.id,
        name=project.name,
    )
    return project


def create_personal(connection: Connection, user: User) -> Project:
    """Its id is the user's id: clients that send their user id as `projectId` mean this one."""
    return _insert(connection, user.id, user, "Personal", f"Personal project of {user.name}")


def of_user(connection: Connection, user_id: str) -> list[OwnProject]:
    """All projects of a person, newest first, in one query however many there are."""
    return _own(connection, user_id)


def get(connection: Connection, actor: Actor, project_id: str) -> OwnProject:
    role = members.require(connection, actor, project_id, "see")
    if actor.kind == "account":
        return _own(connection, actor.id, project_id)[0]
    projects = core.projects
    row = connection.execute(
        select(projects, _model_count()).where(projects.c.id == project_id)
    ).one()
    return record(OwnProject, row, role=role, may=members.rights_of(role))


def change(
    connection: Connection,
    actor: Actor,
    project_id: str,
    *,
    name: str | None,
    description: str | None,
) -> OwnProject:
    members.require(connection, actor, project_id, "manage")
    changes = {}
    if name is not None:
        changes["name"] = checked_name(name)
    if description is not None:
        changes["description"] = checked_description(description)
    if changes:
        projects = core.projects
        connection.execute(update(projects).where(projects.c.id == project_id).values(changes))
        audit.record(
            connection,
            actor,
            "project_changed",
            f"project:{project_id}",
            project_id=project_id,
            **changes,
        )
    return get(connection, actor, project_id)


def remove(connection: Connection, actor: Actor, project_id: str) -> None:
    """Delete a project with all that belongs to it. The audit log stays."""
    members.require(connection, actor, project_id, "own")
    users, projects = core.users, core.projects
    if connection.scalar(select(users.c.id).where(users.c.id == project_id)) is not None:
        raise PersonalProject
    name = connection.scalar(select(projects.c.name).where(projects.c.id == project_id))
    models.delete_rows(connection, core.models.c.project_id == project_id)
    if not connection.execute(delete(projects).where(projects.c.id == project_id)).rowcount:
        raise NoSuchProject
    audit.record(
        connection,
        actor,
        "project_deleted",
        f"project:{project_id}",
        project_id=project_id,
        name=name,
    )


def _insert(
    connection: Connection, project_id: str, owner: User, name: str, description: str
) -> Project:
    project = Project(
        id=project_id,
        name=checked_name(name),
        description=checked_description(description),
        created_at=time.time(),
    )
    connection.execute(insert(core.projects).values(msgspec.structs.asdict(project)))
    members.join(connection, project.id, owner.id, "owner")
    return project


def _own(
    connection: Connection, user_id: str | None, project_id: str | None = None
) -> list[OwnProject]:
    projects = core.projects
    query = (
        select(projects, core.members.c.role, _model_count())
        .join(core.members, core.members.c.project_id == projects.c.id)
        .where(core.members.c.user_id == user_id)
        .order_by(projects.c.created_at.desc(), projects.c.id)
    )
    if project_id is not None:
        query = query.where(projects.c.id == project_id)
    return [
        record(OwnProject, row, may=members.rights_of(row.role))
        for row in connection.execute(query)
    ]


def _model_count() -> Label[int]:
    models = core.models
    return (
        select(func.count())
        .select_from(models)
        .where(models.c.project_id == core.projects.c.id)
        .scalar_subquery()
        .label("models")
    )
