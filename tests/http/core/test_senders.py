"""Requests read in turns: one tenant's flood delays neither other tenants nor sign-ins."""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import Connection

from tapeline import turns
from tapeline.accounts import tenants
from tapeline.fair_line import Owner
from tapeline.fair_threads import FairThreads
from tapeline.http.routes import ROUTES
from tests.conftest import PASSWORD, Person, Service
from tests.http.deployment.uploading import deployed
from tests.pushing import ORDER, pushing


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@contextmanager
def computations_that_hang(service: Service, person: Person) -> Iterator[None]:
    """A tenant computes as much as it can, and one piece of work after the other waits."""
    with _hanging(service, person, service.store.compute, 20):
        queued(service.store.computers, 19)
        yield


@contextmanager
def reads_that_hang(service: Service, person: Person, count: int) -> Iterator[None]:
    """A tenant's reads take all readers that it can have, and do not end."""
    with _hanging(service, person, service.store.read, count):
        queued(service.store.readers, count - (service.services.settings.readers - 1))
        yield


@contextmanager
def _hanging(
    service: Service, person: Person, begin: Callable[..., Awaitable[None]], count: int
) -> Iterator[None]:
    hold = threading.Event()

    def hang(_connection: Connection) -> None:
        hold.wait()

    async def flood() -> None:
        tenant = service.store.read_now(tenants.of_user, person.id)
        turns.sender.set(Owner(tenant, person.id, person.id))
        await asyncio.gather(*(begin(hang) for _ in range(count)))

    thread = threading.Thread(target=lambda: asyncio.run(flood()))
    thread.start()
    try:
        yield
    finally:
        hold.set()
        thread.join()


def queued(threads: FairThreads, count: int) -> None:
    """Wait until so many pieces of work wait."""
    while threads.waiting != count:
        time.sleep(0.002)


