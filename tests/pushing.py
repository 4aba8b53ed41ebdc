"""A model that pushes events over the wire, and those who read them back."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
from sqlalchemy import Connection, func, select

from tapeline.accounts import keys
from tapeline.models import models
from tapeline.store.tables.tape import pieces, tapes
from tapeline.tape import cleanup
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import whole_tape
from tapeline.tape.record import verify
from tests.conftest import Person, Service, run

JSON, FORM, NDJSON = "application/json", "application/x-www-form-urlencoded", "application/x-ndjson"
ORDER = {"symbol": "BTC-USD", "exchange": "alpaca", "id": "o1", "side": "buy", "size": 2.5}
RESULT: dict[str, Any] = {
    "backtest_id": "b1",
    "symbols": ["BTC-USD"],
    "quote_asset": "USD",
    "start_time": 100,
    "stop_time": 200,
    "account_values": [{"time": 100, "value": 1000}, {"time": 110, "value": None}],
    "trades": [{"symbol": "BTC-USD", "side": "buy", "time": 101, "price": 5}],
}


@dataclass(frozen=True)
class Model:
    """A model with a key of its project, as its owner sees it."""

    id: str
    project_id: str
    owner: Person
    service: Service
    client: httpx.Client
    headers: dict[str, str] = field(default_factory=dict)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """JSON, unless `data`, `files` or `content` say otherwise."""
        if body is not None:
            more["json"] = body
        headers = self.headers | more.pop("headers", {})
        return self.client.post(path, headers=headers, **more)

    def push(self, path: str, body: Any = None, **more: Any) -> None:
        answer = self.post(path, body, **more)
        assert (answer.status_code, answer.json()) == (200, {"status": "success"}), answer.text

    def refused(self, path: str, body: Any = None, status: int = 400, **more: Any) -> Any:
        answer = self.post(path, body, **more)
        assert answer.status_code == status, answer.text
        shape = answer.json()
        assert set(shape) <= {"error", "code", "field"}, shape
        assert isinstance(shape["error"], str)
        return shape

    def get(self, path: str = "", **params: Any) -> Any:
        answer = self.owner.get(f"/api/models/{self.id}{path}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def pages(self, path: str, **params: Any) -> list[list[dict[str, Any]]]:
        """All pages of a list, until there is no `next`."""
        found, cursor = [], None
        while True:
            page = self.get(path, **params, **({} if cursor is None else {"cursor": cursor}))
            found.append(page["items"])
            cursor = page["next"]
            if cursor is None:
                return found

    def items(self, path: str, **params: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(path, **params)["items"]
        return found

    def records(self) -> list[StoredEvent]:
        return self.service.store.read_now(
            lambda connection: list(whole_tape.records(connection, self.tape(connection)))
        )

    def bodies(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(record.body) for record in self.records()]

    def tape(self, connection: Connection) -> int:
        number = connection.scalar(select(tapes.c.no).where(tapes.c.model_id == self.id))
        return 0 if number is None else int(number)

    def size(self) -> int:
        """How many events are on the tape."""
        return len(self.records())

    def pieces(self) -> int:
        """How many there are of results that are shown, and of any that would never be cleared."""
        run(cleanup.clean_up_discards(self.service.store, time.time()))
        return self.service.store.read_now(
            lambda connection: connection.scalar(select(func.count()).select_from(pieces)) or 0
        )

    def first_break(self) -> int | None:
        return self.service.store.read_now(lambda c: verify.first_break(c, self.tape(c)))


@contextmanager
def pushing(service: Service, owner: Person, project_id: str | None = None) -> Iterator[Model]:
    store, project = service.store, project_id or owner.id
    model = store.write_now(
        models.create, owner.actor, project, name="Pusher", type="strategy", description=""
    )
    headers = new_key(service, owner, project) | {"model_id": model.id}
    with service.client() as client:
        yield Model(model.id, project, owner, service, client, headers)


def new_key(
    service: Service, owner: Person, project: str, *, read: bool = False, write: bool = True
) -> dict[str, str]:
    key, secret = service.store.write_now(
        keys.generate, owner.actor, project, name="k", read=read, write=write, autogenerated=False
    )
    return {"api_key": key.id, "api_pass": secret}


def raw_request(service: Service, content: bytes, seconds: float = 10) -> bytes:
    """What a server answers to bytes that no honest client would send."""
    where = urlsplit(service.address)
    with socket.create_connection((where.hostname, where.port), timeout=seconds) as connection:
        connection.sendall(content)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
            head, _, rest = answer.partition(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            if length and len(rest) >= int(length):
                break
    return answer
