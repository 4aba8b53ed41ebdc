"""Projects, keys and models on the wire, exactly as existing clients send and read them."""

import re
import time
from typing import Any

import httpx
import pytest

from tests.conftest import Cast, Person, on_both

OUR_IDS = r"[a-z2-9]{16}"


def multipart(values: dict[str, str]) -> dict[str, Any]:
    return {"files": {name: (None, value) for name, value in values.items()}}


def made_key(person: Person, project_id: str, **more: Any) -> dict[str, Any]:
    answer = person.post("/project/generate-project-token", json={"projectId": project_id} | more)
    assert answer.status_code == 200
    made: dict[str, Any] = answer.json()
    return made


def made_model(person: Person, project_id: str, name: str, **more: str) -> str:
    sent = {"projectId": project_id, "name": name} | more
    answer = person.post("/model/create-model", data=sent)
    assert answer.status_code == 200
    return str(answer.json()["modelId"])


def test_a_project_is_created_over_every_encoding(cast: Cast) -> None:
    sent = {"name": "Beta", "description": "The second"}
    for encoded in ({"data": sent}, {"json": sent | {"more": [1]}}, multipart(sent)):
        answer = cast.owner.post("/project/create", **encoded)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        made = answer.json()
        assert set(made) == {"projectId", "name", "description", "createdAt", "status"}
        assert (made["name"], made["description"]) == ("Beta", "The second")
        assert made["status"] == "created"
        assert made["createdAt"] == pytest.approx(time.time(), abs=60)
        assert isinstance(made["createdAt"], float)
        assert re.fullmatch(OUR_IDS, made["projectId"])
    bare = cast.owner.post("/project/create", data={"name": "Bare"}).json()
    assert bare["description"] == ""


def test_a_projects_name_has_1_to_120_characters(cast: Cast) -> None:
    for name in ("x", "é" * 120, "  " + "x" * 120 + "  "):
        made = cast.owner.post("/project/create", json={"name": name})
        assert (made.status_code, made.json()["name"]) == (200, name.strip())
    for wrong in ("", " ", "x" * 121, None, 7, ["a", "b"]):
        refused = cast.owner.post("/project/create", json={"name": wrong})
        assert (refused.status_code, refused.json()["field"]) == (400, "name")
    refused = cast.owner.post("/project/create", data={"description": "nameless"})
    assert (refused.status_code, refused.json()["code"]) == (400, "missing_field")
    long = cast.owner.post("/project/create", json={"name": "x", "description": "x" * 10_001})
    assert (long.status_code, long.json()["field"]) == (400, "description")
    assert len(cast.owner.get("/project/list").json()) == 5


def test_the_list_has_all_ones_projects_newest_first_the_personal_one_included(cast: Cast) -> None:
    beta = cast.admin.post("/project/create", json={"name": "Beta"}).json()
    for name in ("Momentum", "Carry"):
        made_model(cast.owner, cast.project_id, name)
    made_model(cast.admin, cast.admin.id, "Mine")
    listed = cast.admin.get("/project/list").json()
    for one in listed:
        assert set(one) == {
            "projectId", "id", "name", "description", "createdAt", "role", "models",
        }  # fmt: skip
        assert one["id"] == one["projectId"]
    assert [(one["id"], one["name"], one["role"], one["models"]) for one in listed] == [
        (beta["projectId"], "Beta", "owner", 0),
        (cast.admin.id, "Personal", "owner", 1),
        (cast.project_id, "Alpha", "admin", 2),
    ]
    assert listed == sorted(listed, key=lambda one: -one["createdAt"])
    assert [one["id"] for one in cast.outsider.get("/project/list").json()] == [cast.outsider.id]


def test_teams_are_the_projects_besides_the_personal_one(cast: Cast) -> None:
    assert cast.member.get("/project/teams").json() == [
        {"id": cast.project_id, "name": "Alpha", "role": "member"}
    ]
    assert cast.outsider.get("/project/teams").json() == []


def test_the_user_id_works_as_the_id_of_the_personal_project(cast: Cast) -> None:
    made_model(cast.outsider, cast.outsider.id, "Mine")
    shown = cast.outsider.get(f"/api/projects/{cast.outsider.id}").json()
    assert (shown["id"], shown["role"], shown["models"]) == (cast.outsider.id, "owner", 1)
    assert cast.owner.get(f"/api/projects/{cast.outsider.id}").status_code == 404


