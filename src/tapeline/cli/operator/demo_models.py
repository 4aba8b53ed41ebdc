"""The contents of the demo: a strategy on a simulated market, a screener, backtests, a link."""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tapeline import private_files
from tapeline.accounts import users
from tapeline.accounts.actor import Actor
from tapeline.errors import NoSuchShare
from tapeline.http.core.services import Services
from tapeline.models import models, plans, starters, versions
from tapeline.models.archives import archive
from tapeline.models.models import ModelType
from tapeline.models.uploading import Archive
from tapeline.models.versions import Version
from tapeline.runs.supervision import desired
from tapeline.sharing.links import links
from tapeline.sharing.links.choices import Choices

STRATEGY, SCREENER = "moving-average", "momentum-screener"
STRATEGY_NAME, SCREENER_NAME = "Moving average (demo)", "Momentum screener (demo)"
ABOUT = "Part of the demo: a simulated market."
CAPITAL = 10_000.0  # what the strategy begins with
EVERY_MINUTE = "* * * * *"  # a person who tries the demo does not wait for a quarter of an hour
# Three backtests to compare: fast, default, slow.
BACKTESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Quick averages", {"days": 730, "fast": 5, "slow": 15}),
    ("As it comes", {"days": 730, "fast": 10, "slow": 30}),
    ("Slow averages", {"days": 730, "fast": 20, "slow": 60}),
)


def deploy(services: Services, email: str, project_id: str) -> None:
    """Once: a project that has models is left as its owner made it."""
    host = services.runner.host
    if host is None or not (host.sandboxed or services.settings.unsafe_no_sandbox):
        return
    kept = {name: _keep(services, name) for name in (STRATEGY, SCREENER)}
    services.store.write_now(_deploy, services, email, project_id, kept)


def _deploy(
    connection: Connection,
    services: Services,
    email: str,
    project_id: str,
    kept: dict[str, Archive],
) -> None:
    actor = _actor(connection, email)
    if actor is None or models.of_project(connection, actor, project_id):
        return
    plan = next(iter(plans.offered(services.settings, "live").values()))
    python = services.pythons[0]

    def upload(name: str, title: str, kind: ModelType) -> tuple[models.Model, Version]:
        model = models.create(
            connection, actor, project_id, name=title, type=kind, description=ABOUT
        )
        packed = kept[name]
        version = versions.add(
            connection,
            actor,
            model,
            archive=packed.name,
            content=packed.content,
            size=packed.size,
            manifest=packed.manifest,
            plan=plan.name,
            python_version=python,
            description="As it comes with Tapeline",
        )
        return model, version

    model, version = upload(SCREENER, SCREENER_NAME, "screener")
    desired.go_live(connection, actor, model, version, plan, python, schedule=EVERY_MINUTE)
    model, version = upload(STRATEGY, STRATEGY_NAME, "strategy")
    desired.go_live(connection, actor, model, version, plan, python, schedule=None)
    for words, arguments in BACKTESTS:
        desired.backtest(
            connection,
            actor,
            model,
            version,
            plan,
            python,
            arguments=arguments,
            description=words,
        )


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
    model = next((one for one in own if one.name == STRATEGY_NAME), None)
    if actor is None or model is None:
        return None
    _, token = links.create(
        connection,
        actor,
        model.id,
        backtest_id=None,
        title=STRATEGY_NAME,
        choices=Choices(base=CAPITAL),
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
        if model.description.startswith(ABOUT):
            about = f"{ABOUT} Shared at {address}"
            models.change(connection, actor, model, description=about)
    return True


def _actor(connection: Connection, email: str) -> Actor | None:
    user = users.find(connection, email)
    return None if user is None else Actor(kind="account", id=user.id, label=user.email)


def _keep(services: Services, name: str) -> Archive:
    """The archive of a starter model among the others."""
    content = starters.packed(name)
    digest = hashlib.sha256(content).hexdigest()
    with tempfile.TemporaryDirectory(dir=services.staging.spool) as folder:
        file = Path(folder) / "archive"
        file.write_bytes(content)
        found = archive.check(file)
        services.blobs.put(digest, file)
    return Archive(digest, len(content), found.manifest, found.digest)
