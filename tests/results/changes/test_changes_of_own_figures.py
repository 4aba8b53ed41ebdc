"""A model's own figures: when they, or computing, took the place of what was counted before."""

from typing import Any

from tapeline.results.changes.change import Change
from tests.results.changes.both_ways import Found, from_both
from tests.results.pnl.bookkeeping import Books

HOUR = 3_600.0
LATE = 300.0


def push(books: Books, at: float, kind: str, body: dict[str, Any]) -> None:
    """Arrives at its own time."""
    books.received_at = at
    books.push((at, kind, body))


def own(books: Books, at: float, *values: tuple[float, float]) -> None:
    push(books, at, "set-pnl", {"values": [{"time": t, "value": value} for t, value in values]})


def lose(books: Books) -> None:
    """Bought at 100 and sold at 60."""
    order = {"symbol": "A-USD", "exchange": "x", "size": 1}
    push(books, 10.0, "spot-market", {**order, "id": "in", "side": "buy", "executionPrice": 100})
    push(books, 20.0, "spot-market", {**order, "id": "out", "side": "sell", "executionPrice": 60})


def fields(one: Change) -> dict[str, tuple[Any, Any]]:
    return {field.name: (field.before, field.after) for field in one.fields}


def both(found: Found) -> tuple[dict[str, float], dict[str, float]]:
    return found[1].first.by_currency, found[1].now.by_currency


def test_empty_figures_before_the_first_order_are_none(books: Books) -> None:
    own(books, 0.0)
    lose(books)
    own(books, 5 * HOUR, (5 * HOUR, 50.0))
    found = from_both(books, LATE)
    assert both(found) == ({"USD": -40}, {"USD": 50})
    (one,) = found[0]
    assert (one.about, one.sort, one.late_by) == ("own_figures", "changed", 5 * HOUR - 10)
    assert fields(one)["source"] == ("computed", "model")
    assert fields(one)["value"] == (None, 50)


def test_cash_before_the_figures_counts_as_an_order_does(books: Books) -> None:
    push(books, 0.0, "cash", {"type": "fee", "amount": -40})
    own(books, 5 * HOUR, (5 * HOUR, 50.0))
    found = from_both(books, LATE)
    assert both(found) == ({"USD": -40}, {"USD": 50})
    assert [fields(one)["source"] for one in found[0]] == [("computed", "model")]


def test_figures_from_the_first_order_on_are_no_change(books: Books) -> None:
    own(books, 0.0, (0.0, 0.0))
    lose(books)
    own(books, HOUR, (0.0, 0.0), (HOUR, -40.0))
    own(books, 2 * HOUR, (0.0, 0.0), (HOUR, -40.0), (2 * HOUR, -30.0))
    found = from_both(books, LATE)
    assert found[0] == []
    assert both(found) == ({"USD": -30}, {"USD": -30})


def test_a_changed_value_is_listed_from_what_to_what(books: Books) -> None:
    own(books, 0.0, (0.0, -40.0))
    own(books, HOUR, (0.0, 50.0))
    found = from_both(books, LATE)
    (one,) = found[0]
    assert fields(one) == {"values": (None, 1), "value": (-40, 50)}
    assert both(found) == ({"USD": -40}, {"USD": 50})


def test_giving_up_own_figures_is_a_change(books: Books) -> None:
    own(books, 0.0, (0.0, -90.0))
    lose(books)
    own(books, HOUR)
    found = from_both(books, LATE)
    (one,) = found[0]
    assert fields(one)["source"] == ("model", "computed")
    assert fields(one)["value"] == (-90, None)
    assert both(found) == ({"USD": -90}, {"USD": -40})


def test_a_value_of_the_future_that_is_changed_before_it_is_due_is_a_change(books: Books) -> None:
    own(books, 0.0, (100 * HOUR, -40.0))
    own(books, 5 * HOUR, (100 * HOUR, 50.0))
    found = from_both(books, LATE)
    assert [one.sort for one in found[0]] == ["early", "changed"]
    assert fields(found[0][1])["value"] == (-40, 50)
    assert found[0][1].late_by == 5 * HOUR
    assert both(found) == ({"USD": -40}, {"USD": 50})


def test_a_value_of_the_future_does_not_hide_what_is_said_until_then(books: Books) -> None:
    first = (100 * HOUR, 50.0)
    own(books, 0.0, first)
    own(books, 5 * HOUR, (5 * HOUR, -40.0), first)
    found = from_both(books, LATE)
    assert [(one.sort, one.time) for one in found[0]] == [("early", 100 * HOUR)]
    assert both(found) == ({"USD": -40}, {"USD": 50})


def test_turning_the_computation_off_or_on_is_a_change(books: Books) -> None:
    lose(books)
    push(books, HOUR, "auto-pnl", {"enabled": False})
    found = from_both(books, LATE)
    assert [fields(one) for one in found[0]] == [{"source": ("computed", "off")}]
    assert both(found) == ({"USD": -40}, {})
    push(books, 2 * HOUR, "auto-pnl", {"enabled": True})
    found = from_both(books, LATE)
    assert [fields(one)["source"] for one in found[0]][1] == ("off", "computed")


def test_turning_the_computation_off_before_the_first_order_is_none(books: Books) -> None:
    push(books, 0.0, "auto-pnl", {"enabled": False})
    lose(books)
    found = from_both(books, LATE)
    assert found[0] == []
    assert (found[1].first.source, found[1].now.source) == ("off", "off")


def test_figures_and_switches_count_in_the_order_of_their_arrival(books: Books) -> None:
    lose(books)
    push(books, HOUR, "auto-pnl", {"enabled": False})
    own(books, 2 * HOUR, (2 * HOUR, 50.0))
    push(books, 3 * HOUR, "auto-pnl", {"enabled": True})
    own(books, 4 * HOUR)
    assert [fields(one)["source"] for one in from_both(books, LATE)[0]] == [
        ("computed", "off"), ("off", "model"), ("model", "computed"),
    ]  # fmt: skip
