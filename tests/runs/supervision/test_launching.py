"""The transaction before a launch."""

import pytest

from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs.engines.engine import Job
from tapeline.runs.supervision import launching
from tests.conftest import Service
from tests.runs.supervision.histories import a_run


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def test_a_model_that_was_deleted_while_its_run_waited_is_not_launched(service: Service) -> None:
    version = Version(
        id="v", model_id="deleted", number=1, description="", archive="a", size=1,
        manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
        created_at=0.0, created_by="ada",
    )  # fmt: skip
    job = Job(a_run("r", model="deleted"), version, "p", 1)
    raised = service.store.write_now(
        launching.raise_fence, service.services.cipher, job, "host", "sandboxed"
    )
    assert raised is None
