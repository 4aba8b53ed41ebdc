"""Versions: a model's uploads, numbered from 1 without gaps."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import NoSuchModel, NoSuchVersion
from tapeline.ids import new_id
from tapeline.models.archives.manifest import Manifest
from tapeline.models.models import Model
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import versions


class Version(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    model_id: str
    number: int
    description: str
    archive: str
    """The name of its blob: the hash of the zip."""
    content: str | None = None
    """The digest of its content; versions from before digests were kept have none."""
    size: int
    manifest: Manifest
    plan: str
    python_version: str
    lock: str | None = None
    """The exact packages that its requirements were resolved to at the first installation."""
    created_at: float
    created_by: str


def add(
    connection: Connection,
    actor: Actor,
    model: Model,
    *,
    archive: str,
    content: str,
    size: int,
    manifest: Manifest,
    plan: str,
    python_version: str,
    description: str,
) -> Version:
    # Locked, or two servers could give one number twice.
    mine = select(models.c.id).where(models.c.id == model.id).with_for_update()
    if connection.execute(mine).first() is None:
        raise NoSuchModel
    last = connection.scalar(
        select(func.max(versions.c.number)).where(versions.c.model_id == model.id)
    )
    version = Version(
        id=new_id(),
        model_id=model.id,
        number=(last or 0) + 1,
        description=description,
        archive=archive,
        content=content,
        size=size,
        manifest=manifest,
        plan=plan,
        python_version=python_version,
        created_at=time.time(),
        created_by=actor.label,
    )
    columns = msgspec.structs.asdict(version) | {"manifest": msgspec.to_builtins(manifest)}
    connection.execute(insert(versions).values(columns))
    audit.record(
        connection,
        actor,
        "version_uploaded",
        f"model:{model.id}",
        project_id=model.project_id,
        version=version.number,
        version_id=version.id,
    )
    return version


def of_model(
    connection: Connection,
    model_id: str,
    *,
    before: int | None = None,
    content: str | None = None,
    limit: int | None = None,
) -> list[Version]:
    """Newest first. The caller has checked that the model may be seen."""
    query = select(versions).where(versions.c.model_id == model_id)
    if content is not None:
        query = query.where(versions.c.content == content)
    if before is not None:
        query = query.where(versions.c.number < before)
    query = query.order_by(versions.c.number.desc()).limit(limit)
    return [_version(row) for row in connection.execute(query)]


def get(connection: Connection, model_id: str, version_id: str) -> Version:
    row = connection.execute(
        select(versions).where(versions.c.id == version_id, versions.c.model_id == model_id)
    ).first()
    if row is None:
        raise NoSuchVersion
    return _version(row)


def numbers(connection: Connection, version_ids: Iterable[str]) -> dict[str, int]:
    query = select(versions.c.id, versions.c.number).where(versions.c.id.in_(list(version_ids)))
    return {row.id: row.number for row in connection.execute(query)}


def newest(connection: Connection, model_id: str) -> Version | None:
    return next(iter(of_model(connection, model_id, limit=1)), None)


def set_lock(connection: Connection, version_id: str, lock: str) -> None:
    connection.execute(update(versions).where(versions.c.id == version_id).values(lock=lock))


def archived_bytes(connection: Connection, project_id: str) -> int:
    """What the archives of a project's versions take; equal ones are kept once."""
    kept = _of_project(project_id).subquery()
    return int(connection.scalar(select(func.sum(kept.c.size))) or 0)


def is_archived(connection: Connection, project_id: str, archive: str) -> bool:
    query = _of_project(project_id).where(versions.c.archive == archive)
    return connection.execute(query.limit(1)).first() is not None


def _of_project(project_id: str) -> Select[tuple[str, int]]:
    query = select(versions.c.archive, versions.c.size).distinct()
    return query.join(models, models.c.id == versions.c.model_id).where(
        models.c.project_id == project_id
    )


def unused(connection: Connection, archives: Sequence[str]) -> set[str]:
    """The blobs among these that no version refers to."""
    used = connection.scalars(select(versions.c.archive).where(versions.c.archive.in_(archives)))
    return set(archives) - set(used)


def _version(row: Any) -> Version:
    columns = dict(row._mapping)
    return Version(**columns | {"manifest": msgspec.convert(columns["manifest"], Manifest)})
