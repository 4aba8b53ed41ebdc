"""The newest close of a held symbol's bars becomes a mark on the tape, at most once a minute."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, update

from tapeline.background import Background
from tapeline.results.prices.closes import Closes
from tapeline.store.tables.ledger import books
from tapeline.store.tables.prices import price_series
from tests.conftest import Person, Service, on_both, run
from tests.pushing import Model, pushing

BAR = {"symbol": "A", "interval": "1m", "open": 10, "high": 30, "low": 1, "close": 20}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def order(model: Model, side: str = "buy", **more: Any) -> None:
    body = {"id": side, "symbol": "A", "exchange": "x", "side": side, "size": 2}
    at = {"time": str(time.time() - 100)}
    model.push("/v1/live/spot-market", body | {"executionPrice": 10} | more, headers=at)
    model.get("/pnl")  # the books know it


def push(model: Model, close: float, ago: float = 0, **more: Any) -> None:
    start = (time.time() - ago) // 60 * 60
    model.push("/v1/live/bar", {**BAR, "close": close, **more}, headers={"time": str(start)})
    model.get("/prices")  # it is in its chunk


def marks(model: Model) -> list[dict[str, Any]]:
    """After one more look; the service takes its own looks, too."""
    services = model.service.services
    inbox, late = services.inbox, float(services.settings.late_seconds)
    closes = Closes(services.store, inbox.appender, services.watchers, Background(), late)
    run(closes.write_due())
    return [body for body in model.bodies() if "price" in body and "side" not in body]


def wait_a_minute(model: Model) -> None:
    def passed(connection: Connection) -> None:
        mine = price_series.c.tape == model.tape(connection)
        connection.execute(update(price_series).where(mine).values(marked_at=0.0))

    model.service.store.write_now(passed)


@on_both
def test_a_close_of_a_held_symbol_becomes_a_mark_with_its_source(model: Model) -> None:
    order(model)
    push(model, 20)
    assert marks(model) == [{"price": 20, "source": "bars", "symbol": "A"}]
    assert model.get("/pnl")["unrealized"] == 20
    assert model.first_break() is None


def test_there_is_at_most_one_mark_a_minute_and_then_the_newest_close(model: Model) -> None:
    order(model)
    for close in (20, 21, 22):
        push(model, close)
        assert len(marks(model)) == 1
    push(model, 23, interval="5m")
    assert len(marks(model)) == 1, "another interval of the same symbol"
    wait_a_minute(model)
    assert [one["price"] for one in marks(model)] == [20, 23]
    wait_a_minute(model)
    assert len(marks(model)) == 2, "nothing new"


def test_a_symbol_that_is_not_held_gets_no_mark(model: Model) -> None:
    push(model, 20)
    assert marks(model) == []
    order(model)
    order(model, "sell")
    push(model, 21)
    assert marks(model) == []
    order(model, "sell", id="short")
    push(model, 22)
    assert [one["price"] for one in marks(model)] == [22], "a short position is held too"


def test_a_close_that_is_old_or_no_price_becomes_no_mark(model: Model) -> None:
    order(model)
    push(model, 20, ago=600)
    assert marks(model) == []
    push(model, 0, low=-1)
    assert marks(model) == []


def test_the_newer_price_of_the_model_itself_is_left_alone(model: Model) -> None:
    order(model)
    ahead = {"time": str(time.time() + 30)}
    model.push("/v1/live/mark-price", {"symbol": "A", "price": 15, "source": "bars"}, headers=ahead)
    model.get("/pnl")
    push(model, 20)
    assert marks(model) == [{"price": 15, "symbol": "A"}], "and a model cannot name a source"


def test_a_symbol_that_cannot_be_judged_does_not_keep_others_from_their_marks(model: Model) -> None:
    for symbol in ("A", "B"):
        order(model, id=symbol, symbol=symbol)
        push(model, 20, symbol=symbol)

    def damage(connection: Connection) -> None:
        tape = model.tape(connection)
        mine = (books.c.tape == tape, books.c.symbol == "A")
        connection.execute(update(books).where(*mine).values(state=b"\xff"))
        again = {"due": True, "marked_at": 0.0}
        connection.execute(update(price_series).where(price_series.c.tape == tape).values(**again))

    model.service.store.write_now(damage)
    assert {one["symbol"] for one in marks(model)} >= {"B"}
