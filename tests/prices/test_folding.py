"""Bars are stored as they arrive, and put into chunks by small writes that anyone may finish."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, func, select

from tapeline.background import Background
from tapeline.prices import arrivals, columns, storing
from tapeline.prices.arrivals import MOST_BARS, MOST_ROWS, Pushed
from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.folding import BEHIND, Folding
from tapeline.prices.series import ROW
from tapeline.prices.storing import CHUNK_ROW
from tapeline.store.store import Store
from tapeline.store.tables.prices import price_arrivals, price_chunks, price_series
from tapeline.store.tables.tape import tapes as tape_table
from tapeline.tape import tapes
from tests.conftest import Person, Service, on_both, run
from tests.pushing import Model, pushing

MINUTE, HOUR, DAY = 60, 3_600, 86_400
SPARE = 4
"""Rows by which a portion may be larger: its last coarser chunks."""


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def bars(step: int, count: int, price: float = 1.0) -> list[Bar]:
    return [(float(n * step), price, price, price, price, NOTHING) for n in range(count)]


def pushed(symbol: str, interval: int, some: list[Bar], at: float = 0.0) -> Pushed:
    return Pushed(symbol, "", interval, "", some, at)


REQUESTS: dict[str, list[Pushed]] = {
    "scattered": [pushed("A", HOUR, bars(660_000, 3_100))],
    "many series": [pushed(f"S{n}", HOUR, bars(HOUR, 1)) for n in range(400)],
    "dense": [pushed("A", MINUTE, bars(MINUTE, 10_000))],
    "days": [pushed("A", DAY, bars(DAY, 10_000))],
    "seconds": [pushed("A", 1, bars(3_400, 5_000))],
    "one": [pushed("A", MINUTE, bars(MINUTE, 1))],
}


@pytest.mark.parametrize("name", REQUESTS)
def test_an_arrival_is_a_bounded_portion_and_nothing_is_lost(name: str) -> None:
    found: dict[str, list[Bar]] = {}
    for content in arrivals.packed(REQUESTS[name]):
        parts = arrivals.unpacked(content)
        times = {part.key: columns.unpack(part.content).time for part in parts}
        touched = [arrivals.touched(some, key[2]) for key, some in times.items()]
        rows = sum(len(starts) for one in touched for starts in one.values())
        assert rows <= MOST_ROWS + SPARE
        assert sum(map(len, times.values())) <= MOST_BARS
        for part in parts:
            found.setdefault(part.symbol, []).extend(columns.unpack(part.content).rows())
    said = {one.symbol: one.bars for one in REQUESTS[name]}
    assert {symbol: repr(rows) for symbol, rows in found.items()} == {
        symbol: repr(rows) for symbol, rows in said.items()
    }


def arrive(store: Store, *some: Pushed, model_id: str = "m") -> int:
    """As a server does that is killed before it puts them into chunks."""

    def job(connection: Connection) -> int:
        tape = tapes.open_tape(connection, model_id)
        size = arrivals.store(connection, tape, list(arrivals.packed(some)))
        tapes.release_bytes(connection, tape, -size)
        return tape

    return store.write_now(job)


def folding(model: Model) -> Folding:
    hold: Callable[[Connection, int], bool] = tapes.hold
    return Folding(model.service.store, Background(), hold)


def held(connection: Connection, tape: int) -> tuple[int, int, int]:
    """The arrivals left, what the quota counts, and what is there."""
    size = func.sum(func.length(price_chunks.c.content) + CHUNK_ROW)
    chunks = connection.scalar(select(size).where(price_chunks.c.tape == tape)) or 0
    count = select(func.count())
    rows = connection.scalar(count.where(price_series.c.tape == tape)) or 0
    left = connection.scalar(count.where(price_arrivals.c.tape == tape)) or 0
    said = connection.scalar(select(tape_table.c.bytes).where(tape_table.c.no == tape)) or 0
    return left, int(said), int(chunks) + rows * ROW


@on_both
def test_arrivals_that_a_killed_server_left_are_put_into_chunks(model: Model) -> None:
    store = model.service.store
    some = pushed("A", HOUR, bars(HOUR, 3_000)), pushed("B", HOUR, bars(HOUR, 1))
    tape = arrive(store, *some, model_id=model.id)
    arrive(store, pushed("A", HOUR, bars(HOUR, 10, price=2.0)), model_id=model.id)
    run(folding(model).fold_all())
    found = model.get("/prices", symbol="A", points=5_000, **{"from": 0})["bars"]
    assert found["close"] == [2.0] * 10 + [1.0] * 2_990, "the last one received wins"
    assert [one["symbol"] for one in model.get("/prices")["symbols"]] == ["A", "B"]
    left, said, real = store.read_now(held, tape)
    assert (left, said) == (0, real), "the quota counts what is there"


def test_senders_of_single_bars_wait_once_many_are_not_in_chunks(model: Model) -> None:
    mine = folding(model)
    tape = arrive(model.service.store, pushed("A", HOUR, bars(HOUR, 2)), model_id=model.id)
    for _ in range(BEHIND):
        assert not mine.is_behind(tape)
        mine.note(tape)
    assert mine.is_behind(tape)
    while run(mine.portion(tape)):
        pass
    assert not mine.is_behind(tape)


def test_each_write_changes_few_rows_however_scattered_the_bars_are(store: Store) -> None:
    tape = arrive(store, pushed("A", HOUR, bars(660_000, 600)), *REQUESTS["many series"][:50])
    portions = 0
    while (plan := store.read_now(storing.plan, tape)) is not None:
        assert len(plan.chunks) <= MOST_ROWS + SPARE
        assert len(plan.series) <= MOST_ROWS
        assert store.write_now(storing.carry_out, plan)
        portions += 1
    assert portions > 10
    left, said, real = store.read_now(held, tape)
    assert (left, said) == (0, real), "the quota counts what is there"


def test_of_two_servers_that_plan_the_same_portion_one_is_first(store: Store) -> None:
    tape = arrive(store, pushed("A", HOUR, bars(HOUR, 5)))
    plans = [store.read_now(storing.plan, tape) for _ in range(2)]
    done = [plan and store.write_now(storing.carry_out, plan) for plan in plans]
    assert done == [True, False]
    left, said, real = store.read_now(held, tape)
    assert (left, said) == (0, real)
