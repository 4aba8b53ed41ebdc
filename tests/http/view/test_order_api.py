"""Reading orders back: merged, filtered, found by time, tailed, and marked on charts."""

import csv
import io
from typing import Any

import pytest

from tapeline.http.view import model_files
from tapeline.tape.reading import order_list, order_marks
from tests.conftest import Service, on_both
from tests.pushing import ORDER, Model


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def pushed(model: Model, count: int, **more: Any) -> None:
    """Orders a second apart, the first at 1,000 s; every third is a sell."""
    path, side = "/v1/live/spot-market", ("buy", "buy", "sell")
    model.push(
        "/v1/batch",
        [
            {
                "path": path,
                "time": 1_000 + n,
                "body": ORDER | {"id": f"o{n}", "side": side[n % 3], "symbol": f"S{n % 2}"} | more,
            }
            for n in range(count)
        ],
    )


@on_both
def test_orders_of_a_stretch_of_time_are_found_however_long_ago(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_list, "PATIENCE", 20)
    monkeypatch.setattr(order_list, "SOUGHT", 20)
    pushed(model, 100)
    first = model.get("/orders", since=1_010, until=1_019, limit=4)
    assert [one["id"] for one in first["items"]] == ["o19", "o18", "o17", "o16"]
    found = model.pages("/orders", since=1_010, until=1_019, limit=4)
    assert [len(page) for page in found] == [4, 4, 2]
    found = model.pages("/orders", since=1_010, until=1_019, symbol="S1", limit=2)
    assert [one["id"] for page in found for one in page] == ["o19", "o17", "o15", "o13", "o11"]
    found = model.pages("/orders", since=1_010, until=1_019, side="sell")
    assert [one["id"] for page in found for one in page] == ["o17", "o14", "o11"]
    # More than one request may look at: page by page, as with any other filter.
    found = model.pages("/orders", since=1_010, until=1_079)
    assert [one["id"] for page in found for one in page] == [f"o{n}" for n in range(79, 9, -1)]
    assert model.items("/orders", since=5_000) == []


@on_both
def test_orders_are_tailed(model: Model) -> None:
    pushed(model, 10)
    newest = model.items("/orders")
    after = newest[6]["seq"]
    found = model.pages("/orders", after=after, limit=4)
    assert [[one["id"] for one in page] for page in found] == [
        ["o4", "o5", "o6", "o7"],
        ["o8", "o9"],
    ]
    assert [one["id"] for one in model.items("/orders", after=after, side="sell")] == ["o5", "o8"]


@on_both
def test_the_symbols_of_all_orders_are_listed_whatever_became_of_them(model: Model) -> None:
    pushed(model, 4)
    model.push("/v1/live/spot-limit", ORDER | {"id": "c", "symbol": "GONE-EUR", "price": 5})
    model.push("/v1/live/update-trade", {"id": "c", "status": "canceled"})
    model.push("/v1/model/used-symbol", {"symbol": "WATCHED"})
    assert model.get("/orders/symbols")["items"] == ["GONE-EUR", "S0", "S1"]
    assert model.get("")["symbols"] == ["WATCHED"]


def test_orders_are_downloaded_as_they_are_listed(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "ORDERS", 3)
    pushed(model, 9, executionPrice=2, fee=0.5, annotation="=1+1")
    answer = model.owner.get(f"/api/models/{model.id}/orders.csv", params={"side": "sell"})
    assert 'filename="' in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [one["id"] for one in rows] == ["o2", "o5", "o8"]
    assert (rows[0]["time"], rows[0]["date"]) == ("1002.0", "1970-01-01T00:16:42+00:00")
    assert (rows[0]["fill_price"], rows[0]["fill_fee"]) == ("2.0", "0.5")
    assert rows[0]["annotation"] == "'=1+1", "no spreadsheet computes what a model writes"
    every = model.owner.get(f"/api/models/{model.id}/orders.csv").text
    assert len(every.splitlines()) == 10


