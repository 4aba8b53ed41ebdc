"""Bars under an hour are kept for a while; the coarser ones made from them stay."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from tapeline.prices import retention
from tapeline.prices.arrivals import Pushed
from tapeline.prices.folding import store_now
from tapeline.prices.series import ROW
from tapeline.prices.source.standing import SHARED
from tapeline.prices.storing import CHUNK_ROW
from tapeline.store.tables.prices import price_chunks, price_series
from tapeline.store.tables.tape import tapes
from tests.conftest import Person, Service, on_both, run
from tests.pushing import Model, pushing

MINUTE, HOUR, DAY = 60, 3_600, 86_400


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def push(model: Model, start: int, count: int, interval: int) -> None:
    ones = [1] * count
    body: dict[str, Any] = dict.fromkeys(("open", "high", "low", "close", "volume"), ones)
    body["time"] = [start + number * interval for number in range(count)]
    model.push("/v1/live/bars", {**body, "symbol": "A", "interval": interval})


def held(connection: Connection, model: Model) -> tuple[int, int]:
    """What the quota counts, and what is there."""
    tape = model.tape(connection)
    mine = price_chunks.c.tape == tape
    size = func.sum(func.length(price_chunks.c.content) + CHUNK_ROW)
    chunks = connection.scalar(select(size).where(mine)) or 0
    rows = connection.scalar(select(func.count()).where(price_series.c.tape == tape)) or 0
    said = connection.scalar(select(tapes.c.bytes).where(tapes.c.no == tape)) or 0
    return int(said), int(chunks) + rows * ROW


@on_both
def test_old_bars_under_an_hour_go_and_coarser_ones_stay(model: Model) -> None:
    now = int(time.time()) // DAY * DAY
    start = now - 6 * DAY
    push(model, start, 6 * 24 * 60, MINUTE)
    push(model, start, 6 * 24, HOUR)
    for n in range(3):
        body = {"name": "i", "value": n}
        model.push("/v1/live/indicator", body, headers={"time": str(start + n)})
    store, window = model.service.store, {"from": start, "to": start + DAY}
    before = model.get("/prices", interval="1d", symbol="A")["bars"]
    assert model.get("/prices", interval="1m", points=2_000, **window)["interval"] == MINUTE
    removed = run(retention.remove_due(store, lambda seconds: now - seconds, 3))
    assert removed > 10
    found = model.get("/prices", interval="1m", points=2_000, **window)
    assert (found["interval"], found["source"]) == (HOUR, "bars")
    assert found["indicators"][0]["value"] == []
    day = {"from": now - 2 * DAY, "to": now - DAY}
    newest = model.get("/prices", interval="1m", points=2_000, **day)
    assert newest["bars"]["volume"] == [1] * len(newest["bars"]["time"])
    assert model.get("/prices", interval="1d", symbol="A")["bars"] == before
    assert len(model.get("/prices", interval="1h", **window)["bars"]["time"]) == 24
    said, real = store.read_now(held, model)
    assert said == real
    assert run(retention.remove_due(store, lambda seconds: now - seconds, 3)) == 0


def test_bars_of_the_price_source_are_kept_as_long(model: Model) -> None:
    store, now = model.service.store, int(time.time()) // DAY * DAY
    bars = [(float(now - n * MINUTE), 1.0, 1.0, 1.0, 1.0, 1.0) for n in range(4 * 24 * 60)]
    pushed = Pushed("B/USD", "kraken", MINUTE, "", bars, float(now))

    def minutes(connection: Connection) -> list[int]:
        here = (price_chunks.c.tape == SHARED, price_chunks.c.level == MINUTE)
        return list(connection.scalars(select(price_chunks.c.start).where(*here)))

    run(store_now(store, SHARED, [pushed]))
    before = store.read_now(minutes)
    run(retention.remove_due(store, lambda seconds: now - seconds, 2))
    after = store.read_now(minutes)
    assert 0 < len(after) < len(before)
    assert min(after) > min(before)


def test_a_project_sees_what_its_bars_take(model: Model) -> None:
    push(model, int(time.time()) // DAY * DAY - 5 * DAY, 100, HOUR)
    shown = model.owner.get(f"/api/projects/{model.project_id}/retention").json()["items"]
    [prices] = [one for one in shown if one["kind"] == "prices"]
    said, _ = model.service.store.read_now(held, model)
    assert 0 < prices["bytes"] < said
    assert prices["days"] == model.service.services.settings.bars_days


def test_a_late_bar_after_a_removal_leaves_the_coarser_ones_whole(model: Model) -> None:
    now = int(time.time()) // DAY * DAY
    push(model, now - 5 * DAY, 5 * 24 * 60, MINUTE)
    cutoff = now - 2 * DAY - 1_000
    run(retention.remove_due(model.service.store, lambda _: cutoff, 1))
    push(model, cutoff // MINUTE * MINUTE + MINUTE, 1, MINUTE)
    found = model.get("/prices", interval="1d")["bars"]
    assert found["volume"] == [24 * 60] * 5
    found = model.get("/prices", interval="1m", **{"from": now - 5 * DAY, "to": now - 4 * DAY})
    assert (found["interval"], found["source"]) == (4 * HOUR, "coarser bars")
