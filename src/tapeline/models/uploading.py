"""Decides what an upload or a start means: which model, which plan, which Python, by one set of
rules.

`resolve` only reads and refuses, so it can run before an archive is kept; `store` then records.
"""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members
from tapeline.accounts.actor import Actor
from tapeline.errors import Invalid, MissingField, QuotaExceeded, UnknownPython
from tapeline.models import models, plans, texts, versions
from tapeline.models.archives.manifest import Manifest
from tapeline.models.models import Model
from tapeline.models.plans import Plan
from tapeline.models.versions import Version

LATER = 600
"""Seconds after which to try again when a project's archives are full: somebody has to make room
first."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """The request's values; None where it has none."""

    model_id: str | None = None
    project_id: str | None = None
    create_new: bool = False
    name: str | None = None
    general_description: str | None = None
    version_description: str = ""
    type: str | None = None
    plan: str | None = None
    python_version: str | None = None


class Offer(msgspec.Struct, frozen=True):
    """What this server offers for this use."""

    plans: dict[str, Plan]
    pythons: Sequence[str]
    """Newest first."""
    archive_bytes: int
    """What the archives of a project's versions may hold."""


class Archive(msgspec.Struct, frozen=True):
    """A checked archive under its blob's name."""

    name: str
    size: int
    manifest: Manifest
    content: str
    """The digest of what it holds."""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    model: Model | None
    """None if a new model is to be made."""
    project_id: str
    type: str
    plan: Plan
    python_version: str


def check_rights(connection: Connection, actor: Actor, wish: Wish) -> None:
    """Check that the actor may upload this, before anybody reads the archive."""
    if _model(connection, actor, wish) is None:
        _new_models_project(connection, actor, wish)


def resolve(
    connection: Connection, actor: Actor, wish: Wish, archive: Archive, offer: Offer
) -> Resolved:
    model = _model(connection, actor, wish)
    if model is None:
        project_id = _new_models_project(connection, actor, wish)
        if wish.name is None:
            raise MissingField("`name` is required for a new model.", field="name")
    else:
        project_id = model.project_id
    if wish.name is not None:
        texts.checked_name(wish.name)
    _check_description(wish.general_description or "", "generalDescription")
    _check_description(wish.version_description, "versionDescription")
    _require_room(connection, project_id, archive, offer.archive_bytes)
    manifest = archive.manifest
    known = model.type if model else "strategy"
    last_plan, last_python = (model.plan, model.python_version) if model else (None, None)
    plan = wish.plan or manifest.plan or last_plan
    python = wish.python_version or manifest.python_version or last_python
    return Resolved(
        model=model,
        project_id=project_id,
        type=models.checked_type(wish.type or manifest.type or known),
        plan=plans.chosen(offer.plans, plan) if plan else plans.default(offer.plans),
        python_version=checked_python(offer.pythons, python),
    )


def _require_room(connection: Connection, project_id: str, archive: Archive, most: int) -> None:
    """Content that the project keeps already takes no more room: going back is always possible."""
    if versions.is_archived(connection, project_id, archive.name):
        return
    if versions.archived_bytes(connection, project_id) + archive.size > most:
        raise QuotaExceeded(
            "The archives of this project's versions would hold more than they may:"
            f" {most // 10**9:,} GB (`quota_archives`). Nothing of this upload was stored. Delete"
            " models that you no longer need, or ask the operator for more.",
            retry_after=LATER,
        )


def store(
    connection: Connection,
    actor: Actor,
    wish: Wish,
    resolved: Resolved,
    archive: Archive,
    *,
    remembered_plan: bool = True,
) -> tuple[Model, Version]:
    """Record a version, of a new or an existing model."""
    model = resolved.model or models.create(
        connection,
        actor,
        resolved.project_id,
        name=wish.name or "",
        type=resolved.type,
        description=wish.general_description or "",
    )
    changes = {"type": resolved.type, "python_version": resolved.python_version}
    if remembered_plan:
        changes["plan"] = resolved.plan.name
    if wish.name is not None:
        changes["name"] = texts.checked_name(wish.name)
    if wish.general_description:
        changes["description"] = wish.general_description
    model = models.change(connection, actor, model, **changes)
    version = versions.add(
        connection,
        actor,
        model,
        archive=archive.name,
        content=archive.content,
        size=archive.size,
        manifest=archive.manifest,
        plan=resolved.plan.name,
        python_version=resolved.python_version,
        description=wish.version_description,
    )
    return model, version


def checked_python(pythons: Sequence[str], wanted: str | None) -> str:
    if not pythons:
        raise UnknownPython("No Python to run models with was found on this server.")
    if wanted is None:
        return pythons[0]
    if wanted not in pythons:
        there = ", ".join(pythons)
        raise UnknownPython(f"Python {wanted!r} is not available here. Available: {there}.")
    return wanted


def _model(connection: Connection, actor: Actor, wish: Wish) -> Model | None:
    if wish.create_new:
        return None
    if wish.model_id is None:
        raise MissingField(
            "Set `modelId` to upload a version of a model, or make a new model with"
            " `createNew=true` and `name`.",
            field="modelId",
        )
    return models.find(connection, actor, wish.model_id, wish.project_id, "change_models")


def _new_models_project(connection: Connection, actor: Actor, wish: Wish) -> str:
    project_id = wish.project_id or actor.user_id()
    members.require(connection, actor, project_id, "change_models")
    return project_id


def _check_description(text: str, field: str) -> None:
    if len(text) > texts.LONGEST_DESCRIPTION:
        raise Invalid(
            f"`{field}` must have at most {texts.LONGEST_DESCRIPTION:,} characters.", field=field
        )
