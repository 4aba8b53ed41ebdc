"""Models: each owns a tape, versions and runs. This module keeps their names and last choices."""

import time
from typing import Literal, get_args

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from tapeline.accounts import audit, members
from tapeline.accounts.actor import Actor
from tapeline.accounts.members import Right
from tapeline.errors import Invalid, NoSuchModel, NoSuchProject
from tapeline.ids import new_id
from tapeline.models.texts import checked_description, checked_name
from tapeline.store.rows import record
from tapeline.store.tables import core

ModelType = Literal["strategy", "screener"]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    project_id: str
    name: str
    type: ModelType
    description: str
    created_at: float
    plan: str | None = None
    python_version: str | None = None


def create(
    connection: Connection,
    actor: Actor,
    project_id: str,
    *,
    name: str,
    type: str,
    description: str,
) -> Model:
    members.require(connection, actor, project_id, "change_models")
    model = Model(
        id=new_id(),
        project_id=project_id,
        name=checked_name(name),
        type=checked_type(type),
        description=checked_description(description),
        created_at=time.time(),
    )
    connection.execute(insert(core.models).values(msgspec.structs.asdict(model)))
    audit.record(
        connection,
        actor,
        "model_created",
        f"model:{model.id}",
        project_id=project_id,
        name=model.name,
    )
    return model


def of_project(connection: Connection, actor: Actor, project_id: str) -> list[Model]:
    members.require(connection, actor, project_id, "see")
    models = core.models
    query = (
        select(models)
        .where(models.c.project_id == project_id)
        .order_by(models.c.created_at.desc(), models.c.id)
    )
    return [record(Model, row) for row in connection.execute(query)]


def of_user(connection: Connection, user_id: str) -> list[Model]:
    """All models in all projects of a person, newest first."""
    models, own = core.models, core.members
    query = (
        select(models)
        .join(own, own.c.project_id == models.c.project_id)
        .where(own.c.user_id == user_id)
        .order_by(models.c.created_at.desc(), models.c.id)
    )
    return [record(Model, row) for row in connection.execute(query)]


def get(connection: Connection, actor: Actor, project_id: str, model_id: str) -> Model:
    members.require(connection, actor, project_id, "see")
    models = core.models
    row = connection.execute(
        select(models).where(models.c.id == model_id, models.c.project_id == project_id)
    ).first()
    if row is None:
        raise NoSuchModel
    return record(Model, row)


def find(
    connection: Connection,
    actor: Actor,
    model_id: str,
    project_id: str | None = None,
    right: Right = "see",
) -> Model:
    """A model by its id alone, or in the project that the caller names."""
    models = core.models
    if project_id is not None:
        members.require(connection, actor, project_id, "see")
    row = connection.execute(select(models).where(models.c.id == model_id)).first()
    if row is None or project_id not in {None, row.project_id}:
        raise NoSuchModel
    try:
        members.require(connection, actor, row.project_id, right)
    except NoSuchProject:
        raise NoSuchModel from None
    return record(Model, row)


def change(connection: Connection, actor: Actor, model: Model, **changes: str) -> Model:
    """Change what differs of name, type, description, plan and python_version."""
    new = {name: text for name, text in changes.items() if getattr(model, name) != text}
    if not new:
        return model
    connection.execute(update(core.models).where(core.models.c.id == model.id).values(**new))
    audit.record(
        connection,
        actor,
        "model_changed",
        f"model:{model.id}",
        project_id=model.project_id,
        **{name: text for name, text in new.items() if name != "description"},
    )
    return msgspec.structs.replace(model, **new)


def remove(connection: Connection, actor: Actor, project_id: str, model_id: str) -> None:
    members.require(connection, actor, project_id, "change_models")
    model = get(connection, actor, project_id, model_id)
    delete_rows(connection, core.models.c.id == model_id)
    audit.record(
        connection,
        actor,
        "model_deleted",
        f"model:{model_id}",
        project_id=project_id,
        name=model.name,
    )


def delete_rows(connection: Connection, which: ColumnElement[bool]) -> list[str]:
    """Every deletion goes through here, of projects too. The rest of what belongs to the models is
    cleaned up later, in the background."""
    models = core.models
    ids = list(connection.scalars(select(models.c.id).where(which)))
    now = time.time()
    if ids:
        connection.execute(insert(core.deleted_models), [{"id": one, "at": now} for one in ids])
    connection.execute(delete(models).where(which))
    return ids


def checked_type(text: str) -> ModelType:
    known: tuple[ModelType, ...] = get_args(ModelType)
    for one in known:
        if text == one:
            return one
    raise Invalid(f"`type` is {text!r}; it must be strategy or screener.", field="type")
