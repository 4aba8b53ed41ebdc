"""Which reports about an order are changes after the fact, and which are not."""

from typing import Any

from tapeline.results.changes.change import Change, Report, late_by
from tapeline.results.changes.of_orders import History, history
from tapeline.results.rules.fills import Fill
from tapeline.tape.events import kinds

HOUR = 3_600.0
LATE = 300.0
MARKET, LIMIT, UPDATE = kinds.SPOT_MARKET, kinds.SPOT_LIMIT, kinds.UPDATE_TRADE


def told(*said: tuple[float, float, kinds.Kind, dict[str, Any]]) -> History:
    """Arrival, own time, kind and body of each report about one order."""
    order = {"id": "o", "symbol": "A-USD", "side": "buy", "size": 2.0}
    return history(
        [
            Report(seq, kind, time, at, {**order, **body} if kind in kinds.ORDERS else body)
            for seq, (at, time, kind, body) in enumerate(said, 1)
        ],
        LATE,
    )


def late(found: History) -> list[Change]:
    return [one for one in found.changes if one.late_by > LATE]


def fields(one: Change) -> dict[str, tuple[Any, Any]]:
    return {field.name: (field.before, field.after) for field in one.fields}


def prices(fills: list[Fill]) -> list[float]:
    return [float(fill.spec.price or 0) for fill in fills]


def test_a_price_that_is_changed_hours_later_is_a_change_from_what_to_what() -> None:
    found = told(
        (1.0, 0.0, MARKET, {"executionPrice": 60}),
        (5 * HOUR, 0.5, UPDATE, {"executionPrice": 190}),
    )
    (one,) = late(found)
    assert (one.sort, one.seq, one.late_by) == ("changed", 2, 5 * HOUR)
    assert fields(one) == {"price": (60.0, 190.0)}
    assert prices(found.first) == [60]
    assert prices(found.now) == [190]


def test_the_other_ways_to_rewrite_a_fill_are_changes_too() -> None:
    post = (1.0, 0.0, MARKET, {"executionPrice": 60})
    ways: dict[str, dict[str, Any]] = {
        "side": {"side": "sell"},
        "size": {"size": 9.0},
        "fee": {"fee": -50},
        "symbol": {"symbol": "B-USD"},
        "multiplier": {"multiplier": 10},
        "time": {"executionTime": 2 * HOUR},
    }
    for name, body in ways.items():
        found = told(post, (2 * HOUR, 2 * HOUR, UPDATE, body))
        assert [name in fields(one) for one in late(found)] == [True], name
        assert prices(found.first) == [60], name
    gone = told(post, (2 * HOUR, 2 * HOUR, UPDATE, {"status": "canceled"}))
    (one,) = late(gone)
    assert one.sort == "changed"
    assert fields(one)["price"] == (60, None)
    assert (prices(gone.first), gone.now) == ([60], [])


def test_posting_the_order_again_with_another_price_is_a_change() -> None:
    found = told(
        (0.0, 0.0, MARKET, {"executionPrice": 60}), (HOUR, HOUR, MARKET, {"executionPrice": 190})
    )
    assert [fields(one) for one in late(found)] == [{"price": (60, 190)}]


def test_an_order_that_is_reported_late_is_not_there_as_first_reported() -> None:
    found = told((HOUR, 0.0, MARKET, {"executionPrice": 60}))
    (one,) = late(found)
    assert (one.sort, one.time, one.late_by) == ("late", 0.0, HOUR)
    assert (prices(found.now), found.first) == ([60], [])


def test_a_change_within_the_limit_counts_as_first_reported() -> None:
    found = told((0.0, 0.0, MARKET, {}), (10.0, 9.0, UPDATE, {"executionPrice": 60, "fee": 1}))
    assert late(found) == []
    assert found.first == found.now


def test_repeating_a_late_price_does_not_make_it_first() -> None:
    found = told(
        (0.0, 0.0, MARKET, {"executionPrice": 60}),
        (HOUR, HOUR, UPDATE, {"executionPrice": 190}),
        (2 * HOUR, 2 * HOUR, UPDATE, {"executionPrice": 190}),
    )
    assert len(late(found)) == 1
    assert prices(found.first) == [60]


def test_confirming_a_limit_order_at_its_limit_price_is_no_change() -> None:
    limit = (0.0, 0.0, LIMIT, {"price": 60.0})
    for body in (
        {"status": "filled"},
        {"executionPrice": 60, "fee": 0.2},
        {"filled_size": 1.0},
        {"executionPrice": 60, "executionTime": 5 * HOUR - LATE},
        {"executionPrice": 60, "executionTime": 0.0},
    ):
        found = told(limit, (5 * HOUR, 5 * HOUR, UPDATE, body))
        assert late(found) == [], body
        assert found.first == found.now


