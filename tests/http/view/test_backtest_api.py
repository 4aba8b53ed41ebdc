"""Backtests as people read them: metrics, series, round trips, words, comparison, deletion."""

import csv
import io
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import Connection, delete, func, select

from tapeline.moments import EARLIEST, LATEST
from tapeline.results.backtests import report, reporter, reports
from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.report_fields import Row
from tapeline.store.tables import results, tape
from tapeline.tape import cleanup
from tests.conftest import Person, Service, on_both, run
from tests.pushing import ORDER, RESULT, Model, new_key, pushing
from tests.results.metrics.series import DAY, MONDAY, every_day, frame, qs, walk

PATH = "/v1/backtest/result"


def sweep(model: Model) -> None:
    run(cleanup.clean_up(model.service.store))
    run(cleanup.clean_up_discards(model.service.store, time.time()))


def result(backtest_id: str = "b1", *, count: int = 400, seed: int = 1, **more: Any) -> Any:
    """A year of days and a few trades."""
    times, values = every_day(count), walk(count, seed=seed)
    trades = [
        {"symbol": "BTC-USD", "side": side, "time": times[place], "size": 1, "price": price}
        for place, side, price in ((1, "buy", 100), (5, "sell", 130), (9, "buy", 50))
    ]
    points = [{"time": t, "value": v} for t, v in zip(times.tolist(), values.tolist(), strict=True)]
    return RESULT | {
        "backtest_id": backtest_id,
        "start_time": times[0],
        "stop_time": times[-1],
        "account_values": points,
        "trades": trades,
        **more,
    }


def computed(model: Model, backtest_id: str = "b1") -> dict[str, dict[str, Any]]:
    shown = model.get(f"/backtests/{backtest_id}")
    assert shown["metrics"]["computing"] is False
    found: dict[str, dict[str, Any]] = shown["metrics"]["computed"]
    return found


def rows_in(service: Service, *tables: Any) -> dict[str, int]:
    def count(connection: Connection) -> dict[str, int]:
        counting = {table.name: select(func.count()).select_from(table) for table in tables}
        return {name: connection.scalar(query) or 0 for name, query in counting.items()}

    return service.store.read_now(count)


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


