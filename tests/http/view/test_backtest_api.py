"""Backtests as people read them: metrics, series, round trips, words, comparison."""

from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from tapeline.results.metrics import all_metrics
from tests.conftest import Person, Service, on_both
from tests.http.view.pushed_backtests import PATH, computed, result
from tests.pushing import Model, new_key, pushing
from tests.results.metrics.series import DAY, MONDAY, every_day, frame, qs, walk
from tests.waiting import wait_for


def test_metrics_stand_beside_the_models_own(model: Model) -> None:
    custom = {"alpha": {"value": 3, "display_name": "Alpha", "type": "number"}}
    model.push(PATH, result(metrics=custom))
    found = computed(model)
    assert set(found) == set(all_metrics.BY_NAME)
    returns = frame(every_day(400), walk(400))
    assert found["sharpe"]["value"] == pytest.approx(qs.sharpe(returns, periods=365))
    assert found["max_drawdown"]["value"] == pytest.approx(qs.max_drawdown(returns))
    assert found["trades"]["value"] == 3
    for one in found.values():
        assert set(one) <= {"value", "display_name", "type", "explanation", "reason"}
        assert ("reason" in one) == (one["value"] is None)
    shown = model.get("/backtests/b1")
    assert shown["metrics"]["custom"] == custom
    assert shown["basis"]["periods_per_year"] == 365
    (listed,) = model.items("/backtests")
    assert set(listed["metrics"]["computed"]) == {
        "total_return",
        "sharpe",
        "max_drawdown",
        "trades",
    }
    wait_for(lambda: not model.items("/backtests")[0]["metrics"]["computing"])
    brief = model.items("/backtests")[0]["metrics"]["computed"]
    assert brief["sharpe"] == found["sharpe"]


def test_a_backtest_without_a_result_answers_everywhere(model: Model) -> None:
    model.push("/v1/backtest/status", {"backtest_id": "b1", "successful": False})
    found = computed(model)
    assert {one["reason"] for one in found.values()} == {"No result has arrived."}
    for path in ("equity", "drawdown", "indicators", "trades", "round-trips", "logs"):
        assert model.items(f"/backtests/b1/{path}") == [], path
    assert model.get("/backtests/b1/periods")["years"] == []
    assert model.get("/backtests/b1/rolling")["sharpe"] == []
    sheet = model.owner.get(f"/api/models/{model.id}/backtests/b1/tear-sheet")
    assert "No result has arrived" in sheet.text
    assert model.get("/backtests/b1/export.json")["account_values"] == []
    assert model.get("/backtests-compare", ids="b1")["items"][0]["reason"]


@pytest.mark.heavy
@on_both
def test_odd_results_answer_everywhere(model: Model) -> None:
    odd: list[list[dict[str, Any]]] = [
        [],
        [{"time": MONDAY, "value": 1}],
        [{"time": MONDAY, "value": None}],
        [{"time": MONDAY + n, "value": 5} for n in range(50)],
        [{"time": MONDAY + n * DAY, "value": 10 - n} for n in range(50)],
        [{"time": MONDAY, "value": n} for n in range(50)],
        [{"time": -n * DAY, "value": 100 + n} for n in range(50)],
        [{"time": n * 1e18, "value": 1e308} for n in range(5)],
        [{"time": MONDAY + n * DAY, "value": 1e308 * (-1) ** n} for n in range(50)],
    ]
    trades = [{"symbol": "=1+1", "side": "nod", "time": 1e18}, {"symbol": "A", "side": "buy",
              "time": -1, "size": "many", "price": None, "nested": {"a": [1]}}]  # fmt: skip
    one = f"/api/models/{model.id}/backtests/odd"
    for values in odd:
        model.push(PATH, result("odd", account_values=values, trades=trades))
        for path in (
            "", "/equity", "/drawdown", "/rolling", "/periods", "/indicators", "/trades",
            "/round-trips", "/logs", "/tear-sheet", "/export.csv", "/trades.csv",
            "/round-trips.csv", "/export.json",
        ):  # fmt: skip
            answer = model.owner.get(one + path)
            assert answer.status_code == 200, (values[:2], path, answer.text)
        assert (
            model.owner.get(f"/api/models/{model.id}/backtests-compare?ids=odd").status_code == 200
        )


