"""Backtests as files: CSV, JSON and tear sheets, in any time zone."""

import csv
import io
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

from tapeline.moments import EARLIEST, LATEST
from tests.conftest import on_both
from tests.http.view.pushed_backtests import PATH, result
from tests.pushing import ORDER, Model
from tests.results.metrics.series import DAY, MONDAY, walk


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


def test_the_tear_sheet_is_headed_by_names(model: Model) -> None:
    model.push(PATH, result(count=10))
    one = f"/api/models/{model.id}/backtests/b1"
    for words, title, lead in (
        ({}, "Backtest b1", None),
        ({"description": "Wider stops"}, "Wider stops", None),
        ({"label": "Best"}, "Best", "Wider stops"),
    ):
        model.owner.patch(one, json=words)
        page = model.owner.get(f"{one}/tear-sheet").text
        assert f'<h1 dir="auto">{title}</h1>' in page
        assert f"<title>{title} · Pusher</title>" in page
        assert page.count("Wider stops") == (0 if not words else 1 if lead else 2)


def test_the_tear_sheet_writes_own_metrics_as_the_pages_do(model: Model) -> None:
    metrics = {
        "gain": {"value": 13.14, "display_name": "Gain", "type": "percent"},
        "turnover": {"value": 987_654_321.123, "display_name": "Turnover"},
        "won": {"value": 1234.5, "display_name": "Won", "type": "money"},
    }
    model.push(PATH, result(count=10, metrics=metrics))
    page = model.owner.get(f"/api/models/{model.id}/backtests/b1/tear-sheet").text
    for text in ("1,314.00 %", "987,654,321.12", "1,234.50 USD"):
        assert text in page, text
    assert "e+0" not in page


def test_a_reader_who_is_signed_out_comes_back_to_the_tear_sheet(model: Model) -> None:
    model.push(PATH, result(count=10))
    path = f"/api/models/{model.id}/backtests/b1/tear-sheet?zone=UTC"
    browser = {"accept": "text/html,*/*", "sec-fetch-dest": "document"}
    with model.service.client() as stranger:
        led = stranger.get(path, headers=browser)
        assert led.status_code == 303
        back = parse_qs(urlsplit(led.headers["location"]).query)["redirectUrl"]
        assert back == [path]
        for program in ({"accept": "*/*"}, browser | {"sec-fetch-dest": "iframe"}):
            refused = stranger.get(path, headers=program)
            assert (refused.status_code, refused.json()["code"]) == (401, "unidentified")
    wrong = model.owner.get(path.replace("b1", "b2"), headers=browser)
    assert wrong.status_code == 404
    assert wrong.headers["content-type"].startswith("text/html")
    assert "There is nothing here" in wrong.text
