"""A run that a silent host has taken but never started is for any other host."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, insert

from tapeline.background import Background
from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs import heartbeat, host_identity
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Job
from tapeline.runs.run import Run
from tapeline.runs.supervision import launching
from tapeline.runs.upkeep.giving_back import GivingBack
from tapeline.store.tables.runs import runs, versions
from tests.conftest import Cast, Service
from tests.pushing import pushing
from tests.runs.supervision.histories import a_run

pytestmark = pytest.mark.databases("postgresql")


def _version(model: str) -> Version:
    return Version(
        id=f"v-{model}", model_id=model, number=1, description="", archive="a", size=1,
        manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
        created_at=0.0, created_by="ada",
    )  # fmt: skip


def _insert(connection: Connection, found: list[Run]) -> None:
    connection.execute(insert(versions).values(msgspec.to_builtins(_version(found[0].model_id))))
    for one in found:
        connection.execute(insert(runs).values(msgspec.structs.asdict(one)))


def test_what_a_silent_host_never_started_is_given_back_and_nothing_else(
    service: Service, cast: Cast, tmp_path: Path
) -> None:
    service.services.background.leads = lambda: False  # this test takes the turns itself
    store = service.store
    assert store.database.claim("well")
    store.write_now(heartbeat.beat, "well")
    with pushing(service, cast.owner) as model:
        version = f"v-{model.id}"

        def taken(name: str, **more: Any) -> Run:
            made = a_run(name, model=model.id, kind="backtest", **more)
            return msgspec.structs.replace(made, version_id=version, state="installing")

        never = taken("never", host="gone")
        leased = taken("leased", host="gone", launches=2, lease_until=5.0)
        kept = [
            taken("started", host="gone", fence=1, launches=1),
            taken("restarting", host="gone", launches=1),
            taken("leased still", host="gone", launches=1, lease_until=1e12),
            taken("elsewhere", host="well"),
        ]
        store.write_now(_insert, [never, leased, *kept])
        (tmp_path / host_identity.FILE).write_text("n1 1")  # written into another file than this
        asyncio.run(GivingBack(store, Background(), tmp_path).turn())
        assert store.read_now(run_records.find, "never") == never, "a copy that was not released"
        turn = GivingBack(store, Background(), service.services.settings.data).turn
        store.write_now(heartbeat.beat, "well")  # on a slow machine the first was long ago
        asyncio.run(turn())

        for name in ("never", "leased"):
            found = store.read_now(run_records.find, name)
            assert found is not None
            assert (found.host, found.state, found.lease_until) == (None, "pending", None)
        for one in kept:
            assert store.read_now(run_records.find, one.id) == one

        # It was only frozen, and goes on where it was.
        job = Job(never, _version(model.id), cast.project_id, 1)
        cipher = service.services.cipher
        raised = store.write_now(launching.raise_fence, cipher, job, "gone", "sandboxed")
        assert raised is None