def test_series_are_zoomed_and_keep_their_extremes(model: Model) -> None:
    times, values = every_day(3_000), walk(3_000)
    values[777] = 99_999.0
    points = [{"time": t, "value": v} for t, v in zip(times.tolist(), values.tolist(), strict=True)]
    indicator = {"rsi": {"display_name": "RSI", "type": "line", "values": points}}
    model.push(PATH, result(account_values=points[::-1], indicators=indicator))
    whole = model.get("/backtests/b1/equity", points=50)
    assert (len(whole["items"]) <= 50, whole["total"]) == (True, 3_000)
    assert max(one["value"] for one in whole["items"]) == 99_999
    near = model.items("/backtests/b1/equity", **{"from": times[10], "to": times[20]})
    assert near == points[10:21]
    drawdown = model.get("/backtests/b1/drawdown", points=100)
    assert min(one["value"] for one in drawdown["items"]) == pytest.approx(
        drawdown["deepest"][0]["depth"]
    )
    (rsi,) = model.items("/backtests/b1/indicators", points=20, **{"from": times[500]})
    assert (rsi["name"], rsi["total"], len(rsi["items"]) <= 20) == ("rsi", 3_000, True)
    assert rsi["items"][0]["time"] == times[500]
    rolling = model.get("/backtests/b1/rolling")
    assert (rolling["window"], rolling["reason"]) == (182, None)
    assert 900 < len(rolling["sharpe"]) <= 1_000
    (*_, last) = model.get("/backtests/b1/periods")["years"]
    assert len(last["months"]) == 12
    assert model.owner.get(f"/api/models/{model.id}/backtests/b1/equity?from=x").status_code == 400


@on_both
def test_round_trips_are_listed_the_last_first(model: Model) -> None:
    trades = [
        {"symbol": "A", "side": "buy" if n % 2 == 0 else "sell", "time": n, "size": 1, "price": n}
        for n in range(1, 2_502)
    ]
    long_only = {"positions": "long_only"}
    assert model.owner.patch(f"/api/models/{model.id}/account", json=long_only).is_success
    model.push(PATH, result(trades=trades))
    page = model.get("/backtests/b1/round-trips", limit=1000)
    assert page["summary"]["count"] == 1_250
    seen = page["items"]
    while page["next"]:
        page = model.get("/backtests/b1/round-trips", limit=1000, cursor=page["next"])
        seen += page["items"]
    assert [one["index"] for one in seen] == list(range(1_249, -1, -1))
    assert {one["profit"] for one in seen} == {1}
    assert page["summary"]["warnings"] == [
        "1 of 2,501 trades sold more than was held; the rest was left out."
    ]


def test_the_profit_of_round_trips_is_net_of_their_own_fees(model: Model) -> None:
    said = (("buy", 4, 10, 4), ("sell", 1, 20, 2), ("buy", 2, 10, 7))
    trades = [
        {"symbol": "A", "side": side, "time": at, "size": size, "price": price, "fee": fee}
        for at, (side, size, price, fee) in enumerate(said)
    ]
    model.push(PATH, result(trades=trades))
    summary = model.get("/backtests/b1/round-trips")["summary"]
    assert (summary["profit"], summary["fees"]) == (10 - 3, 3)
    assert (summary["open_count"], summary["open_fees"]) == (2, 3 + 7)
    assert model.get("/backtests/b1")["metrics"]["computed"]["fees"]["value"] == 13


