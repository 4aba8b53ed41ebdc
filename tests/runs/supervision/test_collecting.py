"""What a journal says goes onto the tape and into the server's log."""

import msgspec
import pytest
from sqlalchemy import Connection, insert

from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.runs.supervision import collecting
from tapeline.runs.supervision.collecting import Taken
from tapeline.store.tables.runs import runs, versions
from tests.conftest import Cast, Service
from tests.pushing import pushing
from tests.runs.supervision.histories import a_run


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def _deploy(connection: Connection, run: Run) -> None:
    version = Version(
        id=run.version_id, model_id=run.model_id, number=1, description="", archive="a", size=1,
        manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
        created_at=0.0, created_by="ada",
    )  # fmt: skip
    connection.execute(insert(versions).values(msgspec.to_builtins(version)))
    connection.execute(insert(runs).values(msgspec.structs.asdict(run)))


def test_a_crash_is_told_with_the_last_line_even_if_that_was_stored_before(
    service: Service, cast: Cast
) -> None:
    with pushing(service, cast.owner) as model:
        run = a_run("crashing", model=model.id, fence=1)
        appender = service.services.inbox.appender

        def take(connection: Connection, start: int, *records: Record) -> Taken:
            chunk = Chunk(list(records), start + 10, 0)
            return collecting.take(connection, appender, run.id, start, chunk, None)

        service.store.write_now(_deploy, run)
        service.store.write_now(take, 0, Record("stderr", 5.0, "no price for BTC"))
        ended = {"event": "ended", "cause": "exit", "exit_code": 1, "signal": None}
        taken = service.store.write_now(take, 10, Record("state", 7.0, "", ended))
    (crashed,) = taken.news
    assert (crashed.event, crashed.facts["last_line"]) == ("model_crashed", "no price for BTC")