def test_others_are_served_while_one_tenant_floods(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada, ben = enter("ada"), enter("ben")
    with reads_that_hang(service, ada, 50), service.client() as anybody:
        assert ben.get("/api/me").status_code == 200
        assert ben.get(f"/api/projects/{ben.id}/portfolio").status_code == 200
        signed_in = anybody.post("/auth/signin", json={"email": ben.email, "password": PASSWORD})
        assert signed_in.status_code == 200
        token = signed_in.json()["idToken"]
        assert anybody.get("/api/me", headers={"token": token}).status_code == 200
        assert anybody.get("/api/shared/no-such-link").status_code == 404
        assert anybody.get("/auth/signin").status_code == 200
        assert service.store.readers.waiting >= 47, "none of the flood was served meanwhile"


def test_computations_take_no_reader_and_tenants_take_turns_at_them_too(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada, ben = enter("ada"), enter("ben")
    with computations_that_hang(service, ada):
        assert ada.get("/api/me").status_code == 200, "her own reads are not delayed either"
        assert ben.get(f"/api/projects/{ben.id}/portfolio").status_code == 200
        assert ben.get("/api/portfolio").status_code == 200
        assert ben.get(f"/api/projects/{ben.id}/models").status_code == 200
        assert service.store.computers.waiting == 19, "none of hers was done meanwhile"


def test_uploads_are_checked_in_turns(service: Service, enter: Callable[[str], Person]) -> None:
    ada, ben = enter("ada"), enter("ben")
    threads = service.services.archives

    async def check(hang: Callable[[object], None]) -> None:
        await threads.begin(lambda: hang(None))

    with _hanging(service, ada, check, 20):
        queued(threads, 19)
        deployed(ben)
        assert threads.waiting == 19, "none of hers was done meanwhile"


@pytest.fixture
def link_of(service: Service) -> Iterator[Callable[[Person], str]]:
    """The token of a link to a live model."""
    with ExitStack() as opened:

        def made(owner: Person) -> str:
            model = opened.enter_context(pushing(service, owner))
            model.push("/v1/live/spot-market", ORDER)
            shared = model.owner.post(f"/api/models/{model.id}/shares", json={})
            token: str = shared.json()["token"]
            return token

        yield made


OF_A_LINK = ("/api/shared/{}/metrics", "/api/shared/{}/export.json", "/s/{}", "/embed/{}")


def test_visitors_of_a_link_take_the_turn_of_its_tenant_and_leave_the_line_with_their_client(
    service: Service, enter: Callable[[str], Person], link_of: Callable[[Person], str]
) -> None:
    ada = enter("ada")
    hers, his = link_of(ada), link_of(enter("ben"))
    before = answered_to_nobody(service)
    with computations_that_hang(service, ada), service.client() as anybody:
        asked = [path.format(hers) for path in OF_A_LINK]
        with connections(service, asked):
            queued(service.store.computers, 19 + len(asked))
            for path in OF_A_LINK:
                assert anybody.get(path.format(his)).status_code == 200
            assert anybody.get(f"/api/shared/{his}/record").is_success
            assert anybody.get("/api/shared/no-such-link").status_code == 404
            assert anybody.get("/auth/signin").status_code == 200
        while answered_to_nobody(service) < before + len(asked):
            time.sleep(0.002)


def test_the_parts_of_a_record_take_no_reader(
    service: Service, enter: Callable[[str], Person], link_of: Callable[[Person], str]
) -> None:
    ada = enter("ada")
    hers = link_of(ada)
    with (
        computations_that_hang(service, ada),
        connections(service, [f"/api/shared/{hers}/record"]),
    ):
        queued(service.store.computers, 20)
        assert service.store.readers.waiting == 0


COMPUTING = {"portfolio", "performance", "pnl", "prices", "metrics", "round-trips", "marks"}


def test_every_route_that_computes_for_long_takes_no_reader() -> None:
    rows = [one for one in ROUTES if one.reads and one.path.rpartition("/")[2] in COMPUTING]
    assert {one.path.rpartition("/")[2] for one in rows} == COMPUTING
    assert [one.path for one in rows if not one.computes] == []


def test_a_request_takes_the_turn_of_its_tenant(
    service: Service, enter: Callable[[str], Person]
) -> None:
    """Also with another sign-in: the flooding tenant waits behind its own reads."""
    ada = enter("ada")
    first = ada.get("/api/me")
    assert first.status_code == 200
    with reads_that_hang(service, ada, 10), pytest.raises(httpx.ReadTimeout):
        ada.get("/api/me", timeout=0.2)
    assert ada.get("/api/me").status_code == 200


def test_requests_whose_clients_left_leave_the_line(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada = enter("ada")
    token = ada.client.headers["token"]
    assert ada.get("/api/me").status_code == 200  # its tenant is known from here on
    before = answered_to_nobody(service)
    with reads_that_hang(service, ada, 10):
        with connections(service, ["/api/portfolio"] * 12, f"token: {token}\r\n"):
            queued(service.store.readers, 7 + 12)
        while answered_to_nobody(service) < before + 12:
            time.sleep(0.002)
    queued(service.store.readers, 0)


@contextmanager
def connections(service: Service, paths: Sequence[str], headers: str = "") -> Iterator[None]:
    """Requests whose clients leave at the end of the block, with or without an answer."""
    where = urlsplit(service.address)
    opened = [socket.create_connection((where.hostname, where.port)) for _ in paths]
    try:
        for one, path in zip(opened, paths, strict=True):
            head = f"GET {path} HTTP/1.1\r\nHost: {where.netloc}\r\n{headers}\r\n"
            one.sendall(head.encode())
        yield
    finally:
        for one in opened:
            one.close()


def answered_to_nobody(service: Service) -> float:
    """Requests that ended because their clients had left."""
    text = service.services.metrics.text(None, None, names=False).decode()
    lines = [line for line in text.splitlines() if 'status="499"' in line and "_total{" in line]
    return sum(float(line.rpartition(" ")[2]) for line in lines)
