"""Deploys the demo's models, queues their backtests and shares one of them."""

import hashlib
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection

from tapeline import private_files
from tapeline.accounts import users
from tapeline.accounts.actor import Actor
from tapeline.cli.demo.parts import PARTS, STRATEGY, WATCHED, Edit, Part
from tapeline.errors import NoSuchShare
from tapeline.http.core.services import Services
from tapeline.models import models, plans, starters, versions
from tapeline.models.archives import archive
from tapeline.models.models import Model
from tapeline.models.uploading import Archive
from tapeline.models.versions import Version
from tapeline.runs.supervision import desired
from tapeline.sharing.links import links
from tapeline.sharing.links.choices import Choices
from tapeline.watch.rules import stored

BACKTESTED_DAYS = 180  # the half year that the strategies bring in


def deploy(services: Services, email: str, project_id: str) -> None:
    """Once: a project that has models is left as its owner made it."""
    host = services.runner.host
    if host is None or not (host.sandboxed or services.settings.unsafe_no_sandbox):
        return
    kept = [[_keep(services, part, edit) for edit in part.versions] for part in PARTS]
    services.store.write_now(_deploy, services, email, project_id, kept)


def _deploy(
    connection: Connection,
    services: Services,
    email: str,
    project_id: str,
    kept: list[list[Archive]],
) -> None:
    actor = _actor(connection, email)
    if actor is None or models.of_project(connection, actor, project_id):
        return
    plan = next(iter(plans.offered(services.settings, "live").values()))
    run = actor, plan, services.pythons[0]
    for rule in WATCHED:
        stored.make(connection, actor, project_id, None, rule)
    for part, archives in zip(PARTS, kept, strict=True):
        model = models.create(
            connection, actor, project_id, name=part.title, type=part.type, description=part.about
        )
        uploaded = _upload(connection, model, part, archives, run)
        desired.go_live(connection, actor, model, uploaded[-1], *run[1:], schedule=part.schedule)
        for words, which, arguments in part.backtests:
            desired.backtest(
                connection,
                actor,
                model,
                uploaded[which],
                *run[1:],
                arguments={"start": _first_day(), "days": BACKTESTED_DAYS, **arguments},
                description=words,
            )


def _upload(
    connection: Connection,
    model: Model,
    part: Part,
    archives: list[Archive],
    run: tuple[Actor, plans.Plan, str],
) -> list[Version]:
    actor, plan, python = run
    return [
        versions.add(
            connection,
            actor,
            model,
            archive=packed.name,
            content=packed.content,
            size=packed.size,
            manifest=packed.manifest,
            plan=plan.name,
            python_version=python,
            description=edit.note,
        )
        for edit, packed in zip(part.versions, archives, strict=True)
    ]


def _first_day() -> str:
    """Of backtests that end yesterday."""
    return (datetime.now(UTC).date() - timedelta(days=BACKTESTED_DAYS + 1)).isoformat()


def share(services: Services, email: str, project_id: str, file: Path, where: str) -> str | None:
    """The address of the demo's shared page, made once. None where there is nothing to share, or
    its owner has revoked it.

    The server keeps only a link's fingerprint, so the demo's own is kept in a file.
    """
    store = services.store
    if not file.exists():
        token = store.write_now(_share, email, project_id)
        if token is None:
            return None
        private_files.write(file, token.encode())
    token = file.read_text()
    address = f"{where}/s/{token}"
    return address if store.write_now(_describe_with_link, email, token, address) else None


def _share(connection: Connection, email: str, project_id: str) -> str | None:
    actor = _actor(connection, email)
    own = models.of_project(connection, actor, project_id) if actor else []
    model = next((one for one in own if one.name == STRATEGY.title), None)
    if actor is None or model is None:
        return None
    _, token = links.create(
        connection,
        actor,
        model.id,
        backtest_id=None,
        title=STRATEGY.title,
        choices=Choices(),
        password_hash=None,
        expires_at=None,
    )
    return token


def _describe_with_link(connection: Connection, email: str, token: str, address: str) -> bool:
    """Whether the link still works; then its address goes into the model's description."""
    try:
        link = links.by_token(connection, token)
    except NoSuchShare:
        return False
    actor = _actor(connection, email)
    if actor is not None:
        model = models.find(connection, actor, link.model_id)
        if model.description.startswith(STRATEGY.about):
            about = f"{STRATEGY.about} Shared at {address}"
            models.change(connection, actor, model, description=about)
    return True


def _actor(connection: Connection, email: str) -> Actor | None:
    user = users.find(connection, email)
    return None if user is None else Actor(kind="account", id=user.id, label=user.email)


def _keep(services: Services, part: Part, edit: Edit) -> Archive:
    """The archive of an edited starter model among the others."""
    content = starters.edited(part.starter, edit.changes)
    digest = hashlib.sha256(content).hexdigest()
    with tempfile.TemporaryDirectory(dir=services.staging.spool) as folder:
        file = Path(folder) / "archive"
        file.write_bytes(content)
        found = archive.check(file)
        services.blobs.put(digest, file)
    return Archive(digest, len(content), found.manifest, found.digest)
