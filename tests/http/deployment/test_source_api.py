"""The source of a version over the API: for those who may change the model, and nobody else."""

import pytest

from tapeline.models.archives import sources
from tests.archives import MAIN, zipped
from tests.conftest import Cast, Service
from tests.http.deployment.uploading import send
from tests.test_error_shape import check_shape


@pytest.fixture
def uploaded(cast: Cast) -> str:
    """The address of a version's files."""
    content = zipped({"data/table.bin": b"\x00\x01\x02", "notes.md": "# Grüße\n"})
    new = {"createNew": "true", "name": "Momentum", "projectId": cast.project_id}
    said = send(cast.owner, "/model/upload", content, **new).json()
    version = cast.owner.get(f"/api/models/{said['modelId']}/versions").json()["items"][0]
    return f"/api/models/{said['modelId']}/versions/{version['version_id']}/files"


def test_the_files_of_a_version_are_listed(cast: Cast, uploaded: str) -> None:
    answer = cast.member.get(uploaded)
    assert answer.headers["cache-control"] == "no-store"
    items = answer.json()["items"]
    assert [one["path"] for one in items] == [
        "data/table.bin", "main.py", "notes.md", "platform.json"
    ]  # fmt: skip
    assert all(len(one["sha256"]) == 64 for one in items)


def test_files_are_hashed_once(cast: Cast, uploaded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cast.owner.get(uploaded).json()
    monkeypatch.setattr(sources, "listed", None)
    assert cast.owner.get(uploaded).json() == first


def test_a_file_is_shown_as_text(cast: Cast, uploaded: str) -> None:
    shown = cast.owner.get(f"{uploaded}/text?path=notes.md").json()
    assert (shown["text"], shown["is_exact"]) == ("# Grüße\n", True)
    main = cast.owner.get(f"{uploaded}/text").json()
    assert (main["path"], main["text"]) == ("main.py", MAIN)
    assert cast.owner.get(f"{uploaded}/text?path=data/table.bin").json()["text"] is None


def test_the_main_script_is_the_one_that_runs(cast: Cast) -> None:
    content = zipped({"src/main.py": "inner\n"}, working_directory="src")
    said = send(cast.owner, "/model/upload", content, createNew="true", name="Inner").json()
    model = f"/api/models/{said['modelId']}/versions"
    version = cast.owner.get(model).json()["items"][0]["version_id"]
    shown = cast.owner.get(f"{model}/{version}/files/text").json()
    assert (shown["path"], shown["text"]) == ("src/main.py", "inner\n")


def test_a_file_is_downloaded_and_never_opened_by_the_browser(cast: Cast, uploaded: str) -> None:
    answer = cast.owner.get(f"{uploaded}/content?path=data/table.bin")
    assert answer.content == b"\x00\x01\x02"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="table.bin"'
    assert (answer.headers["content-length"], answer.headers["x-content-type-options"]) == (
        "3", "nosniff",
    )  # fmt: skip


@pytest.mark.parametrize("path", ["nothing", "../../etc/passwd", "data"])
def test_a_file_that_the_version_does_not_have_is_not_found(
    cast: Cast, uploaded: str, path: str
) -> None:
    for kind in ("text", "content"):
        answer = cast.owner.get(f"{uploaded}/{kind}?path={path}")
        assert check_shape(answer, 404)["code"] == "no_such_file"


def test_a_viewer_sees_no_source(cast: Cast, uploaded: str) -> None:
    for path in ("", "/text", "/content"):
        assert check_shape(cast.viewer.get(uploaded + path), 403)["code"] == "forbidden"


def test_a_lost_archive_is_said(service: Service, cast: Cast, uploaded: str) -> None:
    for file in (service.services.settings.data / "blobs").iterdir():
        service.services.blobs.delete(file.name)
    answer = cast.owner.get(f"{uploaded}/text")
    assert "not on this server" in check_shape(answer, 404)["error"]
