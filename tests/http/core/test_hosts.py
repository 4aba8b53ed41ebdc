"""Who may knock: names that the server answers to, pages that may post, and the first account."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tapeline.accounts import invitations, setup_code, users
from tapeline.http.core.endpoint import OPEN
from tapeline.http.routes import ROUTES
from tapeline.settings import Settings
from tests.conftest import PASSWORD, Person, Service, running
from tests.pushing import raw_request

ADA = {"email": "ada@example.com", "password": PASSWORD}
OPEN_POSTS = [row.path for row in ROUTES if row.access in OPEN and row.method != "GET"]


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Nothing here depends on the database."""
    return sqlite_settings


@pytest.fixture
def near(sqlite_settings: Settings) -> Iterator[Service]:
    """A server without accounts, for its own computer alone."""
    with running(sqlite_settings) as started:
        yield started


def accounts(service: Service) -> list[str]:
    return [user.email for user in service.store.read_now(users.everyone)]


LOCAL = ["localhost", "localhost:1", "LOCALHOST:8700", "tape.localhost", "localhost.", "127.0.0.1",
         "127.8.8.8:9", "[::1]", "[::1]:8700"]  # fmt: skip
FOREIGN = ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "localhost.evil.example",
           "evil-localhost", "192.168.1.7:8700", "0.0.0.0:8700", "[::]", "[fe80::1]:8700", "127.1",
           "2130706433", "[::1].evil.example", "localhost:1@evil.example", "localhost:evil",
           "[::1]:x@evil.example", "localhost@evil.example", "[localhost]"]  # fmt: skip


def test_a_local_server_answers_to_local_names(near: Service) -> None:
    with near.client() as client:
        for host in LOCAL:
            assert client.get("/healthz", headers={"Host": host}).status_code == 200, host


def test_a_local_server_answers_to_no_other_name(near: Service) -> None:
    """A page whose name points at 127.0.0.1 is of one origin with us, as far as a browser knows."""
    for host in FOREIGN:
        knock(near, host)
    assert accounts(near) == []


@pytest.mark.parametrize(
    ("target", "code"),
    [("evil.example", 403), ("localhost@evil.example", 403), ("127.0.0.1:1", 200)],
)
def test_a_host_in_the_target_of_a_request_counts_too(
    near: Service, target: str, code: int
) -> None:
    head = f"GET http://{target}/auth/signin HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close"
    said = raw_request(near, f"{head}\r\n\r\n".encode())
    assert said.startswith(f"HTTP/1.1 {code} ".encode()), said[:200]


def knock(service: Service, host: str) -> None:
    origin = {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    with service.client(Host=host) as client:
        for path in ("/", "/auth/signup", "/api/me", "/healthz", "/no/such", "/static/x.css"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["code"]) == (403, "foreign_host")
        for path in ("/auth/signup", "/auth/signup/form"):
            assert client.post(path, headers=origin, data=ADA).status_code == 403
        page = client.get("/", headers={"Accept": "text/html"})
        assert page.status_code == 403
        assert "public_url" in page.text


def test_a_request_without_a_host_comes_from_no_browser(near: Service) -> None:
    for head in (b"GET /time HTTP/1.0\r\n\r\n", b"GET /time HTTP/1.0\r\nHost: \r\n\r\n"):
        assert raw_request(near, head).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "change", [{"host": "0.0.0.0"}, {"host": "::"}, {"public_url": "https://tape.example"}]
)
def test_a_server_for_others_answers_to_every_name(
    sqlite_settings: Settings, change: dict[str, Any]
) -> None:
    with (
        running(replace(sqlite_settings, **change)) as service,
        service.client(Host="tape.example") as client,
    ):
        assert client.get("/healthz").status_code == 200


SITES = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "ours"},
]


def test_what_anybody_may_post_no_other_site_may(near: Service) -> None:
    ours: tuple[dict[str, str], ...] = (
        {},
        {"Origin": near.address},
        {"Sec-Fetch-Site": "same-origin"},
    )
    with near.client() as client:
        for path in OPEN_POSTS:
            address = path.replace("{token}", "x")
            for said in SITES:
                headers = {name: near.address if v == "ours" else v for name, v in said.items()}
                refused = client.post(address, data=ADA, headers=headers)
                assert (refused.status_code, refused.json()["code"]) == (403, "cross_site_request")
            for said in ours:
                assert client.post(address, data={}, headers=said).status_code != 403
    assert accounts(near) == []