def test_a_personal_project_cannot_be_deleted(cast: Cast) -> None:
    refused = cast.owner.post("/project/delete", json={"projectId": cast.owner.id})
    assert (refused.status_code, refused.json()["code"]) == (409, "personal_project")
    assert cast.owner.get(f"/api/projects/{cast.owner.id}").status_code == 200


@on_both
def test_a_deleted_project_is_gone_with_all_that_was_in_it(cast: Cast) -> None:
    key = made_key(cast.owner, cast.project_id)
    made_model(cast.owner, cast.project_id, "Momentum")
    link = cast.owner.post(f"/api/projects/{cast.project_id}/invitations", json={}).json()["url"]
    gone = cast.owner.post("/project/delete", data={"projectId": cast.project_id})
    assert (gone.status_code, gone.json()) == (200, {"status": "success"})
    for person in (cast.owner, cast.viewer):
        assert person.get(f"/api/projects/{cast.project_id}").status_code == 404
        assert cast.project_id not in person.get("/project/list").text
    again = cast.owner.post("/project/delete", data={"projectId": cast.project_id})
    assert (again.status_code, again.json()["code"]) == (404, "no_such_project")
    accepted = cast.outsider.post(
        "/api/invitations/accept", json={"invitation": link.rpartition("/")[2]}
    )
    assert accepted.status_code == 404
    api_key = {"api_key": key["apiKey"], "api_pass": key["apiPass"], "token": ""}
    refused = cast.owner.get(f"/api/projects/{cast.project_id}", headers=api_key)
    assert (refused.status_code, refused.json()["code"]) == (401, "wrong_key")


def test_a_key_is_generated_over_every_encoding(cast: Cast) -> None:
    sent = {"projectId": cast.project_id, "name": "ci", "autogenerated": "True"}
    answers = [
        cast.member.post("/project/generate-project-token", data=sent),
        cast.member.post("/project/generate-project-token", **multipart(sent)),
        cast.member.post("/project/generate-project-token", json=sent | {"autogenerated": True}),
    ]
    for answer in answers:
        assert answer.status_code == 200
        made = answer.json()
        assert made["apiKey"] == made["id"]
        assert re.fullmatch(OUR_IDS, made["apiKey"])
        assert len(made["apiPass"]) >= 40
        assert (made["name"], made["autogenerated"]) == ("ci", True)
        assert made["projectId"] == cast.project_id
    assert len({answer.json()["apiPass"] for answer in answers}) == 3
    plain = cast.owner.post(
        "/project/generate-project-token", data={"projectId": cast.project_id}
    ).json()
    assert (plain["name"], plain["autogenerated"]) == ("", False)
    assert (plain["read"], plain["write"]) == (True, True)


@on_both
def test_keys_are_listed_without_their_passes(cast: Cast) -> None:
    older = made_key(cast.owner, cast.project_id, name="older", write=False)
    newer = made_key(cast.member, cast.project_id, name="newer", read=False, autogenerated=True)
    made_key(cast.owner, cast.owner.id, name="elsewhere")
    for sent in (
        {"json": {"projectId": cast.project_id}},
        {"data": {"projectId": cast.project_id}},
    ):
        answer = cast.admin.post("/project/list-tokens", **sent)
        assert set(answer.json()) == {"keys"}
        listed = answer.json()["keys"]
        for one in listed:
            assert set(one) == {
                "id", "name", "read", "write", "timestamp", "projectId", "autogenerated",
            }  # fmt: skip
            assert one["projectId"] == cast.project_id
            assert one["timestamp"] == pytest.approx(time.time(), abs=60)
        assert [
            (one["id"], one["name"], one["read"], one["write"], one["autogenerated"])
            for one in listed
        ] == [
            (newer["id"], "newer", False, True, True),
            (older["id"], "older", True, False, False),
        ]
        assert older["apiPass"] not in answer.text
        assert newer["apiPass"] not in answer.text


def test_a_key_is_deleted_once(cast: Cast) -> None:
    key = made_key(cast.owner, cast.project_id)
    for encoding in ("json", "data"):
        key = made_key(cast.owner, cast.project_id)
        ref: dict[str, Any] = {encoding: {"projectId": cast.project_id, "tokenId": key["id"]}}
        gone = cast.member.post("/project/delete-project-token", **ref)
        assert (gone.status_code, gone.json()) == (200, {"status": "success"})
        again = cast.member.post("/project/delete-project-token", **ref)
        assert (again.status_code, again.json()["code"]) == (404, "no_such_token")


