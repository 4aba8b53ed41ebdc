"""Archives take the room that a project may have, and refused uploads take none."""

from typing import Any

from sqlalchemy import Connection, update

from tapeline.store.tables.runs import versions
from tests.archives import zipped
from tests.conftest import Cast, Service, on_both
from tests.http.deployment.uploading import kept, send
from tests.test_error_shape import check_shape

MOST = 20 * 10**9
PATHS = ("/model/deploy", "/model/backtest", "/model/upload")


def used(cast: Cast) -> Any:
    return cast.owner.get(f"/api/projects/{cast.project_id}").json()["archives"]


def uploaded(cast: Cast, content: bytes, **fields: str) -> str:
    answer = send(cast.owner, "/model/upload", content, **fields)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["modelId"])


@on_both
def test_a_full_project_takes_no_further_archive_and_still_those_that_it_has(
    service: Service, cast: Cast
) -> None:
    first, second = zipped({"own.txt": "first"}), zipped({"own.txt": "second"})
    model = uploaded(cast, first, **_new(cast.project_id))
    assert used(cast) == {"used": len(first), "quota": MOST}
    uploaded(cast, first, modelId=model)
    assert used(cast)["used"] == len(first)  # kept once
    service.store.write_now(_take, MOST - 10)

    before = kept(service)
    for path in PATHS:
        for fields in ({"modelId": model}, _new(cast.project_id)):
            answer = send(cast.owner, path, second, **fields)
            assert check_shape(answer, 429)["code"] == "quota_exceeded"
            assert "quota_archives" in answer.text
            assert int(answer.headers["Retry-After"]) > 60
    assert kept(service) == before
    assert used(cast)["used"] == MOST - 10

    uploaded(cast, first, modelId=model)  # the way back stays open
    uploaded(cast, second, createNew="true", name="x")  # another project has room of its own
    named = {"projectId": cast.project_id, "modelId": model}
    assert cast.owner.post("/model/delete", json=named).is_success
    assert used(cast)["used"] == 0
    uploaded(cast, second, **_new(cast.project_id))


@on_both
def test_an_upload_that_a_halted_project_refuses_leaves_nothing(
    service: Service, cast: Cast
) -> None:
    halt = f"/api/projects/{cast.project_id}/halt"
    assert cast.owner.post(halt, json={"why": "test"}).status_code == 200
    before = kept(service)
    content = zipped({"own.txt": "halted"})
    answer = send(cast.owner, "/model/deploy", content, **_new(cast.project_id))
    assert check_shape(answer, 409)["code"] == "halted"
    assert kept(service) == before


def _take(connection: Connection, size: int) -> None:
    """As if every version's archive had so many bytes."""
    connection.execute(update(versions).values(size=size))


def _new(project_id: str) -> dict[str, str]:
    return {"createNew": "true", "name": "x", "projectId": project_id}
