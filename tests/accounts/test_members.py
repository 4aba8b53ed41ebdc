"""Members: what roles may do to one another, and that a project always keeps an owner."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection

from tapeline import compose
from tapeline.accounts import members
from tapeline.accounts.members import Role
from tapeline.errors import AlreadyMember, LastOwner
from tests.conftest import Cast, Person, Service, on_both

pytestmark = on_both


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def set_role(cast: Cast, by: Person, whom: Person, role: str) -> tuple[int, dict[str, Any]]:
    path = f"/api/projects/{cast.project_id}/members/{whom.id}"
    answer = by.patch(path, json={"role": role})
    return answer.status_code, answer.json()


def remove(cast: Cast, by: Person, whom: Person) -> tuple[int, str]:
    answer = by.delete(f"/api/projects/{cast.project_id}/members/{whom.id}")
    return answer.status_code, answer.json().get("code", answer.json().get("status"))


def roles(cast: Cast) -> dict[str, str]:
    listed = cast.owner.get(f"/api/projects/{cast.project_id}/members").json()
    assert listed["next"] is None
    return {
        one["email"].partition("@")[0].partition(".")[0]: one["role"] for one in listed["items"]
    }


def test_members_are_listed_with_name_and_role(cast: Cast) -> None:
    listed = cast.viewer.get(f"/api/projects/{cast.project_id}/members").json()["items"]
    assert [(one["user_id"], one["role"]) for one in listed] == [
        (cast.person(role).id, role) for role in members.ROLES
    ]
    assert set(listed[0]) == {"user_id", "email", "name", "role", "since"}


def test_a_changed_role_counts_at_once(cast: Cast) -> None:
    rename = {"json": {"name": "Renamed"}}
    project = f"/api/projects/{cast.project_id}"
    assert cast.viewer.patch(project, **rename).status_code == 403
    status, changed = set_role(cast, cast.admin, cast.viewer, "admin")
    assert (status, changed["role"], changed["user_id"]) == (200, "admin", cast.viewer.id)
    assert cast.viewer.patch(project, **rename).status_code == 200
    assert set_role(cast, cast.owner, cast.viewer, "viewer")[0] == 200
    assert cast.viewer.patch(project, **rename).status_code == 403
    assert remove(cast, cast.admin, cast.viewer) == (200, "success")
    assert cast.viewer.get(project).status_code == 404
    assert remove(cast, cast.admin, cast.viewer) == (404, "no_such_member")


def invite(cast: Cast, by: Person, role: str, **headers: str) -> httpx.Response:
    path = f"/api/projects/{cast.project_id}/invitations"
    return by.post(path, json={"role": role}, headers=headers)


def accept(person: Person, invitation: httpx.Response) -> int:
    secret = invitation.json()["url"].rpartition("/")[2]
    return person.post("/api/invitations/accept", json={"invitation": secret}).status_code


def test_nobody_comes_back_by_an_invitation_of_their_own(cast: Cast) -> None:
    own = invite(cast, cast.admin, "admin")
    foreign = invite(cast, cast.owner, "viewer")
    assert remove(cast, cast.owner, cast.admin) == (200, "success")
    assert accept(cast.admin, own) == 404
    assert accept(cast.admin, foreign) == 200


def test_whoever_is_demoted_keeps_the_invitations_they_may_still_make(cast: Cast) -> None:
    assert set_role(cast, cast.owner, cast.viewer, "owner")[0] == 200
    to_own, to_see = (invite(cast, cast.viewer, role) for role in ("owner", "viewer"))
    assert set_role(cast, cast.owner, cast.viewer, "admin")[0] == 200
    assert accept(cast.outsider, to_own) == 404
    assert accept(cast.outsider, to_see) == 200


def test_a_repeated_request_is_refused_once_the_right_to_it_is_lost(cast: Cast) -> None:
    assert set_role(cast, cast.owner, cast.member, "admin")[0] == 200
    answers = [invite(cast, cast.member, "viewer", **{"Idempotency-Key": "1"}) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert set_role(cast, cast.owner, cast.member, "viewer")[0] == 200
    assert invite(cast, cast.member, "viewer", **{"Idempotency-Key": "1"}).status_code == 403
    assert remove(cast, cast.owner, cast.member) == (200, "success")
    assert invite(cast, cast.member, "viewer", **{"Idempotency-Key": "1"}).status_code == 404


def test_an_admin_neither_touches_owners_nor_makes_them(cast: Cast) -> None:
    for role in ("admin", "viewer", "owner"):
        assert set_role(cast, cast.admin, cast.owner, role)[0] == 403
    assert remove(cast, cast.admin, cast.owner) == (403, "forbidden")
    for whom in (cast.member, cast.admin):
        assert set_role(cast, cast.admin, whom, "owner")[0] == 403
    assert roles(cast) == {role: role for role in members.ROLES}
    assert set_role(cast, cast.admin, cast.member, "admin")[0] == 200
    assert set_role(cast, cast.owner, cast.member, "owner")[0] == 200


def test_nobody_raises_themselves(cast: Cast) -> None:
    for person, role in ((cast.viewer, "member"), (cast.member, "admin"), (cast.admin, "owner")):
        assert set_role(cast, person, person, role)[0] == 403
    assert set_role(cast, cast.viewer, cast.viewer, "viewer")[0] == 403
    assert roles(cast) == {role: role for role in members.ROLES}


def test_the_last_owner_can_neither_leave_nor_be_demoted(cast: Cast) -> None:
    assert remove(cast, cast.owner, cast.owner) == (409, "last_owner")
    status, refused = set_role(cast, cast.owner, cast.owner, "admin")
    assert (status, refused["code"]) == (409, "last_owner")
    assert set_role(cast, cast.owner, cast.owner, "owner")[0] == 200
    assert set_role(cast, cast.owner, cast.admin, "owner")[0] == 200
    assert remove(cast, cast.owner, cast.owner) == (200, "success")
    assert remove(cast, cast.admin, cast.admin) == (409, "last_owner")


def test_everybody_may_leave(cast: Cast) -> None:
    for person in (cast.viewer, cast.member, cast.admin):
        assert remove(cast, person, person) == (200, "success")
    assert roles(cast) == {"owner": "owner"}
    assert remove(cast, cast.outsider, cast.outsider) == (404, "no_such_project")


def test_a_personal_project_stays_its_accounts_own(service: Service, cast: Cast) -> None:
    """Or a client that sends its user id as `projectId` would stop working."""
    store, home = service.store, cast.owner.id
    store.write_now(members.join, home, cast.admin.id, "owner")
    path = f"/api/projects/{home}/members/{cast.owner.id}"
    for person in (cast.owner, cast.admin):
        for refused in (person.delete(path), person.patch(path, json={"role": "viewer"})):
            assert (refused.status_code, refused.json()["code"]) == (409, "personal_project")
    assert cast.owner.get(f"/api/projects/{home}").json()["role"] == "owner"
    leaving = cast.admin.delete(f"/api/projects/{home}/members/{cast.admin.id}")
    assert leaving.status_code == 200


def test_an_unknown_role_is_refused_with_those_that_are(cast: Cast) -> None:
    for role in ("king", "", "Owner"):
        status, refused = set_role(cast, cast.owner, cast.viewer, role)
        assert (status, refused["field"]) == (400, "role")
    assert "owner, admin, member, viewer" in refused["error"]


def test_two_owners_who_leave_at_once_on_two_servers_leave_one_behind(
    service: Service, cast: Cast
) -> None:
    store, project = service.store, cast.project_id
    with compose.open_store(service.services.settings) as other:
        for _ in range(5):
            role: Role = "owner"
            store.write_now(members.set_role, cast.owner.actor, project, cast.admin.id, role)
            start = threading.Barrier(2)

            def leave(connection: Connection, who: Person, start: threading.Barrier) -> None:
                start.wait(10)
                members.remove(connection, who.actor, project, who.id)

            # SQLite lets in one writer at a time, so there only the jobs' order is left to chance.
            if service.store.database.file is not None:
                start = threading.Barrier(1)
            with ThreadPoolExecutor(2) as pool:
                first = pool.submit(store.write_now, leave, cast.owner, start)
                second = pool.submit(other.write_now, leave, cast.admin, start)
                failures = [job.exception() for job in (first, second)]
            assert sorted(map(type, failures), key=str) == sorted([LastOwner, type(None)], key=str)
            gone, left = (
                (cast.owner, cast.admin) if failures[0] is None else (cast.admin, cast.owner)
            )
            store.write_now(members.join, project, gone.id, "owner")
            if left is cast.admin:
                store.write_now(members.set_role, cast.owner.actor, project, cast.admin.id, "admin")


def test_nobody_joins_twice(service: Service, cast: Cast) -> None:
    with pytest.raises(AlreadyMember):
        service.store.write_now(members.join, cast.project_id, cast.viewer.id, "owner")
    assert roles(cast)["viewer"] == "viewer"
