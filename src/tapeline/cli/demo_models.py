"""What is alive in the demo: a strategy that trades a simulated market, a screener, backtests."""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from tapeline.accounts import users
from tapeline.accounts.actor import Actor
from tapeline.http.services import Services
from tapeline.models import archive, models, plans, starters, versions
from tapeline.models.manifest import Manifest
from tapeline.models.models import ModelType
from tapeline.models.versions import Version
from tapeline.runs import desired

STRATEGY, SCREENER = "moving-average", "momentum-screener"
EVERY_MINUTE = "* * * * *"  # somebody who tries it out does not wait for the quarter of an hour
# Three tries to compare: quick, as it comes, slow.
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
    if services.store.write_now(_deploy, services, email, project_id, kept):
        services.runner.wake()


def _deploy(
    connection: Connection,
    services: Services,
    email: str,
    project_id: str,
    kept: dict[str, tuple[str, int, Manifest]],
) -> bool:
    user = users.find(connection, email)
    if user is None:
        return False
    actor = Actor(kind="account", id=user.id, label=user.email)
    if models.of_project(connection, actor, project_id):
        return False
    plan = next(iter(plans.offered(services.settings, "live").values()))
    python = services.pythons[0]

    def upload(name: str, title: str, kind: ModelType) -> tuple[models.Model, Version]:
        model = models.create(
            connection, actor, project_id, name=title, type=kind, description="Part of the demo."
        )
        digest, size, manifest = kept[name]
        version = versions.add(
            connection,
            actor,
            model,
            archive=digest,
            size=size,
            manifest=manifest,
            plan=plan.name,
            python_version=python,
            description="As it comes with Tapeline",
        )
        return model, version

    model, version = upload(SCREENER, "Momentum screener (demo)", "screener")
    desired.go_live(connection, actor, model, version, plan, python, schedule=EVERY_MINUTE)
    model, version = upload(STRATEGY, "Moving average (demo)", "strategy")
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
    return True


def _keep(services: Services, name: str) -> tuple[str, int, Manifest]:
    """The archive of a starter model among the others."""
    content = starters.packed(name)
    digest = hashlib.sha256(content).hexdigest()
    with tempfile.TemporaryDirectory(dir=services.staging.spool) as folder:
        file = Path(folder) / "archive"
        file.write_bytes(content)
        manifest = archive.check(file).manifest
        services.blobs.put(digest, file)
    return digest, len(content), manifest
