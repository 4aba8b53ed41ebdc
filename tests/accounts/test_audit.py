"""The audit: every change leaves one row that says who, what, which, when and from where."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from tapeline.accounts import audit, users
from tapeline.accounts.actor import OPERATOR
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Cast, Person, Service, on_both

pytestmark = on_both


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def rows(service: Service, after: int) -> list[dict[str, Any]]:
    """All rows younger than `after`, from every project and account."""
    table = core.audit
    query = select(table).where(table.c.seq > after).order_by(table.c.seq)

    def read(connection: Connection) -> list[dict[str, Any]]:
        return [dict(row._mapping) for row in connection.execute(query)]

    return service.store.read_now(read)


def last(service: Service) -> int:
    newest = select(func.coalesce(func.max(core.audit.c.seq), 0))
    return int(service.store.read_now(lambda connection: connection.execute(newest).scalar_one()))


def test_every_change_leaves_exactly_one_row(service: Service, cast: Cast) -> None:
    home = f"/api/projects/{cast.project_id}"
    ref = {"projectId": cast.project_id}

    def change(person: Person, act: Callable[[], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was answered, and the row that it left."""
        before, started = last(service), time.time()
        answer = act()
        assert answer.status_code == 200
        (row,) = rows(service, before)
        assert (row["actor_kind"], row["actor_id"]) == ("account", person.id)
        assert (row["actor"], row["address"]) == (person.email, "127.0.0.1")
        assert started <= row["at"] <= time.time()
        return answer.json(), row

    def check(row: dict[str, Any], action: str, subject: str, project: str | None) -> None:
        assert (row["action"], row["subject"], row["project_id"]) == (action, subject, project)

    owner, project = cast.owner, cast.project_id
    made, row = change(owner, lambda: owner.post("/project/create", data={"name": "Beta"}))
    check(row, "project_created", f"project:{made['projectId']}", made["projectId"])
    assert row["details"] == {"name": "Beta"}
    beta = {"projectId": made["projectId"]}
    _, row = change(owner, lambda: owner.post("/project/delete", data=beta))
    check(row, "project_deleted", f"project:{made['projectId']}", made["projectId"])
    _, row = change(owner, lambda: owner.patch(home, json={"name": "Gamma"}))
    check(row, "project_changed", f"project:{project}", project)
    assert row["details"] == {"name": "Gamma"}
    made, row = change(owner, lambda: owner.post("/project/generate-project-token", data=ref))
    check(row, "key_generated", f"key:{made['id']}", project)
    assert made["apiPass"] not in repr(row)
    token = ref | {"tokenId": made["id"]}
    _, row = change(owner, lambda: owner.post("/project/delete-project-token", data=token))
    check(row, "key_deleted", f"key:{made['id']}", project)
    new = ref | {"name": "Momentum"}
    made, row = change(owner, lambda: owner.post("/model/create-model", data=new))
    check(row, "model_created", f"model:{made['modelId']}", project)
    model = ref | {"modelId": made["modelId"]}
    _, row = change(owner, lambda: owner.post("/model/delete", data=model))
    check(row, "model_deleted", f"model:{made['modelId']}", project)
    teammate = f"{home}/members/{cast.viewer.id}"
    _, row = change(owner, lambda: owner.patch(teammate, json={"role": "member"}))
    check(row, "member_role_changed", f"user:{cast.viewer.id}", project)
    assert (row["details"]["before"], row["details"]["after"]) == ("viewer", "member")
    _, row = change(cast.viewer, lambda: cast.viewer.delete(teammate))
    check(row, "member_removed", f"user:{cast.viewer.id}", project)
    made, row = change(owner, lambda: owner.post(f"{home}/invitations", json={}))
    check(row, "invitation_made", f"invitation:{made['id']}", project)
    assert made["url"].rpartition("/")[2] not in repr(row)
    open_one = f"{home}/invitations/{made['id']}"
    _, row = change(owner, lambda: owner.delete(open_one))
    check(row, "invitation_withdrawn", f"invitation:{made['id']}", project)
    made, _ = change(owner, lambda: owner.post(f"{home}/invitations", json={}))
    link = {"invitation": made["url"].rpartition("/")[2]}
    outsider = cast.outsider
    _, row = change(outsider, lambda: outsider.post("/api/invitations/accept", json=link))
    check(row, "member_joined", f"user:{outsider.id}", project)
    assert row["details"]["invitation"] == made["id"]