def test_a_confirmation_that_names_a_time_long_ago_is_a_late_price() -> None:
    limit = (0.0, 0.0, LIMIT, {"price": 60.0})
    update = (5 * HOUR, 5 * HOUR, UPDATE, {"executionPrice": 60, "executionTime": HOUR})
    found = told(limit, update)
    (one,) = late(found)
    assert (one.about, one.sort, one.late_by) == ("price", "late", 4 * HOUR)
    assert fields(one) == {"price": (None, 60.0)}
    assert late_by(found.changes) is None, "its order was not changed"
    assert [fill.time for fill in (*found.first, *found.now)] == [0.0, HOUR]


def test_a_confirmation_at_another_price_is_a_change_unless_it_names_its_own_time() -> None:
    limit = (0.0, 0.0, LIMIT, {"price": 60.0})
    back_dated = told(limit, (5 * HOUR, 5 * HOUR, UPDATE, {"executionPrice": 10}))
    assert [fields(one) for one in late(back_dated)] == [{"price": (60, 10)}]
    in_time = told(
        limit, (5 * HOUR, 5 * HOUR, UPDATE, {"executionPrice": 59, "executionTime": 5 * HOUR - 1})
    )
    assert late(in_time) == []
    assert prices(in_time.first) == [59]


def test_a_confirmation_with_money_back_is_a_change() -> None:
    found = told(
        (0.0, 0.0, LIMIT, {"price": 60.0}),
        (5 * HOUR, 5 * HOUR, UPDATE, {"status": "filled", "fee": -50}),
    )
    assert [one.sort for one in late(found)] == ["changed"]


def test_each_rise_of_the_filled_size_at_its_own_time_is_no_change() -> None:
    found = told(
        (0.0, 0.0, LIMIT, {"price": 60.0}),
        (HOUR, HOUR, UPDATE, {"filled_size": 0.5, "filled_avg_price": 59}),
        (2 * HOUR, 2 * HOUR, UPDATE, {"filled_size": 1.5, "filled_avg_price": 59.5}),
    )
    assert late(found) == []
    assert found.first == found.now
    assert len(found.now) == 2


def test_a_canceled_order_that_was_only_assumed_is_withdrawn_and_counted_apart() -> None:
    found = told((0.0, 0.0, LIMIT, {"price": 60.0}), (HOUR, HOUR, UPDATE, {"status": "canceled"}))
    (one,) = late(found)
    assert (one.sort, one.late_by) == ("withdrawn", HOUR)
    assert found.first == found.now == []


def test_a_cancel_that_is_dated_back_leaves_the_first_report_as_it_was() -> None:
    found = told((0.0, 0.0, LIMIT, {"price": 60.0}), (HOUR, 1.0, UPDATE, {"status": "canceled"}))
    assert [one.sort for one in late(found)] == ["withdrawn"]
    assert (prices(found.first), found.now) == ([60], [])


def test_a_fill_that_is_dated_into_the_future_hides_no_change() -> None:
    far = {"executionPrice": 60, "executionTime": 100 * HOUR}
    found = told((0.0, 0.0, MARKET, far), (2 * HOUR, 2 * HOUR, UPDATE, {"executionPrice": 190}))
    assert [(fields(one), one.late_by) for one in late(found)] == [({"price": (60, 190)}, 2 * HOUR)]


def test_a_change_after_very_many_updates_is_still_found() -> None:
    small = [
        (float(n), float(n), UPDATE, {"filled_size": n / 1000, "filled_avg_price": 60})
        for n in range(1, 150)
    ]
    found = told((0.0, 0.0, MARKET, {}), *small, (HOUR, 0.5, UPDATE, {"side": "sell", "fee": -99}))
    assert [fields(one)["side"] for one in late(found)] == [("buy", "sell")]


def test_a_total_hours_after_the_status_filled_is_a_change_of_the_time() -> None:
    found = told(
        (100.0, 100.0, MARKET, {"executionPrice": 60}),
        (300.0, 300.0, UPDATE, {"status": "filled"}),
        (5 * HOUR, 301.0, UPDATE, {"filled_size": 2}),
    )
    (one,) = late(found)
    assert fields(one) == {"time": (100, 300)}
    assert [fill.time for fill in found.first] == [100]
    assert [fill.time for fill in found.now] == [300]
