"""The account as its owner sees and changes it, and the browser's session as a caller."""

import time

import httpx
import pytest
from sqlalchemy import Connection, update

from tapeline.accounts import limits, sign_ins, users
from tapeline.accounts.sign_ins import Origin
from tapeline.http.core.auth import COOKIE
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Cast, Person, Service, on_both

NEW = "another horse entirely"
CHANGE = {"current_password": PASSWORD, "new_password": NEW}


@pytest.fixture
def service(own_service: Service) -> Service:
    """One test brings every account near its limit."""
    return own_service


def sign_in(service: Service, person: Person, password: str) -> httpx.Response:
    with service.client() as client:
        return client.post("/auth/signin", json={"email": person.email, "password": password})


def session(service: Service, person: Person, **headers: str) -> httpx.Client:
    """A browser in which this person is signed in."""
    user = service.store.read_now(users.get, person.id)
    secret, _ = service.store.write_now(
        sign_ins.begin, user, "browser", Origin("127.0.0.1", "Firefox"), days=30
    )
    return service.client(Cookie=f"{COOKIE}={secret}", **headers)


@on_both
def test_me_is_the_account_with_its_projects_and_roles(cast: Cast) -> None:
    me = cast.member.get("/api/me").json()
    fields = {"id", "email", "name", "created_at", "projects", "is_demo", "is_operator", "trouble"}
    assert set(me) == fields
    assert (me["id"], me["email"], me["name"]) == (cast.member.id, cast.member.email, "member")
    assert me["created_at"] == pytest.approx(time.time(), abs=60)
    assert {one["id"]: one["role"] for one in me["projects"]} == {
        cast.member.id: "owner",
        cast.project_id: "member",
    }
    for one in me["projects"]:
        assert set(one) == {"id", "name", "description", "created_at", "role", "may", "models"}


@on_both
def test_a_project_is_renamed_and_described_one_without_the_other(cast: Cast) -> None:
    path = f"/api/projects/{cast.project_id}"
    renamed = cast.admin.patch(path, json={"name": " Omega "})
    assert renamed.status_code == 200
    assert (renamed.json()["name"], renamed.json()["description"]) == ("Omega", "The first")
    assert cast.admin.patch(path, data={"description": ""}).json()["description"] == ""
    assert cast.admin.patch(path, json={"name": None}).json()["name"] == "Omega"
    seen = {"description": "", "role": "viewer", "may": ["see"], "tape_bytes": 0} | {
        "archives": {"used": 0, "quota": 20 * 10**9}
    }
    assert cast.viewer.get(path).json() == renamed.json() | seen
    for wrong, field in (
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"description": "x" * 10_001}, "description"),
        ({"name": 7}, "name"),
        ({"name": "m\n\x1b[1A\x1b[2K"}, "name"),
    ):
        refused = cast.admin.patch(path, json=wrong)
        assert (refused.status_code, refused.json()["field"]) == (400, field)


def test_changing_the_password_ends_every_other_sign_in(service: Service, cast: Cast) -> None:
    owner = cast.owner
    other = sign_in(service, owner, PASSWORD).json()
    with session(service, owner) as browser:
        assert browser.get("/api/me").status_code == 200
        changed = owner.post("/api/me/password", json=CHANGE)
        assert (changed.status_code, changed.json()) == (
            200,
            {"ended_sign_ins": 2, "status": "success"},
        )
        assert browser.get("/api/me").status_code == 401
    with service.client() as client:
        old = client.post("/auth/token", json={"refreshToken": other["refreshToken"]})
        own = client.post("/auth/token", json={"refreshToken": owner.refresh_token})
    assert (old.status_code, own.status_code) == (401, 200)
    assert owner.get("/api/me").status_code == 200
    assert cast.admin.get("/api/me").status_code == 200
    assert sign_in(service, owner, PASSWORD).status_code == 401
    assert sign_in(service, owner, NEW).status_code == 200


