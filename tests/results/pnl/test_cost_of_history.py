"""What history costs: an order in order reads and writes the same rows however long it is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event

from tapeline.results.pnl import planning
from tapeline.results.pnl.books import carry_out
from tapeline.settings import Settings
from tapeline.store.store import Store
from tests.results.pnl.bookkeeping import Books, appender_in

MARKET, UPDATE = "spot-market", "update-trade"


@pytest.fixture
def kept(store: Store, settings: Settings) -> Books:
    """Books on each of the two databases."""
    return Books(store, appender_in(settings.data / "keys"))


def order(number: int, **more: Any) -> dict[str, Any]:
    side = "sell" if number % 2 else "buy"
    return {
        "id": str(number), "symbol": "BTC-USD", "exchange": "x", "side": side, "size": 1.5,
        "price": 100.0 + number % 7, **more,
    }  # fmt: skip


def fill(books: Books, first: int, last: int) -> None:
    books.push(*[(float(number), MARKET, order(number)) for number in range(first, last)])
    books.keep()


@contextmanager
def counting(store: Store) -> Iterator[list[str]]:
    """The statements of both engines, and how many rows each read answered."""
    seen: list[str] = []

    def note(*happened: Any) -> None:
        seen.append(str(happened[2]).split("\n")[0].strip())

    engines = (store.database.reading, store.database.writing)
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    yield seen
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


def cost_of_one(books: Books, number: int) -> tuple[int, int, int, int]:
    """Statements, entries read, entries written, stretches of the curve written."""
    books.push((float(number), MARKET, order(number)))
    with counting(books.store) as seen:
        (plan,) = books.keep()
    return len(seen), plan.read, len(plan.entries), len(plan.curves)


def test_an_order_in_order_costs_the_same_whatever_the_history(kept: Books) -> None:
    fill(kept, 0, 100)
    few = cost_of_one(kept, 100)
    fill(kept, 101, 2500)
    assert cost_of_one(kept, 2500) == few
    assert few[1:] == (0, 1, 1)


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_the_database_searches_and_never_scans(kept: Books) -> None:
    """SQLite says how it goes about each statement of a look and of a portion."""
    fill(kept, 0, 300)
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_more: Any) -> None:
        asked.append((statement, values))

    event.listen(kept.store.database.reading, "before_cursor_execute", note)
    kept.push((150.5, MARKET, order(999)), (301.0, MARKET, order(1000)))
    kept.pnl()
    kept.orders()
    event.remove(kept.store.database.reading, "before_cursor_execute", note)

    def ways(connection: Connection) -> set[str]:
        found: set[str] = set()
        for statement, values in asked:
            if statement.startswith("SELECT"):
                rows = connection.exec_driver_sql(f"explain query plan {statement}", values)
                found |= {str(row[3]) for row in rows}
        return found

    used = kept.store.read_now(ways)
    of_entries = {way for way in used if " entries " in way or " events " in way}
    assert of_entries
    assert not {way for way in of_entries if way.startswith("SCAN") or way.endswith("(tape=?)")}
    assert not {way for way in used if "TEMP B-TREE" in way and "ORDER" in way}


def test_a_late_order_goes_through_what_comes_after_it_and_little_more(kept: Books) -> None:
    fill(kept, 0, 1000)
    kept.push((899.5, MARKET, order(5001)))
    (plan,) = kept.keep()
    assert 100 <= plan.read <= 100 + 2 * planning.COPIED_EVERY
    scratch = Books(kept.store, kept.appender)
    fill(scratch, 0, 900)
    scratch.push((899.5, MARKET, order(5001)))
    fill(scratch, 900, 1000)
    assert kept.pnl() == scratch.pnl()


def test_an_update_about_the_first_order_is_cut_into_portions(
    kept: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer gets a bounded piece at a time, and in between the totals stay whole."""
    fill(kept, 0, 1000)
    before = kept.pnl().realized
    monkeypatch.setattr(planning, "AGAIN", 300)
    kept.push((2000.0, UPDATE, {"id": "0", "fee": 1.0}))
    kept.push((2001.0, MARKET, order(2001, fee=1.0)))
    plan = kept.store.read_now(planning.plan, kept.tape, 2**62)
    assert plan is not None
    assert kept.store.write_now(carry_out, plan)
    assert plan.ledger.pending
    assert len(kept.keep()) >= 3
    assert before is not None
    after = kept.pnl()  # the last one sold what was not held: only its fee counts
    assert (after.realized, after.fees) == (before - 2, 2)


def test_of_two_servers_one_does_the_work(kept: Books) -> None:
    fill(kept, 0, 10)
    kept.push((10.0, MARKET, order(10)))
    plans = [kept.store.read_now(planning.plan, kept.tape, 2**62) for _ in range(2)]
    assert None not in plans
    done = [kept.store.write_now(carry_out, plan) for plan in plans if plan is not None]
    assert done == [True, False]
    assert kept.pnl().counts.fills == 11


def test_books_may_be_kept_while_orders_come_in(kept: Books) -> None:
    def push_all() -> None:
        for number in range(100):
            kept.push((float(number), MARKET, order(number)))

    pushing = threading.Thread(target=push_all)
    pushing.start()
    while pushing.is_alive():
        kept.keep()
    pushing.join()
    assert kept.pnl().counts.fills == 100
    again = Books(kept.store, kept.appender)
    fill(again, 0, 100)
    assert kept.pnl() == again.pnl()