def wait_for(is_true: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_replaced_result_is_computed_anew_and_the_old_report_goes(own_model: Model) -> None:
    own_model.push(PATH, result(seed=1))
    first = computed(own_model)
    own_model.push(PATH, result(seed=2))
    second = computed(own_model)
    assert first["sharpe"]["value"] != second["sharpe"]["value"]
    sweep(own_model)
    assert rows_in(own_model.service, results.reports) == {"reports": 1}
    assert own_model.get("/backtests/b1")["trials"]["count"] == 1
    assert own_model.first_break() is None


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


def test_a_zone_changes_the_dates_of_every_file_and_no_number(model: Model) -> None:
    values = [{"time": MONDAY + n * DAY, "value": 10.0 + n} for n in range(5)]
    trades = [{"symbol": "A", "side": "buy", "time": MONDAY, "size": 1, "price": 2}]
    model.push(PATH, result(account_values=values, trades=trades))
    one = f"/api/models/{model.id}/backtests/b1"
    day = datetime.fromtimestamp(MONDAY, UTC)
    before = (day - timedelta(days=1)).strftime("%Y-%m-%d")
    for path in ("/export.csv", "/trades.csv", "/tear-sheet"):
        there = model.owner.get(one + path, params={"zone": "America/New_York"}).text
        assert f"{day:%Y-%m-%d}" in model.owner.get(one + path).text
        assert before in there
        assert "America/New_York" in there or f"{before}T" in there
    lines = model.owner.get(f"{one}/export.csv", params={"zone": "Asia/Kolkata"}).text.splitlines()
    assert lines[1] == f"{float(MONDAY)!r},{day:%Y-%m-%d}T05:30:00.000+05:30,10.0"
    for wrong in ("Mars/Base", "../etc/passwd", "/etc/localtime"):
        refused = model.owner.get(f"{one}/tear-sheet", params={"zone": wrong})
        assert (refused.status_code, refused.json()["field"]) == (400, "zone")


def test_files_in_any_zone_reach_the_ends_of_the_calendar(model: Model) -> None:
    ends = [EARLIEST, LATEST - 1]
    values = [{"time": at, "value": 10.0} for at in ends]
    trades = [
        {"symbol": "A", "side": side, "time": at, "size": 1, "price": 2}
        for side, at in zip(("buy", "sell"), ends, strict=True)
    ]
    model.push(PATH, result(account_values=values, trades=trades))
    for number, at in enumerate(("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")):
        order = ORDER | {"id": str(number)}
        model.push("/v1/batch", [{"path": "/v1/live/spot-market", "time": at, "body": order}])
    of_backtest = ("export.csv", "trades.csv", "round-trips.csv", "tear-sheet")
    for path in ("orders.csv", *(f"backtests/b1/{one}" for one in of_backtest)):
        for zone in ("Asia/Tokyo", "America/New_York"):
            answer = model.owner.get(f"/api/models/{model.id}/{path}", params={"zone": zone})
            assert answer.status_code == 200, path
            assert "9999-12-31" in answer.text, path


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


@on_both
def test_a_deleted_backtest_is_gone_at_once_and_stays_a_trial(own_model: Model) -> None:
    for name, seed in (("b1", 1), ("b2", 2)):
        own_model.push(PATH, result(name, seed=seed))
        computed(own_model, name)
    own_model.push("/v1/backtest/log", {"backtest_id": "b1", "line": "x"})
    size, address = own_model.size(), f"/api/models/{own_model.id}/backtests/b1"
    assert own_model.owner.delete(address).json() == {"status": "success"}
    for path in ("", "/equity", "/round-trips", "/logs", "/tear-sheet", "/export.csv"):
        assert own_model.owner.get(address + path).status_code == 404
    assert own_model.owner.delete(address).status_code == 404
    assert [one["backtest_id"] for one in own_model.items("/backtests")] == ["b2"]
    assert own_model.get("/backtests/b2")["trials"]["count"] == 2
    sweep(own_model)
    tables = (results.reports, results.discards)
    assert rows_in(own_model.service, *tables) == {"reports": 1, "discards": 0}
    store = own_model.service.store
    uploads = store.read_now(lambda c: set(c.scalars(select(tape.pieces.c.upload))))
    assert len(uploads) == 1
    # The chain runs through its events: they stay, and still fit.
    assert (own_model.size(), own_model.first_break()) == (size, None)
    own_model.push(PATH, result("b1", seed=3))
    assert computed(own_model)["trades"]["value"] == 3
    assert own_model.get("/backtests/b1")["trials"]["count"] == 2


@on_both
def test_a_deleted_model_leaves_no_reports_and_no_trials(own_model: Model) -> None:
    own_model.push(PATH, result())
    computed(own_model)
    reference = {"projectId": own_model.project_id, "modelId": own_model.id}
    assert own_model.owner.post("/model/delete", json=reference).status_code == 200
    sweep(own_model)
    tables = [getattr(results, name) for name in ("reports", "report_pieces", "trials")]
    assert set(rows_in(own_model.service, *tables).values()) == {0}


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


@on_both
def test_files_hold_everything(model: Model) -> None:
    trades = [
        {"symbol": "A", "side": "buy", "time": MONDAY, "size": 2, "price": 3, "id": "=cmd()",
         "annotation": 'said "so", twice', "strategy": {"x": 1}},
        {"symbol": "A", "side": "sell", "time": MONDAY + DAY, "size": 2, "price": 4},
    ]  # fmt: skip
    model.push(PATH, result(count=10, trades=trades))
    base = f"/api/models/{model.id}/backtests/b1"
    equity = model.owner.get(f"{base}/export.csv")
    assert equity.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="backtest-b1-equity.csv"' in equity.headers["content-disposition"]
    lines = list(csv.DictReader(io.StringIO(equity.text)))
    assert [float(line["value"]) for line in lines] == walk(10).tolist()
    assert lines[0]["date"] == "2021-01-04T00:00:00.000Z"
    first, second = csv.DictReader(io.StringIO(model.owner.get(f"{base}/trades.csv").text))
    assert (first["id"], first["annotation"]) == ("'=cmd()", 'said "so", twice')
    assert (first["more"], second["more"]) == ('{"strategy":{"x":1}}', "")
    (trip,) = csv.DictReader(io.StringIO(model.owner.get(f"{base}/round-trips.csv").text))
    assert (trip["profit"], trip["entry_date"]) == ("2.0", "2021-01-04T00:00:00+00:00")
    whole = model.get("/backtests/b1/export.json")
    assert whole["trades"] == trades
    assert [one["value"] for one in whole["account_values"]] == walk(10).tolist()
    assert whole["round_trips"][0]["profit"] == 2
    assert whole["metrics"]["computed"]["profit"]["value"] is not None


@on_both
def test_the_tear_sheet_stands_alone(model: Model) -> None:
    words = {"label": "<script>alert(1)</script>", "description": "a & b"}
    model.push(PATH, result(count=900, symbols=["<b>"], metrics={"x": {"value": "<i>"}}))
    model.owner.patch(f"/api/models/{model.id}/backtests/b1", json=words)
    answer = model.owner.get(f"/api/models/{model.id}/backtests/b1/tear-sheet")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    page = answer.text
    for forbidden in ("<script", "http://", "https://", "url(", "<link", "<img", "<i>", "<b><"):
        assert forbidden not in page, forbidden
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == 5
    for heading in ("Account value", "Drawdown", "Returns by month", "Deepest drawdowns"):
        assert heading in page


def test_a_live_model_has_metrics_of_its_orders(model: Model) -> None:
    day = 86_400.0
    for number, (side, price) in enumerate(
        [("buy", 100), ("sell", 110), ("buy", 100), ("sell", 95), ("buy", 95), ("sell", 105)]
    ):
        order = {
            "symbol": "BTC-USD", "exchange": "paper", "id": f"o{number}", "side": side, "size": 2,
            "price": price, "executionPrice": price,
        }  # fmt: skip
        model.push(
            "/v1/live/spot-limit", order, headers={"time": str(1_700_000_000 + number * day)}
        )
    computed = model.get("/metrics")["computed"]
    assert computed["round_trips"]["value"] == 3
    assert computed["win_rate_trades"]["value"] == pytest.approx(2 / 3)
    assert computed["profit_factor"]["value"] == pytest.approx((20 + 20) / 10)
    model.push(
        "/v1/live/update-trade",
        {"id": "o5", "executionPrice": 85},
        headers={"time": str(1_700_600_000)},
    )
    assert model.get("/metrics")["computed"]["win_rate_trades"]["value"] == pytest.approx(1 / 3)
    model.push("/v1/live/auto-pnl", {"enabled": False})
    assert model.get("/metrics")["computed"]["round_trips"]["value"] is None


def test_a_live_model_has_metrics_of_its_profit_and_its_own(model: Model) -> None:
    empty = model.get("/metrics")
    assert empty["computed"]["profit"]["reason"] == "There is no profit and loss yet."
    assert empty["custom"] == {}
    values = [{"time": MONDAY + n * DAY, "value": v} for n, v in enumerate([0, 10, 4, 20])]
    model.push("/v1/live/set-pnl", {"values": values})
    model.push("/v1/live/set-custom-metric", {"metrics": {"mood": {"value": 7}}})
    for _ in range(2):  # computed, then remembered
        shown = model.get("/metrics")
        assert shown["computed"]["profit"]["value"] == 20
        assert shown["computed"]["max_drawdown_money"]["value"] == -6
        assert shown["computed"]["sharpe"]["value"] is None
        assert shown["custom"]["mood"] == {"value": 7, "display_name": "mood", "type": "number"}
    model.push("/v1/live/set-pnl", {"values": values[:2]})
    assert model.get("/metrics")["computed"]["profit"]["value"] == 10


def test_what_cannot_be_computed_is_said_and_others_go_on(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug of ours in one report must not stop the others."""
    make = report.make

    def broken(contents: Any, header: Any) -> Any:
        if header["backtest_id"] == "bad":
            raise ZeroDivisionError
        return make(contents, header)

    monkeypatch.setattr(report, "make", broken)
    model.push(PATH, result("bad"))
    model.push(PATH, result("good"))
    assert computed(model, "good")["trades"]["value"] == 3
    bad = computed(model, "bad")
    assert {one["reason"] for one in bad.values()} == {reporter.FAILED}
    answer = model.owner.get(f"/api/models/{model.id}/backtests/bad/drawdown")
    assert (answer.status_code, answer.json()["code"]) == (409, "cannot_compute")


@on_both
def test_reports_of_earlier_formulas_are_made_anew(own_model: Model) -> None:
    own_model.push(PATH, result())
    computed(own_model)
    store = own_model.service.store

    def age(connection: Connection) -> None:
        table = results.reports
        connection.execute(table.update().values(version=0, content=b"{}", brief=b"{}"))
        connection.execute(delete(results.report_pieces))

    store.write_now(age)
    assert computed(own_model)["trades"]["value"] == 3
    assert len(own_model.items("/backtests/b1/equity")) == 400


@on_both
def test_what_a_crash_left_of_a_report_goes_with_its_result(own_model: Model) -> None:
    own_model.push(PATH, result())
    store = own_model.service.store
    (upload,) = store.read_now(lambda c: list(c.scalars(select(tape.backtests.c.upload))))
    assert upload is not None
    store.write_now(reports.begin, upload)
    store.write_now(reports.put, upload, [Row("equity", 0, n, b"x") for n in range(50)])
    own_model.owner.delete(f"/api/models/{own_model.id}/backtests/b1")
    sweep(own_model)
    tables = (tape.pieces, results.report_pieces, results.reports)
    assert set(rows_in(own_model.service, *tables).values()) == {0}
    with pytest.raises(reports.Gone):
        store.write_now(reports.begin, upload)


@pytest.mark.heavy
@on_both
def test_a_large_result_is_computed_in_another_process_and_answers_all_the_same(
    model: Model,
) -> None:
    model.push(PATH, result(count=30_000))
    assert model.get("/backtests/b1/equity")["total"] == 30_000
    found = computed(model)
    assert found["trades"]["value"] == 3
    assert found["total_return"]["value"] == pytest.approx(walk(30_000)[-1] / 10_000 - 1)
    assert list(model.service.services.staging.spool.iterdir()) == []


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
