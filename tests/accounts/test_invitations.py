"""Invitations: a link that lets one person in, once, for a while."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from tapeline.accounts import invitations
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Cast, Person, Service, on_both, running

pytestmark = on_both

Enter = Callable[[str], Person]


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def invite(cast: Cast, by: Person, **body: str) -> dict[str, Any]:
    answer = by.post(f"/api/projects/{cast.project_id}/invitations", json=body)
    assert answer.status_code == 200
    made: dict[str, Any] = answer.json()
    return made | {"secret": made["url"].rpartition("/")[2]}


def accept(person: Person, secret: str) -> tuple[int, str]:
    answer = person.post("/api/invitations/accept", json={"invitation": secret})
    return answer.status_code, answer.json().get("code", answer.json().get("role"))


def open_invitations(cast: Cast) -> list[str]:
    listed = cast.admin.get(f"/api/projects/{cast.project_id}/invitations").json()
    assert listed["next"] is None
    return [one["id"] for one in listed["items"]]


def test_an_invitation_is_a_link_that_is_shown_once(service: Service, cast: Cast) -> None:
    made = invite(cast, cast.admin)
    assert made["url"] == f"{service.address}/auth/invitation/{made['secret']}"
    assert (made["role"], made["invited_by"]) == ("member", cast.admin.email)
    assert made["created_at"] == pytest.approx(time.time(), abs=60)
    assert made["expires_at"] - made["created_at"] == pytest.approx(7 * 24 * 3600)
    newer = invite(cast, cast.owner, role="viewer")
    listed = cast.admin.get(f"/api/projects/{cast.project_id}/invitations")
    assert made["secret"] not in listed.text
    shown = {"id", "role", "invited_by", "created_at", "expires_at"}
    assert all(set(one) == shown for one in listed.json()["items"])
    assert open_invitations(cast) == [newer["id"], made["id"]]


def test_an_invitation_lets_one_person_in_with_its_role(
    service: Service, cast: Cast, enter: Enter
) -> None:
    late = enter("late")
    made = invite(cast, cast.owner, role="admin")
    answer = cast.outsider.post("/api/invitations/accept", data={"invitation": made["secret"]})
    assert answer.status_code == 200
    assert answer.json() == {
        "id": made["id"],
        "project_id": cast.project_id,
        "project": "Alpha",
        "role": "admin",
        "invited_by": cast.owner.email,
        "expires_at": made["expires_at"],
    }
    assert cast.outsider.get(f"/api/projects/{cast.project_id}").json()["role"] == "admin"
    assert accept(late, made["secret"]) == (404, "no_such_invitation")
    assert late.get(f"/api/projects/{cast.project_id}").status_code == 404
    assert open_invitations(cast) == []
    path = f"/api/projects/{cast.project_id}/invitations/{made['id']}"
    assert cast.owner.delete(path).status_code == 404


def test_whoever_is_a_member_already_does_not_use_it_up(cast: Cast) -> None:
    made = invite(cast, cast.owner, role="admin")
    assert accept(cast.viewer, made["secret"]) == (409, "already_member")
    assert cast.viewer.get(f"/api/projects/{cast.project_id}").json()["role"] == "viewer"
    assert accept(cast.outsider, made["secret"]) == (200, "admin")


def test_links_that_expired_were_withdrawn_or_never_were_look_the_same(
    service: Service, cast: Cast
) -> None:
    expired, withdrawn = invite(cast, cast.owner), invite(cast, cast.owner)
    table = core.invitations
    past = update(table).where(table.c.id == expired["id"]).values(expires_at=time.time() - 1)
    service.store.write_now(lambda connection: connection.execute(past))
    assert open_invitations(cast) == [withdrawn["id"]]
    path = f"/api/projects/{cast.project_id}/invitations/{withdrawn['id']}"
    assert cast.admin.delete(path).json() == {"status": "success"}
    assert cast.admin.delete(path).status_code == 404
    for secret in (expired["secret"], withdrawn["secret"], "never", expired["id"]):
        assert accept(cast.outsider, secret) == (404, "no_such_invitation")
    empty = cast.outsider.post("/api/invitations/accept", json={"invitation": ""})
    assert (empty.status_code, empty.json()["field"]) == (400, "invitation")


def test_only_owners_invite_owners(cast: Cast) -> None:
    path = f"/api/projects/{cast.project_id}/invitations"
    refused = cast.admin.post(path, json={"role": "owner"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    unknown = cast.owner.post(path, json={"role": "king"})
    assert (unknown.status_code, unknown.json()["field"]) == (400, "role")
    assert open_invitations(cast) == []
    assert accept(cast.outsider, invite(cast, cast.owner, role="owner")["secret"]) == (200, "owner")


def test_one_invitation_lets_in_one_of_two_who_come_at_once(
    service: Service, cast: Cast, enter: Enter
) -> None:
    """On two servers, which share nothing but the database."""
    late = enter("late")
    with running(service.services.settings) as second, second.client() as elsewhere:
        elsewhere.headers["token"] = late.client.headers["token"]
        there = replace(late, client=elsewhere)
        for _ in range(4):
            made = invite(cast, cast.owner)
            start = threading.Barrier(2)

            def come(person: Person, secret: str, start: threading.Barrier) -> tuple[int, str]:
                start.wait(10)
                return accept(person, secret)

            with ThreadPoolExecutor(2) as pool:
                coming = [
                    pool.submit(come, person, made["secret"], start)
                    for person in (cast.outsider, there)
                ]
                outcomes = [one.result() for one in coming]
            assert sorted(outcomes) == [(200, "member"), (404, "no_such_invitation")]
            winner = (cast.outsider, late)[outcomes.index((200, "member"))]
            left = winner.delete(f"/api/projects/{cast.project_id}/members/{winner.id}")
            assert left.status_code == 200


def test_an_invitation_lets_somebody_sign_up_where_sign_up_needs_one(
    service: Service, cast: Cast, anybody: httpx.Client
) -> None:
    new = {"email": "new@example.com", "password": PASSWORD}
    made = invite(cast, cast.owner, role="viewer")
    for wrong in ({}, {"invitation": ""}):
        assert anybody.post("/auth/signup", json=new | wrong).status_code == 403
    assert anybody.post("/auth/signup", json=new | {"invitation": "never"}).status_code == 404
    taken = new | {"email": cast.owner.email, "invitation": made["secret"]}
    refused = anybody.post("/auth/signup", json=taken)
    assert (refused.status_code, refused.json()["code"]) == (409, "email_taken")
    signed_up = anybody.post("/auth/signup", data=new | {"invitation": made["secret"]})
    assert signed_up.status_code == 200
    with service.client(token=signed_up.json()["idToken"]) as client:
        own = {one["id"]: one["role"] for one in client.get("/api/me").json()["projects"]}
    assert own == {signed_up.json()["userId"]: "owner", cast.project_id: "viewer"}
    other = {"email": "other@example.com", "password": PASSWORD, "invitation": made["secret"]}
    assert anybody.post("/auth/signup", json=other).status_code == 404


def test_an_invitation_does_not_open_a_server_whose_sign_up_is_closed(
    service: Service, cast: Cast
) -> None:
    made = invite(cast, cast.owner)
    new = {"email": "new@example.com", "password": PASSWORD, "invitation": made["secret"]}
    settings = replace(service.services.settings, signup="closed")
    with running(settings) as closed, closed.client() as client:
        refused = client.post("/auth/signup", json=new)
    assert (refused.status_code, refused.json()["code"]) == (403, "sign_up_closed")
    offer = service.store.read_now(invitations.offer, made["secret"])
    assert offer.project_id == cast.project_id


def test_the_setting_says_how_long_invitations_last(service: Service, cast: Cast) -> None:
    settings = replace(service.services.settings, invitation_days=2)
    with running(settings) as brief, brief.client(**cast.owner.client.headers) as client:
        made = invite(cast, replace(cast.owner, client=client))
    assert made["expires_at"] - made["created_at"] == pytest.approx(2 * 24 * 3600)