def test_what_anybody_may_post_is_all_here() -> None:
    assert {"/auth/signup", "/auth/signin", "/auth/token", "/auth/signout"} < set(OPEN_POSTS)
    assert "/api/shared/{token}/pass" in OPEN_POSTS


AFAR: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "every address": ({"host": "0.0.0.0"}, {}),
    "every IPv6 address": ({"host": "::"}, {}),
    "an address of the network": ({"host": "192.0.2.1"}, {}),
    "a name that is not known": ({"host": "no.such.host.invalid"}, {}),
    "a public address": ({"public_url": "https://tape.example"}, {}),
    "a proxy": ({"trusted_proxies": "10.0.0.5"}, {}),
    "a proxy nobody named": ({}, {"X-Forwarded-For": "192.0.2.7"}),
    "one that names itself": ({}, {"Via": "1.1 edge"}),
    "one after the standard": ({}, {"Forwarded": "for=192.0.2.7"}),
    "one like nginx": ({}, {"X-Real-IP": "192.0.2.7"}),
}


@pytest.mark.parametrize("how", AFAR)
def test_from_afar_the_first_account_needs_the_setup_code(
    sqlite_settings: Settings, how: str
) -> None:
    change, headers = AFAR[how]
    with running(replace(sqlite_settings, **change)) as service:
        code = setup_code.shown(service.services.cipher)
        with service.client(**headers) as client:
            for given in ({}, {"setup_code": ""}, {"setup_code": "0000-0000-0000"}):
                refused = client.post("/auth/signup", json=ADA | given)
                assert (refused.status_code, refused.json()["code"]) == (403, "setup_code_needed")
                assert refused.json()["field"] == "setup_code"
            assert accounts(service) == []
            assert 'name="setup_code"' in client.get("/auth/signup").text
            made = client.post("/auth/signup", json=ADA | {"setup_code": code})
            assert made.status_code == 200, made.text
            # It opens nothing more.
            second = ADA | {"email": "eve@example.com", "setup_code": code}
            assert client.post("/auth/signup", json=second).json()["code"] == "invitation_needed"
            assert "setup_code" not in client.get("/auth/signup").text
        assert accounts(service) == [ADA["email"]]


@pytest.mark.parametrize("policy", ["open", "invite", "closed"])
def test_without_the_code_nobody_comes_before_the_first(
    sqlite_settings: Settings, policy: Any
) -> None:
    afar = replace(sqlite_settings, host="0.0.0.0", signup=policy)
    with running(afar) as service, service.client() as client:
        assert client.post("/auth/signup", json=ADA).json()["code"] == "setup_code_needed"


@pytest.mark.parametrize("write", [str, str.upper, lambda code: f" {code.replace('-', ' ')} "])
def test_the_code_is_read_however_it_is_written(
    sqlite_settings: Settings, write: Callable[[str], str]
) -> None:
    with running(replace(sqlite_settings, host="0.0.0.0")) as service, service.client() as client:
        code = write(setup_code.shown(service.services.cipher))
        form = {**ADA, "name": "Ada", "setup_code": code}
        own = {"Origin": service.address}
        wrong = client.post("/auth/signup/form", data=form | {"setup_code": "é"}, headers=own)
        assert wrong.status_code == 403
        assert "setup_code-error" in wrong.text
        assert client.post("/auth/signup/form", data=form, headers=own).status_code == 303


def test_the_code_is_the_same_after_a_restart(sqlite_settings: Settings) -> None:
    seen = set()
    for _ in range(2):
        with running(sqlite_settings) as service:
            seen.add(setup_code.shown(service.services.cipher))
    assert len(seen) == 1


def test_at_the_computer_itself_no_code_is_asked_for(near: Service) -> None:
    with near.client() as client:
        assert "setup_code" not in client.get("/auth/signup").text
        assert client.post("/auth/signup", json=ADA).status_code == 200


def test_who_is_invited_needs_no_code(service: Service, enter: Callable[[str], Person]) -> None:
    owner = enter("owner")
    secret, _ = service.store.write_now(invitations.invite, owner.actor, owner.id, "viewer", 1)
    with service.client(**{"X-Forwarded-For": "192.0.2.7"}) as client:
        made = client.post("/auth/signup", json=ADA | {"invitation": secret})
        assert made.status_code == 200