def test_a_new_password_takes_the_current_one_and_the_rules(service: Service, cast: Cast) -> None:
    for changes, field in (
        ({"current_password": "wrong horse"}, "current_password"),
        ({"current_password": ""}, "current_password"),
        ({"new_password": "short"}, "new_password"),
        ({"new_password": "x" * 1025}, "new_password"),
    ):
        refused = cast.owner.post("/api/me/password", json=CHANGE | changes)
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert sign_in(service, cast.owner, PASSWORD).status_code == 200


def test_guessing_the_current_password_is_limited(
    service: Service, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 600.0)
    wrong = CHANGE | {"current_password": "wrong horse"}
    limit = service.services.settings.signin_limit_account

    def nearly_over(connection: Connection) -> None:
        connection.execute(update(core.attempts).values(count=(limit - 1) * limits.FINE))

    assert cast.owner.post("/api/me/password", json=wrong).status_code == 400
    service.store.write_now(nearly_over)
    assert cast.owner.post("/api/me/password", json=wrong).status_code == 400
    refused = cast.owner.post("/api/me/password", json=CHANGE)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
    assert int(refused.headers["retry-after"]) > 0
    assert cast.admin.post("/api/me/password", json=CHANGE).status_code == 200


@on_both
def test_sign_ins_are_listed_and_ended_by_their_owner_alone(service: Service, cast: Cast) -> None:
    with session(service, cast.owner):
        listed = cast.owner.get("/api/me/sign-ins").json()
    assert listed["next"] is None
    browser, token = listed["items"]
    assert set(token) == {
        "id", "kind", "address", "agent", "created_at", "last_used_at", "expires_at", "current",
    }  # fmt: skip
    assert (browser["kind"], browser["current"], browser["agent"]) == ("browser", False, "Firefox")
    assert (token["kind"], token["current"], token["expires_at"]) == ("token", True, None)
    assert cast.owner.refresh_token not in repr(listed)
    path = f"/api/me/sign-ins/{browser['id']}"
    stranger = cast.outsider.delete(path)
    assert (stranger.status_code, stranger.json()["code"]) == (404, "no_such_sign_in")
    assert cast.owner.delete(path).json() == {"status": "success"}
    assert cast.owner.delete(path).status_code == 404
    assert cast.owner.delete(f"/api/me/sign-ins/{token['id']}").status_code == 200
    assert cast.owner.get("/api/me").status_code == 401


@on_both
def test_a_browsers_session_reads_anywhere_but_changes_only_from_our_own_pages(
    service: Service, cast: Cast
) -> None:
    host = service.address.removeprefix("http://")
    with session(service, cast.owner) as browser:
        assert browser.get("/api/me").json()["id"] == cast.owner.id
        for ours in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}):
            made = browser.post("/project/create", json={"name": "Beta"}, headers=ours)
            assert made.status_code == 200
        for other in (
            {},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "cross-site", "Origin": f"http://{host}"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ):
            for act in (
                browser.build_request("POST", "/project/create", json={"name": "Evil"}),
                browser.build_request("DELETE", f"/api/projects/{cast.project_id}/members/x"),
            ):
                act.headers.update(other)
                refused = browser.send(act)
                assert (refused.status_code, refused.json()["code"]) == (403, "cross_site_request")
        assert "Evil" not in browser.get("/project/list").text


def test_a_refresh_token_is_no_session(service: Service, cast: Cast) -> None:
    with service.client(Cookie=f"{COOKIE}={cast.owner.refresh_token}") as client:
        assert client.get("/api/me").status_code == 401


def test_a_name_that_would_write_on_a_terminal_is_refused(cast: Cast) -> None:
    for name in ("m\nforged row", "m\x1b[1A\x1b[2K", "m\u202e"):
        refused = cast.owner.patch("/api/me", json={"name": name})
        assert (refused.status_code, refused.json()["field"]) == (400, "name")