@on_both
def test_words_are_changed_and_go_back_to_the_backtests_own(model: Model) -> None:
    status = {"backtest_id": "b1", "successful": True, "label": "own", "description": "said"}
    model.push("/v1/backtest/status", status)
    address = f"/api/models/{model.id}/backtests/b1"
    changed = model.owner.patch(address, json={"label": "mine"}).json()
    assert (changed["label"], changed["description"]) == ("mine", "said")
    assert model.items("/backtests")[0]["label"] == "mine"
    assert model.owner.patch(address, json={"label": None}).json()["label"] == "own"
    assert model.owner.patch(address, json={}).json()["label"] == "own"
    assert model.owner.patch(address, json={"label": "x" * 121}).status_code == 400
    assert model.owner.patch(address, data={"label": "by form"}).json()["label"] == "by form"
    actions = [one["action"] for one in model.owner.get("/api/me/audit").json()["items"]]
    assert "backtest_changed" in actions


def test_the_more_is_tried_the_more_is_deflated(model: Model) -> None:
    model.push(PATH, result("b0", seed=0))
    alone = model.get("/backtests/b0")["trials"]
    assert (alone["count"], alone["expected_best"]) == (1, 0)
    assert alone["deflated_sharpe"] == pytest.approx(
        computed(model, "b0")["probabilistic_sharpe"]["value"]
    )
    for seed in range(1, 6):
        model.push(PATH, result(f"b{seed}", seed=seed))
        computed(model, f"b{seed}")
    among = model.get("/backtests/b0")["trials"]
    assert among["count"] == 6
    assert among["deflated_sharpe"] < alone["deflated_sharpe"]
    assert among["sharpe"] == pytest.approx(computed(model, "b0")["sharpe"]["value"])
    assert among["explanation"].endswith(".")


def test_backtests_are_compared_on_one_axis(model: Model) -> None:
    model.push(PATH, result("a", count=100))
    later = result("b", count=100, seed=2)
    for point in later["account_values"]:
        point["time"] += 50 * DAY
        point["value"] *= 7
    model.push(PATH, later)
    found = model.get("/backtests-compare", ids="a,b,a", points=150)
    one, two = found["items"]
    assert (one["backtest_id"], two["backtest_id"]) == ("a", "b")
    assert len(found["times"]) == len(one["values"]) == len(two["values"]) == 150
    assert (one["values"][0], one["values"][-1], two["values"][0]) == (100, None, None)
    assert next(value for value in two["values"] if value is not None) == 100
    assert two["values"][-1] == pytest.approx(100 * walk(100, seed=2)[-1] / 10_000)
    rows = {row["name"]: row for row in found["metrics"]}
    best = int(np.argmax(rows["sharpe"]["values"]))
    assert rows["sharpe"]["best"] == [best]
    assert rows["trades"]["best"] == []
    started = model.get("/backtests-compare", ids="a,b", align="start", points=100)
    assert [item["values"][0] for item in started["items"]] == [100, 100]
    assert started["times"][0] == 0
    assert started["times"][-1] == pytest.approx(99 * DAY)
    assert [one["backtest_id"] for one in model.get("/backtests-compare")["items"]] == ["b", "a"]
    address = f"/api/models/{model.id}/backtests-compare"
    for wrong, status in (
        ("ids=a,nope", 404),
        ("ids=" + ",".join("abcdefghi"), 400),
        ("ids=a&align=sideways", 400),
    ):
        assert model.owner.get(f"{address}?{wrong}").status_code == status, wrong


def test_a_reading_key_reads_and_changes_nothing(
    service: Service, enter: Callable[[str], Person]
) -> None:
    ada = enter("ada")
    with pushing(service, ada) as model:
        model.push(PATH, result())
        headers = new_key(service, ada, ada.id, read=True, write=True)
        address = f"{service.address}/api/models/{model.id}/backtests/b1"
        with httpx.Client(headers=headers, verify=False) as client:
            assert client.get(address).status_code == 200
            assert client.patch(address, json={"label": "x"}).status_code == 401
            assert client.delete(address).status_code == 401
