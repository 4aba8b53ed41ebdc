"""Starter models published by users: a version under a name, for everyone who signs in.

Publishing shows the version's files to every account of the installation, so it takes the right to
change the model, and the audit log says who did it.
"""

import re
import time

import msgspec
from sqlalchemy import Connection, delete, insert, select

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import Invalid, NoSuchStarter, StarterNameTaken
from tapeline.models import starters
from tapeline.models.models import Model
from tapeline.models.versions import Version
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import published_starters, versions

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


class Published(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    model_id: str
    version_id: str
    type: str
    archive: str
    """The name of its blob."""
    published_at: float
    published_by: str


def publish(
    connection: Connection, actor: Actor, model: Model, version: Version, name: str
) -> Published:
    """The same name again from the same model publishes a newer version."""
    if NAME.fullmatch(name) is None:
        raise Invalid(
            "`name` must have 1 to 40 lower-case letters, digits and hyphens.", field="name"
        )
    if any(one.name == name for one in starters.listed()):
        raise StarterNameTaken
    there = _find(connection, name)
    if there is not None and there.model_id != model.id:
        raise StarterNameTaken
    connection.execute(delete(published_starters).where(published_starters.c.name == name))
    made = Published(
        name=name,
        model_id=model.id,
        version_id=version.id,
        type=model.type,
        archive=version.archive,
        published_at=time.time(),
        published_by=actor.label,
    )
    columns = msgspec.structs.asdict(made)
    row = {column.name: columns[column.name] for column in published_starters.columns}
    connection.execute(insert(published_starters).values(row))
    _record(connection, actor, model, "starter_published", name)
    return made


def withdraw(connection: Connection, actor: Actor, model: Model, name: str) -> None:
    there = _find(connection, name)
    if there is None or there.model_id != model.id:
        raise NoSuchStarter
    connection.execute(delete(published_starters).where(published_starters.c.name == name))
    _record(connection, actor, model, "starter_withdrawn", name)


def everyone(connection: Connection) -> list[Published]:
    rows = connection.execute(_QUERY.order_by(published_starters.c.name))
    return [Published(**row._mapping) for row in rows]


def find(connection: Connection, name: str) -> Published:
    found = _find(connection, name)
    if found is None:
        raise NoSuchStarter
    return found


_QUERY = (
    select(published_starters, models.c.type, versions.c.archive)
    .join(models, models.c.id == published_starters.c.model_id)
    .join(versions, versions.c.id == published_starters.c.version_id)
)


def _find(connection: Connection, name: str) -> Published | None:
    row = connection.execute(_QUERY.where(published_starters.c.name == name)).first()
    return None if row is None else Published(**row._mapping)


def _record(connection: Connection, actor: Actor, model: Model, what: str, name: str) -> None:
    audit.record(
        connection, actor, what, f"model:{model.id}", project_id=model.project_id, starter=name
    )
