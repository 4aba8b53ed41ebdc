"""Strangers who guess passwords: ever slower, from however many addresses, in nobody's way."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from tapeline.accounts import devices, limits, passwords, users
from tapeline.settings import Settings
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Person, Service, running
from tests.http.sharing.scene import Link, shared
from tests.pushing import pushing

ADA = {"email": "ada@example.com", "password": PASSWORD}
WRONG = ADA | {"password": "wrong horse"}
FREE = 3

pytestmark = pytest.mark.heavy  # real passwords, and hashing them is slow on purpose


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait is over while a test runs, however slow it is; and wrong passwords are quick."""
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 300.0)
    slow = passwords.matches

    def quick(known: str | None, password: str) -> bool:
        return password != WRONG["password"] and slow(known, password)

    monkeypatch.setattr(passwords, "matches", quick)


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Behind a proxy, so that tests can come from many addresses. The counting itself is tested on
    both databases: tests/accounts/test_limits.py."""
    return replace(sqlite_settings, trusted_proxies="127.0.0.1", signin_limit_account=FREE)


@pytest.fixture
def ada(enter: Callable[[str], Person], service: Service) -> Person:
    """She signed in from 127.0.0.1 a long time ago."""
    person = enter("ada")
    long_ago = update(core.sign_ins).values(created_at=1.0)
    service.store.write_now(lambda connection: connection.execute(long_ago))
    return person


def at(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


def tries(client: httpx.Client, body: dict[str, str], address: str) -> httpx.Response:
    return client.post("/auth/signin", json=body, headers=at(address))


def use_up(service: Service, address: str, path: str = "/auth/signin", body: Any = WRONG) -> None:
    """All that is free to one address."""
    with service.client() as stranger:
        for _ in range(FREE):
            answer = stranger.post(path, json=body, headers=at(address))
            assert answer.status_code == 401, answer.text
        assert stranger.post(path, json=body, headers=at(address)).status_code == 429


@pytest.mark.usefixtures("ada")
def test_a_strangers_guesses_keep_nobody_else_out(service: Service) -> None:
    use_up(service, "192.0.2.66")
    with service.client() as owner:
        assert tries(owner, ADA, "192.0.2.1").status_code == 200
    with service.client() as stranger:
        assert tries(stranger, ADA, "192.0.2.66").status_code == 429, "not even with the right one"


@pytest.mark.usefixtures("ada")
def test_guesses_from_very_many_addresses_end_too(service: Service) -> None:
    under_siege(service)
    with service.client() as stranger:
        refused = tries(stranger, WRONG, "198.51.100.9")
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
        assert "signed in before" in refused.json()["error"]
        nobody = WRONG | {"email": "nobody@example.com"}
        assert tries(stranger, nobody, "198.51.100.9").status_code == 401


def under_siege(service: Service) -> None:
    """As if everything that is free to everybody had been used up from many addresses."""
    with service.client() as stranger:
        assert tries(stranger, WRONG, "198.51.100.1").status_code == 401
    raised = (
        update(core.attempts)
        .where(core.attempts.c.name.startswith("everybody:"))
        .values(count=10 * FREE * limits.FINE)
    )
    assert service.store.write_now(lambda c: c.execute(raised).rowcount) == 1


@pytest.mark.parametrize("by", ["a browser", "a script"])
@pytest.mark.usefixtures("ada")
def test_a_known_device_is_let_in_under_siege(service: Service, by: str) -> None:
    with service.client() as owner, service.client() as other:
        assert sign_in(owner, by, "192.0.2.1").status_code in {200, 303}
        assert forget_addresses(service)
        under_siege(service)
        for address in ("192.0.2.1", "203.0.113.5", "198.51.100.1"):
            assert sign_in(owner, by, address).status_code in {200, 303}, address
        assert sign_in(other, by, "203.0.113.77").status_code == 429
        # Its own slips are counted for it alone.
        for _ in range(FREE):
            assert tries(owner, WRONG, "203.0.113.5").status_code == 401
        assert tries(owner, ADA, "203.0.113.5").status_code == 429


def sign_in(client: httpx.Client, by: str, address: str) -> httpx.Response:
    if by == "a script":
        return tries(client, ADA, address)
    own = {"Origin": str(client.base_url).rstrip("/")}
    return client.post("/auth/signin/form", data=ADA, headers=at(address) | own)


def forget_addresses(service: Service) -> bool:
    gone = update(core.sign_ins).values(created_at=1.0)
    return service.store.write_now(lambda connection: connection.execute(gone).rowcount) > 0


@pytest.mark.usefixtures("ada")
def test_a_script_without_cookies_is_known_by_its_address(service: Service) -> None:
    with service.client() as script:
        assert tries(script, ADA, "192.0.2.1").status_code == 200
    under_siege(service)
    for address, status in (("192.0.2.1", 200), ("192.0.2.2", 429)):
        with service.client() as script:
            assert tries(script, ADA, address).status_code == status


@pytest.mark.usefixtures("ada")
def test_a_device_is_nobody_elses(service: Service, enter: Callable[[str], Person]) -> None:
    eve = enter("eve")
    under_siege(service)
    services = service.services
    with service.client() as client:
        signed_in = client.post("/auth/signin", json=ADA | {"email": eve.email}, headers=at("::1"))
        assert signed_in.status_code == 200
        (token,) = client.cookies.values()
        ada_id = cookie_name(service, "ada@example.com")
        for forged in (token, "", "x", "a.b.c", f"{token[:-1]}x", "x.99999999999.é", "x.5.0"):
            sent = {b"Cookie": f"{ada_id}={forged}".encode(), b"X-Forwarded-For": b"203.0.113.5"}
            assert client.post("/auth/signin", json=ADA, headers=sent).status_code == 429, forged
    known = (services.cipher, services.store.clock, eve.id, "another hash", token)
    assert devices.known(*known) is None


def cookie_name(service: Service, email: str) -> str:
    user = service.store.read_now(users.find, email)
    assert user is not None
    return devices.cookie_of(user.id)


@pytest.mark.usefixtures("ada")
def test_one_subscriber_of_ipv6_is_one(service: Service) -> None:
    with service.client() as stranger:
        statuses = [
            tries(stranger, WRONG, f"2001:db8:1:2:{n}:7:8:9").status_code for n in range(FREE + 1)
        ]
        assert statuses == [401] * FREE + [429]
        assert tries(stranger, WRONG, "2001:db8:1:3::1").status_code == 401


def test_nobody_but_a_trusted_proxy_says_where_a_request_comes_from(
    sqlite_settings: Settings,
) -> None:
    alone = replace(sqlite_settings, signin_limit_account=FREE)
    with running(alone) as service, service.client() as stranger:
        statuses = [
            tries(stranger, WRONG, f"192.0.2.{number}").status_code for number in range(FREE + 1)
        ]
    assert statuses == [401] * FREE + [429]


@pytest.fixture
def link(service: Service, ada: Person) -> Iterator[Link]:
    with pushing(service, ada) as model, service.client() as stranger:
        yield shared(model, stranger, password="open sesame")


def test_a_links_password_is_guessed_no_faster_from_many_addresses(
    service: Service, link: Link
) -> None:
    passing = f"/api/shared/{link.token}/pass"
    wrong, right = {"password": WRONG["password"]}, {"password": "open sesame"}
    use_up(service, "192.0.2.66", passing, wrong)
    assert link.client.post(passing, json=right, headers=at("192.0.2.1")).status_code == 200
    raised = (
        update(core.attempts)
        .where(core.attempts.c.name.startswith("share everybody:"))
        .values(count=10 * FREE * limits.FINE)
    )
    assert service.store.write_now(lambda c: c.execute(raised).rowcount) == 1
    for address in ("192.0.2.1", "198.51.100.9"):
        refused = link.client.post(passing, json=right, headers=at(address))
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
        assert int(refused.headers["retry-after"]) <= 900


def test_waiting_helps(service: Service, ada: Person) -> None:
    use_up(service, "192.0.2.66")
    earlier = update(core.attempts).values(since=core.attempts.c.since - 301)
    service.store.write_now(lambda connection: connection.execute(earlier))
    with service.client() as client:
        assert tries(client, ADA, "192.0.2.66").json()["userId"] == ada.id
        # And success forgets the slips before it.
        for _ in range(FREE):
            assert tries(client, WRONG | {}, "192.0.2.67").status_code == 401


def test_what_is_refused_writes_nothing(
    service: Service, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_up(service, "192.0.2.66")
    writers, write = list[str](), service.store.write

    def noted(job: Any, *args: Any, **kwargs: Any) -> Any:
        writers.append(job.__module__)
        return write(job, *args, **kwargs)

    monkeypatch.setattr(service.store, "write", noted)
    with service.client() as stranger:
        for _ in range(20):
            assert tries(stranger, WRONG, "192.0.2.66").status_code == 429
        # Loops of the server may write meanwhile.
        assert not [one for one in writers if one.startswith("tapeline.accounts")]
        another = WRONG | {"email": "eve@example.com"}
        assert tries(stranger, another, "192.0.2.67").status_code == 401
    assert limits.__name__ in writers, "what is not refused is counted"
