"""Quotas on the wire: what is over is told when to come back, what was traded always gets in."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, func, select, update

from tapeline.http.events.api import REFUSED_AFTER
from tapeline.settings import Settings
from tapeline.store.tables.tape import backtests, pages, pieces, tapes
from tests.conftest import Person, Service, on_both, running
from tests.pushing import ORDER, RESULT, Model, pushing

LOG, BATCH, RESULTS = "/v1/live/log", "/v1/batch", "/v1/backtest/result"
LONG = {"line": "x" * 60_000}
MEGABYTE = 1_000_000


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with running(replace(settings, quota_pushed=1, quota_key=2)) as started:
        # The minute of a quota is not over before a slow machine has pushed all of it.
        for meter in (started.services.quotas.pushed, started.services.quotas.pushed_by_key):
            meter.now = lambda: 0.0
        yield started


def told_to_wait(answer: httpx.Response) -> int:
    assert answer.status_code == 429, answer.text
    said = answer.json()
    assert (said["code"], set(said)) == ("quota_exceeded", {"error", "code"})
    return int(answer.headers["retry-after"])


def fill(model: Model) -> int:
    """Push lines until no more is taken; how many were."""
    for number in range(30):
        answer = model.post(LOG, LONG)
        if answer.status_code != 200:
            assert 1 <= told_to_wait(answer) <= 60
            return number
    pytest.fail("there is no quota")


def lines(count: int) -> list[dict[str, Any]]:
    return [{"path": LOG, "body": LONG}] * count


def test_a_model_over_its_quota_waits_and_what_it_trades_gets_in(model: Model) -> None:
    pushed = fill(model)
    assert pushed * 60_000 <= MEGABYTE < (pushed + 1) * 60_020
    assert model.size() == pushed
    model.push("/v1/live/spot-market", ORDER)
    model.push("/v1/live/update-trade", {"id": "o1", "fee": 1})
    model.push("/v1/live/update-annotation", {"id": "o1", "annotation": "x"})
    model.push("/v1/model/lifecycle", {"running": True})
    model.push("/v1/live/spot-market", data=ORDER | {"id": "form"})
    for path, body in (
        (LOG, LONG),
        ("/v1/live/event", {"type": "call", "args": {"text": "x" * 60_000}}),
        (RESULTS, RESULT | {"quote_asset": "x" * 60_000}),
    ):
        told_to_wait(model.post(path, body))
        told_to_wait(model.post(path, body, headers={"Idempotency-Key": path}))
    assert (model.size(), model.pieces(), model.first_break()) == (pushed + 5, 0, None)


def test_a_batch_over_the_quota_is_refused_whole_unless_it_carries_an_order(model: Model) -> None:
    model.push(BATCH, lines(10))
    for more in ({}, {"headers": {"Idempotency-Key": "one"}}):
        assert 1 <= told_to_wait(model.post(BATCH, lines(7), **more)) <= 60
    body = "".join(json.dumps(one) + "\n" for one in lines(7))
    ndjson = {"headers": {"content-type": "application/x-ndjson"}, "content": body}
    told_to_wait(model.post(BATCH, **ndjson))
    assert model.size() == 10
    model.push(BATCH, [*lines(7), {"path": "/v1/live/spot-market", "body": ORDER}])
    assert model.size() == 18
    escaped = json.dumps([*lines(7), {"path": "/v1/live/spot-market", "body": ORDER | {"id": "2"}}])
    hidden = escaped.replace("/v1/live/spot", "\\/v1\\/live\\/sp\\u006ft")
    content = {"content": hidden, "headers": {"content-type": "application/json"}}
    model.push(BATCH, **content)
    assert (model.size(), model.first_break()) == (26, None)


def test_what_never_fits_is_too_large(model: Model) -> None:
    refused = model.refused(BATCH, lines(18), status=413)
    assert "more than the quota of a whole minute" in refused["error"]
    assert "Send less at a time" in model.refused(RESULTS, long_result(), status=413)["error"]
    assert (model.size(), model.pieces()) == (0, 0)
    chunks = (chunk for chunk in [json.dumps(long_result()).encode()])
    headers = {"content-type": "application/json"}
    assert model.post(RESULTS, content=chunks, headers=headers).status_code == 413
    assert (model.size(), model.pieces()) == (0, 0)


def long_result() -> dict[str, Any]:
    values = [{"time": number, "value": 1000.5} for number in range(40_000)]
    return RESULT | {"account_values": values}


def test_each_model_has_its_own_and_all_of_a_key_one_together(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada = enter("ada")
    with (
        pushing(service, ada) as one,
        pushing(service, ada) as two,
        pushing(service, ada) as three,
    ):
        key = {name: one.headers[name] for name in ("api_key", "api_pass")}
        fill(one)
        for model in (two, three):
            model.headers.update(key)
        fill(two)
        refused = three.post(BATCH, lines(10))
        told_to_wait(refused)
        assert "This key has pushed" in refused.json()["error"]
        assert three.get()["counts"] == {}


def test_a_connection_that_is_kept_goes_on_after_a_refusal(model: Model) -> None:
    fill(model)
    for _ in range(3):
        told_to_wait(model.post(LOG, LONG))
        model.push("/v1/model/lifecycle", {"message": "still here"})


def set_bytes(connection: Connection, size: int) -> None:
    connection.execute(update(tapes).values(bytes=size))


def test_a_client_that_does_not_wait_is_answered_slowly(model: Model) -> None:
    """Or its refused requests would take the processor from all others."""
    fill(model)
    began = time.monotonic()
    for _ in range(4):
        told_to_wait(model.post(LOG, LONG))
    assert time.monotonic() - began >= 4 * REFUSED_AFTER


@on_both
def test_a_full_tape_takes_only_what_was_traded(model: Model) -> None:
    model.push(LOG, {"line": "first"})
    model.service.store.write_now(set_bytes, 20 * 10**9)
    once = {"headers": {"Idempotency-Key": "one"}}
    for more in ({}, once):
        answer = model.post(LOG, {"line": "late"}, **more)
        assert told_to_wait(answer) > 60
        assert "20 GB" in answer.json()["error"]
        told_to_wait(model.post(BATCH, lines(1), **more))
    told_to_wait(model.post(RESULTS, RESULT))
    model.push("/v1/live/spot-market", ORDER)
    model.push(BATCH, [*lines(1), {"path": "/v1/model/lifecycle", "body": {"running": True}}])
    assert (model.size(), model.pieces(), model.first_break()) == (4, 0, None)
    model.service.store.write_now(set_bytes, 1000)
    model.push(LOG, {"line": "late"}, **once)
    assert model.size() == 5


def held(connection: Connection) -> int:
    of_results = select(func.sum(func.length(pieces.c.content))).where(
        pieces.c.upload.in_(select(backtests.c.upload))
    )
    of_events = select(func.sum(func.length(pages.c.content)))
    return int((connection.scalar(of_events) or 0) + (connection.scalar(of_results) or 0))


@on_both
def test_what_a_tape_holds_is_counted_to_the_byte_and_shown(model: Model) -> None:
    def shown() -> Any:
        usage = model.get()["usage"]
        assert usage["tape"] == {
            "used": model.service.store.read_now(held), "quota": 20 * 10**9
        }  # fmt: skip
        return usage

    assert shown()["pushed"] == {"used": 0, "quota": MEGABYTE}
    model.push(LOG, {"line": "x"})
    assert shown()["pushed"]["used"] > 10
    model.push("/v1/live/spot-market", ORDER)
    model.push("/v1/live/spot-market", ORDER)  # a retry takes no room
    shown()
    model.push(RESULTS, RESULT)
    with_one = shown()["tape"]["used"]
    model.push(RESULTS, RESULT | {"trades": RESULT["trades"] * 500})
    assert shown()["tape"]["used"] > with_one
    assert model.owner.delete(f"/api/models/{model.id}/backtests/b1").status_code == 200
    assert shown()["captured"] == {"used": 0, "quota": 32 * MEGABYTE}
    project = model.owner.get(f"/api/projects/{model.project_id}").json()
    assert project["tape_bytes"] == model.service.store.read_now(held)
