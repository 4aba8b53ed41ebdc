"""A machine that fails is 503 with the cause, never 500: the request was right."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Cast, Service
from tests.http.deployment.uploading import deployed, kept, send
from tests.pushing import pushing
from tests.test_error_shape import check_shape

REPLACED = "A folder of the server was replaced by a file. Nothing was stored; try again later."


@contextmanager
def replaced(folder: Path) -> Iterator[None]:
    """A file stands where the folder was: everything in it fails, and its removal too."""
    aside = folder.with_name(f"{folder.name}.aside")
    folder.rename(aside)
    folder.touch()
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)


@pytest.mark.parametrize("folder", ["blobs", "spool"])
def test_an_upload_to_a_disk_that_fails_is_503_and_leaves_nothing(
    service: Service, cast: Cast, folder: str, caplog: pytest.LogCaptureFixture
) -> None:
    with replaced(service.services.settings.data / folder):
        refused = send(cast.owner, "/model/deploy", createNew="true", name="Momentum")
    assert check_shape(refused, 503)["code"] == "store_unavailable"
    assert refused.headers["Retry-After"]
    assert "Not a directory" in " ".join(str(one.__dict__.get("facts")) for one in caplog.records)
    assert not [one for one in caplog.records if one.exc_info], "one line, not a traceback"
    assert kept(service) == []
    deployed(cast.owner)


def test_a_download_from_a_disk_that_fails_is_503(service: Service, cast: Cast) -> None:
    said = deployed(cast.owner, projectId=cast.project_id)
    path = f"/api/models/{said['modelId']}/versions/{said['versionId']}/archive"
    with replaced(service.services.settings.data / "spool"):
        assert cast.owner.get(path).status_code == 200, "it needs no copy"
    with replaced(service.services.settings.data / "blobs"):
        refused = cast.owner.get(path)
    assert check_shape(refused, 503)["error"] == REPLACED
    assert cast.owner.get(path).status_code == 200


def test_a_large_batch_on_a_disk_that_fails_is_503(service: Service, cast: Cast) -> None:
    events = [{"path": "/v1/live/log", "body": {"line": "x" * 60_000}} for _ in range(10)]
    with pushing(service, cast.owner) as model:
        with replaced(service.services.settings.data / "spool"):
            refused = model.post("/v1/batch", events)
        assert check_shape(refused, 503)["error"] == REPLACED
        assert model.post("/v1/batch", events).status_code == 200