@on_both
def test_orders_are_marked_one_by_one_or_counted(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_marks, "FEW", 10)
    pushed(model, 60)
    few = model.get("/orders/marks", **{"from": 1_000, "to": 1_004})
    assert not few["grouped"]
    assert [(one["time"], one["side"], one["order_id"]) for one in few["items"]] == [
        (1_000 + n, "sell" if n % 3 == 2 else "buy", f"o{n}") for n in range(5)
    ]
    many = model.get("/orders/marks", stretches=4)
    assert many["grouped"]
    assert sum(one["count"] for one in many["items"]) == 60
    assert {one["side"]: one["count"] for one in many["items"][:2]} == {"buy": 10, "sell": 5}
    assert [one["time"] for one in many["items"]] == sorted(one["time"] for one in many["items"])
    assert not any(one["more"] for one in many["items"])
    monkeypatch.setattr(order_marks, "MANY", 20)
    assert model.get("/orders/marks", stretches=4) == many
    monkeypatch.setattr(order_marks, "MOST", 6)
    capped = model.get("/orders/marks", stretches=4)["items"]
    assert sum(one["count"] for one in capped) == 24
    assert all(one["more"] for one in capped)
    pushed(model, 20, note="again")  # updates change no time
    assert sum(one["count"] for one in model.get("/orders/marks", stretches=1)["items"]) == 6
    assert model.get("/orders/marks", **{"from": 9_000}) == {"items": [], "grouped": False}


@on_both
def test_orders_merge_with_what_is_said_about_them(model: Model) -> None:
    update, annotate = "/v1/live/update-trade", "/v1/live/update-annotation"
    model.push(update, {"id": "o1", "status": "filled", "executed_price": 7}, headers={"time": "9"})
    assert model.items("/orders") == []
    model.push("/v1/live/spot-market", ORDER | {"annotation": "first"}, headers={"time": "5"})
    model.push(update, {"id": "o1", "status": "new", "fees": 1}, headers={"time": "8"})
    model.push(annotate, {"id": "o1", "annotation": "late"}, headers={"time": "7"})
    model.push(annotate, {"id": "o1", "annotation": "later"}, headers={"time": "6"})
    (order,) = model.items("/orders")
    assert (order["status"], order["annotation"], order["time"]) == ("filled", "late", 5)
    assert (order["fill"]["price"], order["fill"]["fee"]) == (7, 1)
    assert order["type"] == "spot-market"
    model.push(annotate, {"id": "o1", "annotation": None}, headers={"time": "10"})
    assert model.items("/orders")[0]["annotation"] is None


@on_both
def test_a_retried_order_changes_nothing_and_another_content_is_an_update(model: Model) -> None:
    path = "/v1/live/spot-limit"
    order = ORDER | {"price": 10, "note": {"b": 1, "a": 2}}
    model.push(path, order, headers={"time": "5"})
    before = model.owner.get(f"/api/models/{model.id}/tape").content
    shuffled = dict(reversed(list((order | {"note": {"a": 2, "b": 1}, "side": "BUY"}).items())))
    for same in (order, shuffled, order | {"price": "10.0", "size": "2.5"}):
        model.push(path, same, headers={"time": "99"})
    model.push("/v1/batch", [{"path": path, "body": order}] * 3)
    assert model.owner.get(f"/api/models/{model.id}/tape").content == before
    model.push(path, order | {"symbol": "ETH-USD", "side": "sell"}, headers={"time": "6"})
    model.push("/v1/live/spot-market", ORDER, headers={"time": "1"})
    assert model.size() == 3
    (merged,) = model.items("/orders")
    # The earliest post is the base; the others are updates, by their times.
    assert (merged["type"], merged["time"], merged["symbol"]) == ("spot-market", 1, "ETH-USD")
    assert merged["price"] == 10
    # Found as it is shown.
    assert model.items("/orders", symbol="BTC-USD") == []
    assert len(model.items("/orders", symbol="ETH-USD", side="SELL")) == 1
    model.push("/v1/live/update-trade", {"id": "o1", "symbol": {"odd": 1}})
    assert model.items("/orders", symbol="ETH-USD") == []
    assert model.first_break() is None


@on_both
def test_orders_are_filtered_by_symbol_side_and_time(model: Model) -> None:
    for number, (symbol, side) in enumerate((("A", "buy"), ("B", "sell"), ("A", "sell"))):
        order = ORDER | {"id": str(number), "symbol": symbol, "side": side}
        model.push("/v1/live/spot-market", order, headers={"time": str(100 + number)})

    def ids(**wanted: Any) -> list[str]:
        return [one["id"] for one in model.items("/orders", **wanted)]

    assert ids(symbol="A") == ["2", "0"]
    assert ids(side="Sell") == ["2", "1"]
    assert ids(symbol="A", side="sell") == ["2"]
    assert ids(since=101) == ["2", "1"]
    assert ids(until=101) == ["1", "0"]
    assert ids(since=101, until=101) == ["1"]
    assert ids(symbol="C") == []
    page = model.get("/orders", symbol="A", limit=1)
    assert [one["id"] for one in model.get("/orders", symbol="A", cursor=page["next"])["items"]] \
        == ["0"]  # fmt: skip
