"""Signing up, in and out, and the tokens that come of it, as scripts and old clients do it."""

import base64
import time
from collections.abc import Callable
from dataclasses import replace
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from sqlalchemy import Connection, select, update

from tapeline.accounts import id_tokens, limits, passwords, sign_ins, users
from tapeline.accounts.actor import OPERATOR
from tapeline.accounts.sign_ins import Origin
from tapeline.models import onboarding
from tapeline.settings import Settings
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Person, Service, on_both, running

Enter = Callable[[str], Person]

ADA = {"email": "ada@example.com", "password": PASSWORD}
BOB = {"email": "bob@example.com", "password": PASSWORD}

pytestmark = pytest.mark.heavy  # real passwords, and hashing them is slow on purpose


@pytest.fixture
def service(own_service: Service) -> Service:
    """Who comes first, and how often one address tried, is asked here."""
    return own_service


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait after too many attempts is over while a test runs, however slow the machine."""
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 600.0)


NO_KEY: Any = None  # what the algorithm "none" wants


def me(service: Service, **headers: str) -> httpx.Response:
    with service.client(**headers) as client:
        return client.get("/api/me")


def keys_folder(service: Service) -> Path:
    return service.services.settings.data / "keys"


def ring_key(service: Service) -> tuple[str, bytes]:
    file = max(keys_folder(service).glob("*" + id_tokens.SUFFIX))
    return file.name.removesuffix(id_tokens.SUFFIX), base64.b64decode(file.read_bytes())


def shift_attempts(connection: Connection, seconds: float) -> None:
    """As if everything counted so far had happened earlier."""
    attempts = core.attempts
    connection.execute(update(attempts).values(since=attempts.c.since - seconds))


def keep_no_cookies(*clients: httpx.Client) -> None:
    """As curl does: such a client is no known device."""
    for client in clients:
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))


def test_signing_up_answers_with_both_tokens_and_makes_a_personal_project(
    service: Service, anybody: httpx.Client
) -> None:
    answer = anybody.post("/auth/signup", json=ADA | {"name": "Ada"})
    assert answer.status_code == 200
    made = answer.json()
    assert set(made) == {"refreshToken", "idToken", "userId"}
    known = me(service, token=made["idToken"]).json()
    assert (known["id"], known["email"], known["name"]) == (made["userId"], ADA["email"], "Ada")
    assert [project["id"] for project in known["projects"]] == [made["userId"]]


def test_signing_in_answers_with_both_tokens(service: Service, enter: Enter) -> None:
    ada = enter("ada")
    with service.client() as client:
        for sent in ({"json": ADA}, {"data": ADA}, {"files": {k: (None, ADA[k]) for k in ADA}}):
            answer = client.post("/auth/signin", **sent)
            assert answer.status_code == 200
            assert set(answer.json()) == {"refreshToken", "idToken", "userId"}
            assert answer.json()["userId"] == ada.id
            assert answer.headers["cache-control"] == "no-store"
        odd = client.post("/auth/signin", json=ADA | {"email": "  ADA@Example.com ", "more": 1})
        assert odd.json()["userId"] == ada.id


def test_a_refresh_token_is_exchanged_for_idtokens_as_old_clients_do(
    service: Service, enter: Enter
) -> None:
    ada = enter("ada")
    with service.client() as client:
        answers = [
            client.post("/auth/token", data={"refreshToken": ada.refresh_token}) for _ in range(2)
        ]
    for answer in answers:
        assert answer.status_code == 200
        body = answer.json()
        assert set(body) == {"idToken", "status", "expiresIn", "data"}
        assert (body["status"], body["expiresIn"]) == ("success", 3600)
        assert body["data"] == {"user_id": ada.id}
        assert me(service, token=body["idToken"]).json()["id"] == ada.id


@on_both
def test_a_refresh_token_lives_until_it_is_revoked(service: Service, enter: Enter) -> None:
    ada = enter("ada")
    refresh = {"refreshToken": ada.refresh_token}
    table = core.sign_ins
    years_ago = {"created_at": 1.0, "last_used_at": 1.0}
    service.store.write_now(lambda connection: connection.execute(update(table).values(years_ago)))
    with service.client() as client:
        assert client.post("/auth/token", json=refresh).status_code == 200
        used = service.store.read_now(lambda c: c.scalar(select(table.c.last_used_at)))
        assert used == pytest.approx(time.time(), abs=60)
        assert client.post("/auth/signout", json=refresh).json() == {"status": "success"}
        # The idToken dies with its sign-in, at once and not when its hour is over.
        assert ada.get("/api/me").status_code == 401
        for path in ("/auth/token", "/auth/signout"):
            refused = client.post(path, json=refresh)
            assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token")


def test_a_token_revoked_in_settings_is_refused_and_the_others_live_on(
    service: Service, enter: Enter
) -> None:
    ada = enter("ada")
    with service.client() as client:
        other = client.post("/auth/signin", json=ADA).json()
        listed = ada.get("/api/me/sign-ins").json()["items"]
        (revoked,) = [one["id"] for one in listed if not one["current"]]
        assert ada.delete(f"/api/me/sign-ins/{revoked}").json() == {"status": "success"}
        refused = client.post("/auth/token", json={"refreshToken": other["refreshToken"]})
    assert refused.status_code == 401
    assert me(service, token=other["idToken"]).status_code == 401
    assert ada.get("/api/me").status_code == 200


def test_only_refresh_tokens_are_exchanged(service: Service, enter: Enter) -> None:
    ada = enter("ada")
    user = service.store.read_now(users.get, ada.id)
    session, _ = service.store.write_now(sign_ins.begin, user, "browser", Origin("", ""), days=1)
    answers = []
    with service.client() as client:
        for wrong in (session, ada.client.headers["token"], "never was one", ada.id):
            answers.append(client.post("/auth/token", data={"refreshToken": wrong}))
        for missing in ({}, {"refreshToken": ""}):
            refused = client.post("/auth/token", json=missing)
            assert (refused.status_code, refused.json()["field"]) == (400, "refreshToken")
    assert {(answer.status_code, answer.content) for answer in answers} == {
        (401, answers[0].content)
    }


def test_the_idtoken_travels_in_the_header_token_or_as_bearer(
    service: Service, enter: Enter
) -> None:
    ada = enter("ada")
    token = ada.client.headers["token"]
    for good in (
        {"token": token},
        {"Authorization": f"Bearer {token}"},
        {"authorization": f"bearer {token}"},
    ):
        assert me(service, **good).json()["id"] == ada.id
    for bad in (
        {},
        {"token": ""},
        {"Authorization": f"Basic {token}"},
        {"Authorization": token},
        {"Authorization": "Bearer"},
        {"token": ada.refresh_token},
        {"token": "garbage"},
    ):
        assert me(service, **bad).status_code == 401


def test_a_token_past_its_hour_or_of_another_hand_is_refused(
    service: Service, enter: Enter
) -> None:
    ada = enter("ada")
    key_id, key = ring_key(service)
    now = int(time.time())
    user_id, sign_in_id = ada.actor.signed_in()
    claims: dict[str, Any] = {"sub": user_id, "sid": sign_in_id, "iat": now, "exp": now + 3600}

    def status(claims: dict[str, Any], key: bytes, algorithm: str = "HS256") -> int:
        token = jwt.encode(claims, key, algorithm, headers={"kid": key_id})
        return me(service, token=token).status_code

    assert status(claims, key) == 200
    assert status(claims | {"iat": now - 3605, "exp": now - 5}, key) == 401
    assert status(claims, b"another key of thirty-two bytes!") == 401
    assert status(claims, NO_KEY, "none") == 401
    assert status(claims | {"sid": "nothing"}, key) == 401


def test_keys_rotate_while_the_service_runs(service: Service, enter: Enter) -> None:
    ada = enter("ada")
    made = id_tokens.rotate(keys_folder(service))
    with service.client() as client:
        new = client.post("/auth/token", data={"refreshToken": ada.refresh_token}).json()["idToken"]
    assert jwt.get_unverified_header(new)["kid"] == made
    assert jwt.get_unverified_header(ada.client.headers["token"])["kid"] != made
    assert me(service, token=new).status_code == 200
    assert ada.get("/api/me").status_code == 200


@pytest.mark.parametrize(
    ("policy", "status", "code"),
    [
        ("open", 200, None),
        ("invite", 403, "invitation_needed"),
        ("closed", 403, "sign_up_closed"),
    ],
)
def test_the_first_may_always_sign_up_and_others_as_the_setting_says(
    settings: Settings, policy: Any, status: int, code: str | None
) -> None:
    with running(replace(settings, signup=policy)) as service, service.client() as client:
        assert client.post("/auth/signup", json=ADA).status_code == 200
        second = client.post("/auth/signup", json=BOB)
        assert (second.status_code, second.json().get("code")) == (status, code)
        again = client.post("/auth/signup", json=ADA)
        # Whether an address is taken is told only to those who may sign up at all.
        assert again.status_code == (409 if policy == "open" else 403)


def test_sign_up_is_by_invitation_unless_the_setting_says_otherwise() -> None:
    assert Settings().signup == "invite"


def test_what_is_wrong_with_a_sign_up_is_named(anybody: httpx.Client) -> None:
    for changes, field in (
        ({"email": "nobody"}, "email"),
        ({"email": ""}, "email"),
        ({"email": "x" * 250 + "@x.org"}, "email"),
        ({"password": "short"}, "password"),
        ({"password": "x" * 1025}, "password"),
        ({"password": 12345678}, "password"),
        ({"name": "x" * 121}, "name"),
    ):
        refused = anybody.post("/auth/signup", json=ADA | changes)
        assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert anybody.post("/auth/signup", json=ADA).status_code == 200


def test_a_wrong_password_and_an_unknown_address_cannot_be_told_apart(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.store.write_now(
        onboarding.add_by_operator,
        email=ADA["email"],
        name="",
        password_hash=passwords.hash_password(PASSWORD),
    )
    compared: list[str] = []
    hasher = passwords._hasher

    class Counting:
        """The real hasher, counted: a refusal without a comparison would be told by its speed."""

        hash = staticmethod(hasher.hash)

        @staticmethod
        def verify(known: str, password: bytes) -> bool:
            compared.append(known.rsplit("$", 2)[0])
            return hasher.verify(known, password)

    monkeypatch.setattr(passwords, "_hasher", Counting)
    with service.client() as client:
        wrong = client.post("/auth/signin", json=ADA | {"password": "wrong horse"})
        unknown = client.post("/auth/signin", json=BOB)
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.content == unknown.content
    assert wrong.json()["code"] == "wrong_credentials"
    # The same algorithm with the same parameters, so the same time.
    assert len(compared) == 2
    assert compared[0] == compared[1]


@on_both
def test_a_disabled_account_is_shut_out_at_once(service: Service, enter: Enter) -> None:
    ada = enter("ada")
    refresh = {"refreshToken": ada.refresh_token}
    service.store.write_now(users.set_disabled, OPERATOR, ada.email, disabled=True)
    with service.client() as client:
        assert ada.get("/api/me").status_code == 401
        assert client.post("/auth/token", json=refresh).status_code == 401
        refused = client.post("/auth/signin", json=ADA)
        assert (refused.status_code, refused.json()["code"]) == (403, "account_disabled")
        wrong = client.post("/auth/signin", json=ADA | {"password": "wrong horse"})
        assert wrong.json()["code"] == "wrong_credentials"
        service.store.write_now(users.set_disabled, OPERATOR, ada.email, disabled=False)
        assert client.post("/auth/signin", json=ADA).status_code == 200


@on_both
def test_attempts_are_limited_per_account_on_all_servers_together(
    settings: Settings,
) -> None:
    chosen = replace(settings, signin_limit_account=3, signup="open")
    wrong = ADA | {"password": "wrong horse"}
    with (
        running(chosen) as first,
        running(chosen) as second,
        first.client() as one,
        second.client() as two,
    ):
        keep_no_cookies(one, two)
        assert one.post("/auth/signup", json=ADA).status_code == 200
        statuses = [each.post("/auth/signin", json=wrong).status_code for each in (one, two)]
        assert statuses == [401, 401]
        # Success forgets the slips before it.
        assert two.post("/auth/signin", json=ADA).status_code == 200
        for each in (one, two, one):
            assert each.post("/auth/signin", json=wrong).status_code == 401
        for each in (one, two):
            right = each.post("/auth/signin", json=ADA | {"email": " Ada@EXAMPLE.com"})
            assert (right.status_code, right.json()["code"]) == (429, "too_many_attempts")
            assert 0 < int(right.headers["retry-after"]) <= 600
        # Somebody else's account is not limited by it, nor is one that does not exist free.
        assert two.post("/auth/signup", json=BOB).status_code == 200
        first.store.write_now(shift_attempts, 500)
        still = two.post("/auth/signin", json=ADA)
        assert still.status_code == 429
        assert int(still.headers["retry-after"]) <= 100
        first.store.write_now(shift_attempts, 101)
        assert two.post("/auth/signin", json=ADA).status_code == 200


def test_attempts_are_limited_per_address_whatever_the_account(
    settings: Settings,
) -> None:
    chosen = replace(settings, signin_limit_address=4, signup="open")
    with running(chosen) as service, service.client() as client:
        keep_no_cookies(client)
        assert client.post("/auth/signup", json=ADA).status_code == 200
        # Neither success nor another account gives an address its attempts back.
        assert client.post("/auth/signin", json=ADA).status_code == 200
        for name in ("b", "c"):
            nobody = {"email": f"{name}@example.com", "password": PASSWORD}
            assert client.post("/auth/signin", json=nobody).status_code == 401
        for path, body in (("/auth/signin", ADA), ("/auth/signup", BOB)):
            refused = client.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
            assert 0 < int(refused.headers["retry-after"]) <= 15 * 60
        service.store.write_now(shift_attempts, 15 * 60 + 1)
        assert client.post("/auth/signin", json=ADA).status_code == 200


def test_an_account_that_does_not_exist_is_limited_like_one_that_does(
    settings: Settings,
) -> None:
    with running(replace(settings, signin_limit_account=2)) as service, service.client() as client:
        statuses = [client.post("/auth/signin", json=BOB).status_code for _ in range(3)]
    assert statuses == [401, 401, 429]
