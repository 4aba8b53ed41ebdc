"""Killed under load, many times: what was acknowledged is there, once, in an unbroken chain."""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import Connection, select

from tapeline import compose
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store.tables.tape import orders, tapes
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import seals
from tapeline.tape.reading import whole_tape
from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.conftest import database_url, run_sql
from tests.examples import rounds

pytestmark = pytest.mark.heavy

ROUNDS = {"sqlite": 12, "postgresql": 6}
ACKNOWLEDGED_PER_ROUND = 40  # requests before the kill, so that it comes in the middle of work
PATIENCE = 120.0  # seconds for them, however slow the machine
IN_A_BATCH = 25


@dataclass(frozen=True)
class Request:
    """One request and the names of the events in it, which occur nowhere else."""

    path: str
    body: Any
    names: list[str]
    key: str | None = None


@dataclass
class Client:
    """Sends one kind of request after the other until the server is gone."""

    number: int
    headers: dict[str, str]
    kind: str
    keyed: bool
    acknowledged: list[Request] = field(default_factory=list)
    unanswered: list[Request] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    names: "count[int]" = field(default_factory=count)

    def request(self) -> Request:
        some = IN_A_BATCH if self.kind == "batch" else 1
        names = [f"{self.kind}-{self.number}-{next(self.names)}" for _ in range(some)]
        key = f"key-{names[0]}" if self.keyed else None
        if self.kind == "batch":
            items = [{"path": path, "body": body} for path, body in map(_mixed, names)]
            return Request("/v1/batch", items, names, key)
        return Request(*(_order if self.kind == "order" else _log)(names[0]), names, key)

    def push(self, address: str) -> None:
        """Until the connection breaks: the server was killed, and nobody knows about the last."""
        with httpx.Client(
            base_url=address, headers=self.headers, timeout=30, verify=False
        ) as client:
            for again in self._to_repeat():
                self._send(client, again)
            while self._send(client, self.request()):
                pass

    def finish(self, address: str) -> None:
        """Once the server stays up: every repeat has to be answered."""
        with httpx.Client(
            base_url=address, headers=self.headers, timeout=30, verify=False
        ) as client:
            for again in self._to_repeat():
                assert self._send(client, again)

    def _to_repeat(self) -> list[Request]:
        """With the same key: what was never answered, and something that was."""
        if not self.keyed:
            return []
        unknown, self.unanswered = self.unanswered, []
        return unknown + self.acknowledged[-2:]

    def _send(self, client: httpx.Client, request: Request) -> bool:
        headers = {} if request.key is None else {"Idempotency-Key": request.key}
        try:
            answer = client.post(request.path, json=request.body, headers=headers)
        except httpx.TransportError:
            self.unanswered.append(request)
            return False
        if answer.status_code == 200:
            self.acknowledged.append(request)
        else:
            self.refused.append(answer.text)
        return answer.status_code == 200


def _log(name: str) -> tuple[str, dict[str, Any]]:
    return "/v1/live/log", {"line": name}


def _order(name: str) -> tuple[str, dict[str, Any]]:
    body = {"id": name, "symbol": "BTC", "exchange": "cb", "side": "buy", "size": 1, "price": 2}
    return "/v1/live/spot-limit", body


def _mixed(name: str) -> tuple[str, dict[str, Any]]:
    return _order(name) if name.endswith(("0", "5")) else _log(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """Its URL; empty for SQLite, which lies in the data directory."""
    if request.param == "sqlite":
        return ""
    server: str = request.getfixturevalue("postgres_server")
    name = f"killed_{new_id()}"
    run_sql(server, f"create database {name}")
    return database_url(server, name)


@pytest.mark.repeated
def test_a_server_killed_under_load_loses_and_doubles_nothing(home: Home, database: str) -> None:
    model_id, headers = _model(_start(home, database))
    chosen = [(kind, keyed) for kind in ("log", "order", "batch") for keyed in (False, True)]
    clients = [Client(number, headers, *one) for number, one in enumerate(chosen)]
    for _ in range(rounds(ROUNDS["postgresql" if database else "sqlite"])):
        _push_and_kill(home.servers[-1], clients)
        _start(home, database)
    for client in clients:
        client.finish(home.servers[-1].address)
    home.servers[-1].end()
    assert not [text for client in clients for text in client.refused]
    assert sum(len(client.unanswered) for client in clients), "no request was ever cut off"
    _check(Settings(data=home.data, database=database), model_id, clients)


def _start(home: Home, database: str) -> Server:
    return home.up(*(["--database", database] if database else []))


def _model(server: Server) -> tuple[str, dict[str, str]]:
    with server.client() as client:
        account = {"email": "ada@example.com", "password": PASSWORD}
        signed_up = client.post("/auth/signup", json=account).json()
        client.headers["token"] = signed_up["idToken"]
        project = {"projectId": signed_up["userId"]}
        model = client.post("/model/create-model", json={**project, "name": "m"}).json()["modelId"]
        key = client.post("/project/generate-project-token", json=project).json()
    return model, {"model_id": model, "api_key": key["apiKey"], "api_pass": key["apiPass"]}


def _push_and_kill(server: Server, clients: list[Client]) -> None:
    before, deadline = _done(clients), time.monotonic() + PATIENCE
    threads = [threading.Thread(target=one.push, args=(server.address,)) for one in clients]
    for thread in threads:
        thread.start()
    while _done(clients) < before + ACKNOWLEDGED_PER_ROUND and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(random.uniform(0, 0.05))  # at any point of a commit
    server.end(signal.SIGKILL)
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert _done(clients) >= before + ACKNOWLEDGED_PER_ROUND, "too little got through"


def _done(clients: list[Client]) -> int:
    return sum(len(client.acknowledged) for client in clients)


def _check(settings: Settings, model_id: str, clients: list[Client]) -> None:
    with compose.open_store(settings) as store:
        records, head, folded = store.read_now(_everything, model_id)
    names = Counter(_name(record) for record in records)
    acknowledged = _names(request for client in clients for request in client.acknowledged)
    unanswered = _names(request for client in clients for request in client.unanswered)
    assert acknowledged - names.keys() == set(), "acknowledged, but missing"
    assert {name for name, times in names.items() if times > 1} == set(), "there twice"
    assert names.keys() - acknowledged - unanswered == set(), "never sent"
    assert {name for name in names if _is_order(name)} == folded
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert seals.first_break(records, head) is None


def _everything(
    connection: Connection, model_id: str
) -> tuple[list[StoredEvent], tuple[int, bytes], set[str]]:
    tape = connection.execute(select(tapes).where(tapes.c.model_id == model_id)).one()
    folded = connection.scalars(select(orders.c.id).where(orders.c.tape == tape.no))
    return list(whole_tape.records(connection, tape.no)), (tape.seq, bytes(tape.link)), set(folded)


def _name(record: StoredEvent) -> str:
    body = msgspec.json.decode(record.body)
    return str(body.get("id") or body["line"])


def _names(requests: Iterable[Request]) -> set[str]:
    return {name for request in requests for name in request.names}


def _is_order(name: str) -> bool:
    return name.startswith("order") or (name.startswith("batch") and name.endswith(("0", "5")))
