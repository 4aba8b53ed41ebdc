"""Runs as the database has them, without processes."""

from typing import Any

import msgspec
from sqlalchemy import Connection, insert

from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs.run import Run
from tapeline.store.tables.runs import runs, versions
from tests.pushing import Model
from tests.runs.supervision.histories import a_run


def runs_on(model: Model, host: str, **more: Any) -> Run:
    """A live run of the model that a host has."""
    return store_run(model, host=host, fence=1, launches=1, **more)


def store_run(model: Model, **more: Any) -> Run:
    version = Version(
        id=f"v-{model.id}", model_id=model.id, number=1, description="", archive="a", size=1,
        manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
        created_at=0.0, created_by="ada",
    )  # fmt: skip
    made = a_run(f"r-{model.id}", model=model.id, **more)
    made = msgspec.structs.replace(made, version_id=version.id)

    def write(connection: Connection) -> None:
        connection.execute(insert(versions).values(msgspec.to_builtins(version)))
        connection.execute(insert(runs).values(msgspec.structs.asdict(made)))

    model.service.store.write_now(write)
    return made