def test_what_is_wrong_with_a_key_is_named(cast: Cast) -> None:
    for sent, field in (
        ({"json": {}}, "projectId"),
        ({"data": {"projectId": ""}}, "projectId"),
        ({"json": {"projectId": cast.project_id, "name": "x" * 121}}, "name"),
        ({"json": {"projectId": cast.project_id, "autogenerated": "True"}}, "autogenerated"),
        ({"data": {"projectId": cast.project_id, "autogenerated": "perhaps"}}, "autogenerated"),
        ({"data": {"projectId": cast.project_id, "read": "False", "write": "False"}}, "read"),
    ):
        refused = cast.owner.post("/project/generate-project-token", **sent)
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    refused = cast.owner.post("/project/delete-project-token", json={"projectId": cast.project_id})
    assert (refused.status_code, refused.json()["field"]) == (400, "tokenId")
    assert cast.owner.post("/project/list-tokens", json={"projectId": cast.project_id}).json() == {
        "keys": []
    }


def test_a_model_is_created_over_every_encoding(cast: Cast) -> None:
    sent = {
        "projectId": cast.project_id, "type": "screener", "name": "Gaps", "description": "",
    }  # fmt: skip
    for encoded in ({"data": sent}, {"json": sent}, multipart(sent)):
        answer = cast.member.post("/model/create-model", **encoded)
        assert answer.status_code == 200
        assert set(answer.json()) == {"modelId", "projectId", "status"}
        assert re.fullmatch(OUR_IDS, answer.json()["modelId"])
        assert answer.json()["projectId"] == cast.project_id
        assert answer.json()["status"] == "success"


@on_both
def test_models_are_listed_and_described_newest_first(cast: Cast) -> None:
    older = made_model(cast.owner, cast.project_id, "Older", description="A first try")
    newer = made_model(cast.member, cast.project_id, "Newer", type="screener")
    made_model(cast.owner, cast.owner.id, "Elsewhere")
    for encoding in ("data", "json"):
        sent: dict[str, Any] = {encoding: {"projectId": cast.project_id}}
        listed = cast.viewer.post("/model/list", **sent).json()
        assert [(one["id"], one["name"], one["type"], one["description"]) for one in listed] == [
            (newer, "Newer", "screener", ""),
            (older, "Older", "strategy", "A first try"),
        ]
        for one in listed:
            ref: dict[str, Any] = {encoding: {"projectId": cast.project_id, "modelId": one["id"]}}
            assert cast.viewer.post("/model/details", **ref).json() == one
    assert cast.viewer.post("/model/list", json={"projectId": cast.viewer.id}).json() == []


def test_a_deleted_model_is_gone(cast: Cast) -> None:
    for encoding in ("data", "json"):
        model = made_model(cast.owner, cast.project_id, "Momentum")
        ref: dict[str, Any] = {encoding: {"projectId": cast.project_id, "modelId": model}}
        gone = cast.member.post("/model/delete", **ref)
        assert (gone.status_code, gone.json()) == (200, {"status": "success"})
        for path in ("/model/details", "/model/delete"):
            missing = cast.member.post(path, **ref)
            assert (missing.status_code, missing.json()["code"]) == (404, "no_such_model")


def test_what_is_wrong_with_a_model_is_named(cast: Cast) -> None:
    good = {"projectId": cast.project_id, "name": "Momentum"}
    for changes, field in (
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"projectId": ""}, "projectId"),
        ({"type": "oracle"}, "type"),
        ({"description": "x" * 10_001}, "description"),
    ):
        refused = cast.owner.post("/model/create-model", json=good | changes)
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    # A type that is refused is quoted in the error.
    refused = cast.owner.post("/model/create-model", data=good | {"type": "oracle"})
    assert "oracle" in refused.json()["error"]
    assert cast.owner.post("/model/list", json={"projectId": cast.project_id}).json() == []


@on_both
def test_what_was_acknowledged_is_seen_by_the_next_read(cast: Cast) -> None:
    for number in range(5):
        made = cast.owner.post("/project/create", data={"name": f"Project {number}"}).json()
        assert cast.owner.get("/project/list").json()[0]["id"] == made["projectId"]


def test_answers_are_json_and_no_cache_keeps_them(cast: Cast, anybody: httpx.Client) -> None:
    for answer in (
        cast.owner.get("/project/list"),
        cast.owner.post("/project/create", data={"name": ""}),
        cast.owner.get("/project/create"),
        cast.owner.get("/project/nothing"),
        anybody.get("/project/list"),
    ):
        assert answer.headers["content-type"] == "application/json"
        assert answer.status_code == 200 or isinstance(answer.json()["error"], str)
    assert cast.owner.get("/project/list").headers["cache-control"] == "no-store"
