"""Large bodies wait on disk: bounded for each key and in all, and gone with their request."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service, running
from tests.http.wire.raw import connect, say, statuses
from tests.pushing import JSON, RESULT, Model
from tests.waiting import wait_for

MULTIPART = "multipart/form-data; boundary=b"
PART = b'--b\r\ncontent-disposition: form-data; name="trades"; filename="t"\r\n\r\n'


def begun(model: Model, path: str, encoding: str, body: bytes) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in model.headers.items())
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{head}content-type: {encoding}\r\n"
    return f"{head}content-length: 20000000\r\n\r\n".encode() + body


def files_in(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


@contextmanager
def small(model: Model, **limits: Any) -> Iterator[Service]:
    """Another server for the same model, with limits of its own."""
    with running(replace(model.service.services.settings, **limits)) as service:
        yield service


@pytest.mark.parametrize(
    ("path", "encoding", "body"),
    [
        ("/v1/batch", JSON, b"[" + b" " * 2_000_000),
        ("/v1/batch", "application/x-ndjson", b"\n" * 2_000_000),
        ("/v1/backtest/result", JSON, b"{" + b" " * 2_000_000),
        ("/v1/backtest/result", MULTIPART, PART + b" " * 2_000_000),
    ],
)
def test_an_unfinished_large_body_is_on_disk_and_not_in_memory(
    model: Model, path: str, encoding: str, body: bytes
) -> None:
    with small(model) as service:
        spool = service.services.staging.rooms
        with ExitStack() as opened:
            for _ in range(3):
                wire = opened.enter_context(connect(service.address))
                say(wire, begun(model, path, encoding, body))
            wait_for(lambda: spool.taken.total() > 5_900_000)
            wait_for(lambda: sum(one.stat().st_size for one in files_in(spool.folder)) > 5_900_000)
            wait_for(lambda: service.services.connections.held < 1_000_000)
        wait_for(lambda: not any(spool.folder.iterdir()))
        wait_for(lambda: spool.taken.total() == 0)
        wait_for(lambda: service.services.connections.held == 0)


@pytest.mark.parametrize(
    ("limits", "status", "code"),
    [
        ({"max_spool_owner": 3_000_000}, 429, "too_many_uploads"),
        ({"max_spool": 3_000_000}, 503, "overloaded"),
    ],
)
def test_the_spool_is_bounded_for_a_key_and_in_all(
    model: Model, limits: dict[str, int], status: int, code: str
) -> None:
    first = begun(model, "/v1/batch", JSON, b"[" + b" " * 2_000_000)
    with small(model, **limits) as service:
        spool = service.services.staging.rooms
        with connect(service.address) as holding, connect(service.address) as refused:
            say(holding, first)
            wait_for(lambda: spool.taken.total() > 1_900_000)
            say(refused, first)
            answer = refused.recv(4096)
            assert statuses(answer) == [status]
            assert f'"code":"{code}"'.encode() in answer
            assert b"retry-after: " in answer.lower()
        wait_for(lambda: spool.taken.total() == 0)
        with service.client(**model.headers) as client:
            items = [{"path": "/v1/live/log", "body": {"line": "x" * 1000}}] * 1_500
            assert client.post("/v1/batch", json=items).is_success


def test_a_large_batch_is_stored_once_for_one_idempotency_key(model: Model) -> None:
    items = [{"path": "/v1/live/log", "body": {"line": "x" * 1000}}] * 1_500
    for _ in range(2):
        model.push("/v1/batch", items, headers={"idempotency-key": "k"})
    assert model.size() == 1_500
    shape = model.refused("/v1/batch", items[1:], status=409, headers={"idempotency-key": "k"})
    assert shape["code"] == "idempotency_key_reused"


def test_a_body_of_many_files_takes_no_descriptor_for_each(model: Model) -> None:
    fields = {key: value for key, value in RESULT.items() if key not in ("trades", "metrics")}
    texts = [(key, (None, json.dumps(value))) for key, value in fields.items()]
    many: list[Any] = [(f"f{number}", ("f", "x" * 20_000)) for number in range(30)]
    shape = model.refused("/v1/backtest/result", files=[*texts, *many])
    assert "more than 16 files" in shape["error"]


def test_one_list_comes_once(model: Model) -> None:
    pad = [("pad", (None, "x" * 300_000))]
    twice: list[Any] = [("trades", ("f", "[]")), ("trades", ("f", "[]"))]
    shape = model.refused("/v1/backtest/result", files=[*pad, *twice])
    assert (shape["field"], shape["code"]) == ("trades", "invalid")