def test_what_happens_to_an_account_leaves_a_row(service: Service, cast: Cast) -> None:
    before = last(service)
    credentials = {"email": cast.owner.email, "password": PASSWORD}
    with service.client() as client:
        refresh = client.post("/auth/signin", json=credentials).json()["refreshToken"]
        client.post("/auth/token", data={"refreshToken": refresh})
        client.post("/auth/signin", json=credentials | {"password": "wrong horse"})
        client.post("/auth/signout", data={"refreshToken": refresh})
    change = {"current_password": PASSWORD, "new_password": "another horse"}
    assert cast.owner.post("/api/me/password", json=change).status_code == 200
    service.store.write_now(users.set_disabled, OPERATOR, cast.viewer.email, disabled=True)
    service.store.write_now(users.set_disabled, OPERATOR, cast.viewer.email, disabled=False)
    kept = rows(service, before)
    assert [(row["action"], row["actor"], row["project_id"]) for row in kept] == [
        ("signed_in", cast.owner.email, None),
        ("signed_out", cast.owner.email, None),
        ("password_changed", cast.owner.email, None),
        ("user_disabled", "operator", None),
        ("user_enabled", "operator", None),
    ]
    assert kept[0]["subject"] == kept[1]["subject"]
    assert kept[3]["subject"] == f"user:{cast.viewer.id}"
    assert (kept[3]["actor_kind"], kept[3]["actor_id"]) == ("operator", None)
    mine = cast.owner.get("/api/me/audit").json()["items"]
    assert [one["action"] for one in mine[:3]] == ["password_changed", "signed_out", "signed_in"]


def test_what_was_refused_or_only_read_leaves_no_row(service: Service, cast: Cast) -> None:
    before = last(service)
    home = f"/api/projects/{cast.project_id}"
    cast.viewer.patch(home, json={"name": "Mine"})
    cast.owner.patch(home, json={})
    cast.owner.patch(home, json={"name": ""})
    cast.outsider.post("/project/delete", json={"projectId": cast.project_id})
    cast.owner.post("/project/delete", json={"projectId": cast.owner.id})
    cast.owner.get(home)
    cast.owner.post("/model/list", json={"projectId": cast.project_id})
    cast.owner.delete(f"{home}/members/{cast.owner.id}")
    assert rows(service, before) == []


def test_owners_and_admins_read_the_audit_of_their_project_alone(cast: Cast) -> None:
    home = f"/api/projects/{cast.project_id}/audit"
    cast.outsider.post("/project/create", data={"name": "Elsewhere"})
    cast.member.post("/model/create-model", data={"projectId": cast.project_id, "name": "M"})
    for person in (cast.owner, cast.admin):
        items = person.get(home).json()["items"]
        assert [one["action"] for one in items] == ["model_created", "project_created"]
        assert set(items[0]) == {
            "seq", "at", "actor_kind", "actor_id", "actor", "action", "project_id", "subject",
            "details", "address",
        }  # fmt: skip
        assert {one["project_id"] for one in items} == {cast.project_id}
    for person, status in ((cast.member, 403), (cast.viewer, 403), (cast.outsider, 404)):
        assert person.get(home).status_code == status


def test_a_cursor_stays_valid_while_new_entries_arrive(service: Service, cast: Cast) -> None:
    def happen(first: int, many: int) -> None:
        def job(connection: Connection) -> None:
            for number in range(first, first + many):
                audit.record(
                    connection, OPERATOR, "happened", f"thing:{number}", project_id=cast.project_id
                )

        service.store.write_now(job)

    happen(0, 9)
    path = f"/api/projects/{cast.project_id}/audit"
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = cast.owner.get(path, params={"limit": 5} | cursor).json()
        assert set(page) == {"items", "next"}
        seen += [one["subject"] for one in page["items"]]
        happen(100 + len(seen), 3)
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    # Ten there were at the start; the end is said with the last of them, not a page later.
    assert seen == [*(f"thing:{number}" for number in reversed(range(9))),
                    f"project:{cast.project_id}"]  # fmt: skip
    newest = cast.owner.get(path).json()
    assert len(newest["items"]) == 16
    assert [one["seq"] for one in newest["items"]] == sorted(
        (one["seq"] for one in newest["items"]), reverse=True
    )


@pytest.mark.parametrize("path", ["/api/me/audit", "/api/projects/{project}/audit"])
def test_limit_and_cursor_have_bounds(cast: Cast, path: str) -> None:
    path = path.format(project=cast.project_id)
    for limit in (1, 1000, "5"):
        assert cast.owner.get(path, params={"limit": limit}).status_code == 200
    assert len(cast.owner.get(path, params={"limit": 1}).json()["items"]) == 1
    for wrong in (0, -1, 1001, "many", "", 1.5):
        refused = cast.owner.get(path, params={"limit": wrong})
        assert (refused.status_code, refused.json()["field"]) == (400, "limit")
    for cursor in ("x", "", "-1", "1.5", "9" * 19, "²", "1 or 1=1"):
        refused = cast.owner.get(path, params={"cursor": cursor})
        assert (refused.status_code, refused.json()["field"]) == (400, "cursor")
        assert refused.json()["code"] == "invalid_cursor"
    assert cast.owner.get(path, params={"cursor": "9" * 18}).status_code == 200


def test_the_default_page_has_a_hundred(service: Service, cast: Cast) -> None:
    def job(connection: Connection) -> None:
        for number in range(101):
            audit.record(connection, cast.owner.actor, "happened", f"thing:{number}")

    service.store.write_now(job)
    page = cast.owner.get("/api/me/audit").json()
    assert len(page["items"]) == 100
    assert page["next"] is not None
