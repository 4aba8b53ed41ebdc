"""Stored tapes and records, at once or in steps: the same changes and the same two figures."""

import math
import random
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from tapeline.fair_threads import Abandoned
from tapeline.results.changes import stored, stored_orders
from tapeline.results.changes.folding import Folded
from tapeline.results.changes.stored import Changes, Place
from tapeline.results.pnl.summary import Pnl
from tapeline.tape import pages as packing
from tapeline.tape.reading import channels
from tests.examples import some
from tests.results.changes.both_ways import from_record, from_store
from tests.results.pnl.bookkeeping import Books, Opened
from tests.results.pnl.test_random_histories import Part, histories

LATE = 30.0


def totals(found: Pnl) -> dict[str, Any]:
    return {name: one.total for name, one in found.by_currency.items()}


def pushed(books: Books, parts: Iterable[tuple[float, Part]]) -> None:
    """Together what arrives together, because each push is a commit."""
    for received_at, together in groupby(parts, lambda one: one[0]):
        books.received_at = received_at
        books.push(*(part for _, part in together))


@pytest.mark.heavy
@given(histories(), st.data())
@settings(max_examples=some(60), deadline=None)
def test_a_store_in_steps_and_a_record_give_the_same_changes_and_figures(
    opened: Opened, parts: list[Part], data: st.DataObject
) -> None:
    behind = st.sampled_from([0.0, 1.0, 20.0, 40.0, 150.0])
    arriving = sorted(
        ((40.0 * math.ceil((part[0] + data.draw(behind)) / 40), part) for part in parts),
        key=lambda one: one[0],
    )
    books, in_steps = Books(*opened), Changes()
    half = len(arriving) // 2
    pushed(books, arriving[:half])
    if half:
        assert from_store(books, in_steps, LATE) == from_record(books, LATE)
    pushed(books, arriving[half:])
    record = from_record(books, LATE)
    assert from_store(books, in_steps, LATE) == from_store(books, Changes(), LATE) == record
    assert record[1].now.by_currency == totals(books.pnl())


@given(histories(), st.randoms())
@settings(max_examples=some(40), deadline=None)
def test_whatever_arrives_in_time_is_first_reported_in_any_order(
    opened: Opened, parts: list[Part], chance: Any
) -> None:
    books = Books(*opened)
    mixed = list(parts)
    chance.shuffle(mixed)
    pushed(books, ((200.0, part) for part in mixed))
    changes, figures = from_record(books, 1_000.0)
    assert [one.sort for one in changes if one.sort != "replaced"] == []
    assert figures.first == figures.now
    assert from_store(books, Changes(), 1_000.0) == (changes, figures)


@given(histories(), st.integers(1, 4))
@settings(max_examples=some(20), deadline=None)
def test_a_request_whose_client_leaves_loses_nothing_and_takes_nothing_twice(
    opened: Opened, parts: list[Part], patience: int
) -> None:
    books, kept, looks = Books(*opened), Changes(), 0
    pushed(books, ((200.0 * number, part) for number, part in enumerate(parts)))
    own = [{"time": 1.0, "value": 5.0}]
    pushed(books, [(9_000.0, (9_000.0, "set-pnl", {"values": own}))])

    def leave() -> None:
        nonlocal looks
        looks += 1
        if looks % patience == 0:
            raise Abandoned

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "PORTION", 3)
        patch.setattr(stored_orders, "AT_ONCE", 2)
        patch.setattr(stored_orders, "TOGETHER", 2)
        patch.setattr(stored_orders, "OFTEN", 2)
        patch.setattr(stored, "checkpoint", leave)
        patch.setattr(stored_orders, "checkpoint", leave)
        for attempt in range(2_000):
            patience += attempt % 3 == 2
            try:
                found = from_store(books, kept, LATE)
            except Abandoned:
                continue
            break
    assert found == from_record(books, LATE)


def test_a_tape_without_events_has_no_changes(opened: Opened) -> None:
    books = Books(*opened)
    changes, figures = from_store(books, Changes(), LATE)
    assert changes == []
    assert figures.is_same


def test_strewn_late_updates_cost_one_look_at_each_page(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orders were folded by the thousand, and each thousand unpacked all pages again."""
    books, size, pages = Books(*opened), 2_500, 25
    numbers = list(range(size))
    order = {"symbol": "A-USD", "exchange": "x", "side": "buy", "size": 1.0, "price": 60.0}
    parts: list[tuple[float, Part]] = [
        (10.0 + n * pages // size, (1.0, "spot-limit", {"id": f"o{n}", **order})) for n in numbers
    ]
    random.Random(1).shuffle(numbers)
    parts += [
        (900.0 + place * pages // size, (900.0, "update-trade", {"id": f"o{n}", "status": "filled",
         "executionPrice": 61.0}))
        for place, n in enumerate(numbers)
    ]  # fmt: skip
    pushed(books, parts)
    unpacked: list[int] = []

    def unpack(content: bytes) -> Any:
        unpacked.append(len(content))
        return packing.unpack(content)

    def look(connection: Connection) -> Folded:
        return Changes().at(connection, Place(books.tape, 2 * size, LATE))

    monkeypatch.setattr(channels, "unpack", unpack)
    assert books.store.read_now(look).counts.orders == size
    # All are read three times: to find the first report, the orders that were touched, and to fold.
    assert len(unpacked) <= 3 * 2 * pages
