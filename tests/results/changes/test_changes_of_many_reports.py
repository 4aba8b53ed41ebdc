"""Every report about an order counts, however many there are, and costs no look at all others."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.results.changes import of_orders
from tapeline.results.changes.change import Report
from tapeline.results.changes.of_orders import History, OrderFold, history
from tapeline.results.changes.order_version import Version
from tapeline.results.rules.fills import Fill, fills_of
from tapeline.results.rules.position import exact
from tapeline.results.rules.rises import statement
from tapeline.tape.events import kinds
from tapeline.tape.orders import OrderState, Part, take_post, take_update
from tests.examples import some

HOUR = 3_600.0
LATE = 300.0
ORDER = {"id": "o", "symbol": "A-USD", "side": "buy", "size": 1_000.0}
Said = tuple[float, float, dict[str, Any]]


def reports(*said: Said) -> list[Report]:
    """Arrival, own time and content of each update, after a limit order."""
    post = Report(1, kinds.SPOT_LIMIT, 0.0, 0.0, {**ORDER, "price": 60.0})
    return [
        post,
        *(
            Report(seq, kinds.UPDATE_TRADE, time, at, {"id": "o", **body})
            for seq, (at, time, body) in enumerate(said, 2)
        ),
    ]


def rises(count: int) -> list[Said]:
    return [
        (float(n), float(n), {"filled_size": n / 1000, "filled_avg_price": 59.0})
        for n in range(1, count + 1)
    ]


def prices(found: History) -> list[tuple[float | str | None, float | str | None]]:
    return [
        (field.before, field.after)
        for one in found.changes
        for field in one.fields
        if field.name == "price"
    ]


def test_each_of_many_late_prices_is_listed_and_none_is_first() -> None:
    post = (1.0, 0.0, {"executionPrice": 60, "executionTime": 0.5})
    later = [(n * HOUR, 0.5 + n / 1000, {"executionPrice": 60 + n}) for n in range(1, 151)]
    found = history(reports(post, *later), LATE)
    assert prices(found) == [(60 + n - 1, 60 + n) for n in range(51, 151)]  # the newest hundred
    assert [float(fill.spec.price or 0) for fill in found.first] == [60]


def test_a_rewritten_price_is_listed_though_a_later_report_takes_it_back() -> None:
    """Compared as one, the two would have been nothing."""
    taken_back = [
        (HOUR, 500.0, {"filled_avg_price": 1.0}),
        (HOUR + 1, 501.0, {"filled_avg_price": 59.0}),
    ]
    found = history(reports(*rises(150), *taken_back), LATE)
    assert prices(found) == [(59, 1), (1, 59)]
    assert sum(fill.spec.size or 0 for fill in found.first) == sum(
        fill.spec.size or 0 for fill in found.now
    )


@pytest.mark.heavy
def test_very_many_rises_at_their_own_times_are_no_changes() -> None:
    found = history(reports(*rises(3_000)), LATE)
    assert found.changes == []
    assert found.first == found.now
    assert len(found.now) == 3_000


@pytest.mark.heavy
def test_an_order_that_is_changed_all_over_is_still_listed_report_by_report(
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(of_orders, "PATIENCE", 5_000)
    mixed = [
        (HOUR + n, 100.0 + (n * 37) % 101 / 1000, {"filled_size": n / 100}) for n in range(1, 400)
    ]
    fold, listed = OrderFold(LATE), []
    for one in reports(*rises(100), *mixed):
        listed.append(fold.take(one) is not None)
    assert all(listed[-200:])
    whole = Version()
    for one in reports(*rises(100), *mixed):
        whole.take(one)
    assert fold.history().now == whole.fills


WORDS = st.fixed_dictionaries(
    {},
    optional={
        "filled_size": st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, None]),
        "filled_avg_price": st.sampled_from([50.0, 60.0, 99.0]),
        "executionPrice": st.sampled_from([40.0, 70.0]),
        "executionTime": st.integers(0, 900).map(float),
        "fee": st.sampled_from([0.0, 1.0, -3.0]),
        "status": st.sampled_from(["canceled", "filled", "settled"]),
        "side": st.sampled_from(["buy", "sell"]),
    },
)


def booked(told: list[Report]) -> list[Fill]:
    """As the books take them, from all at once."""
    state, statements = OrderState(), []
    for one in told:
        if one.kind in kinds.ORDERS:
            take_post(state, Part(one.time, one.seq, one.kind.name, one.fields, ""))
            continue
        take_update(state, one.fields, one.time, one.seq)
        if said := statement(one.fields, one.time, one.seq):
            statements.append(said)
    with exact():
        return fills_of(state, statements)


@given(st.lists(st.tuples(st.integers(0, 900), WORDS), max_size=12), st.integers(0, 2**32))
@settings(max_examples=some(150), deadline=None)
def test_adding_reports_and_taking_them_back_gives_the_same_fills(
    said: list[tuple[int, dict[str, Any]]], seed: int
) -> None:
    chance, version, kept = random.Random(seed), Version(), []
    for one in reports(*((float(time), float(time), body) for time, body in said)):
        version.take(one)
        if chance.random() < 0.3:
            version.undo()
            continue
        kept.append(one)
        anew = Version()
        for other in kept:
            anew.copy().take(other)
            anew.take(other)
        slow = anew.copy()  # knows no portions, so it makes all fills again
        slow.take_unseen(one._replace(fields={}))
        slow.refresh()
        assert version.fills == anew.fills == slow.fills == booked(kept)
        assert (version.arrivals, version.since) == (anew.arrivals, anew.since)
