"""Bars and indicators arrive as every other event does, and are kept beside the tape."""

import time
from typing import Any

from sqlalchemy import Connection, func, select

from tapeline.store.tables.prices import price_chunks, price_series
from tapeline.store.tables.tape import tapes
from tapeline.tape import cleanup
from tests.conftest import on_both, run
from tests.pushing import FORM, JSON, Model

BAR = {"symbol": "BTC-USD", "interval": "1h", "open": 2, "high": 4, "low": 1, "close": 3}
HOUR, DAY = 3_600, 86_400
MANY_YEARS_AHEAD = 4_900_000_000  # and still seconds


def columns(count: int, **more: Any) -> dict[str, Any]:
    start = HOUR * 1_000
    prices: dict[str, Any] = {key: [BAR[key]] * count for key in ("open", "high", "low", "close")}
    times = [start + HOUR * number for number in range(count)]
    return {"symbol": "BTC-USD", "interval": "1h", "time": times, **prices, **more}


def shown(model: Model, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.get("/prices", **query)
    return found


def test_the_last_bar_received_for_a_start_wins(model: Model) -> None:
    for close in (3, 3.5, 2.5):
        model.push("/v1/live/bar", {**BAR, "close": close}, headers={"time": "7200"})
    model.push("/v1/live/bar", BAR, headers={"time": "10800"})
    assert shown(model)["bars"]["close"] == [2.5, 3]
    assert (model.size(), model.get()["counts"]) == (0, {}), "nothing of it is on the tape"


def test_of_two_equal_starts_in_one_request_the_last_counts(model: Model) -> None:
    body = columns(3, close=[2, 3, 4])
    body["time"] = [7200, 10800, 7200]
    model.push("/v1/live/bars", body)
    assert shown(model)["bars"]["close"] == [4, 3]


def test_a_bar_without_a_time_is_the_one_that_is_under_way(model: Model) -> None:
    for close in (2, 3):
        model.push("/v1/live/bar", {**BAR, "interval": "1d", "close": close})
    (start,) = shown(model)["bars"]["time"][-1:]
    assert start % 86_400 == 0
    assert time.time() - start < 2 * 86_400


def test_intervals_in_seconds_and_by_name_are_the_same(model: Model) -> None:
    for interval in ("4h", 14_400, "14400", 14_400.0):
        model.push("/v1/live/bar", {**BAR, "interval": interval}, headers={"time": "0"})
    assert shown(model)["symbols"] == [{"symbol": "BTC-USD", "intervals": [14_400]}]


def test_a_form_has_columns_as_repeated_values_or_as_json(model: Model) -> None:
    content = "symbol=A&interval=1h&time=0&time=3600&open=[2,2]&high=[3,3]&low=[1,1]&close=[2,2.5]"
    model.push("/v1/live/bars", content=content, headers={"content-type": FORM})
    model.push("/v1/live/indicator", content="name=sma&value=null", headers={"content-type": FORM})
    found = shown(model, **{"from": 0, "to": 7200})
    assert found["bars"]["close"] == [2, 2.5]
    assert found["bars"]["volume"] == [None, None]
    found = shown(model, **{"from": time.time() - 60, "to": time.time() + 60})
    assert found["indicators"][0]["value"] == [None]


def test_times_in_columns_may_be_milliseconds_as_exchanges_give_them(model: Model) -> None:
    model.push("/v1/live/bars", columns(1, time=[1_700_000_000_000]))
    assert shown(model)["bars"]["time"] == [1_700_000_000]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("bar", {"low": 2.5}, "low"),
    ("bar", {"low": 3.5}, "low"),
    ("bar", {"low": 9}, "low"),
    ("bar", {"high": 1.5}, "high"),
    ("bar", {"high": 2.5}, "high"),
    ("bar", {"close": 9}, "high"),
    ("bar", {"close": "NaN"}, "close"),
    ("bar", {"close": 1e31, "high": 1e31}, "high"),
    ("bar", {"volume": -1}, "volume"),
    ("bar", {"interval": "7m"}, "interval"),
    ("bar", {"interval": 0}, "interval"),
    ("bar", {"interval": 1.5}, "interval"),
    ("bar", {"interval": 10**9}, "interval"),
    ("bar", {"interval": []}, "interval"),
    ("bar", {"symbol": "BTC\nUSD"}, "symbol"),
    ("bar", {"symbol": "BTC\u202eUSD"}, "symbol"),
    ("bar", {"symbol": " BTC"}, "symbol"),
    ("bars", {"close": [3]}, "close"),
    ("bars", {"volume": [3]}, "volume"),
    ("bars", {"low": [1, 2.5]}, "low"),
    ("bars", {"open": [2, "much"]}, "open[1]"),
    ("bars", {"open": {"0": 2}}, "open"),
    ("bars", {"open": "[2,"}, "open"),
    ("bars", {"time": []}, "time"),
    ("bars", {"time": [0, MANY_YEARS_AHEAD]}, "time"),
    ("bars", {"time": [0, 60], "interval": "1m"}, "time"),
    ("indicator", {"name": "a\tb"}, "name"),
    ("indicator", {"value": "high"}, "value"),
    ("indicator", {"value": True}, "value"),
]


def test_what_cannot_be_is_refused_and_named(model: Model) -> None:
    bodies = {"bar": BAR, "bars": columns(2), "indicator": {"name": "sma", "value": 1}}
    for kind, change, field in WRONG:
        shape = model.refused(f"/v1/live/{kind}", {**bodies[kind], **change})
        assert (shape["code"], shape["field"]) == ("invalid", field), (kind, change, shape)
        item = {"path": f"/v1/live/{kind}", "body": {**bodies[kind], **change}}
        shape = model.refused("/v1/batch", [{"path": "/v1/live/log", "body": {"line": "a"}}, item])
        assert (shape["error"][:8], shape["field"]) == ("Item 1: ", field)
    del bodies["indicator"]["value"]
    assert model.refused("/v1/live/indicator", bodies["indicator"])["code"] == "missing_field"
    ahead = {"time": str(time.time() + 120)}
    for kind in ("bar", "indicator"):
        path, body = f"/v1/live/{kind}", {**BAR, "name": "sma", "value": 1}
        assert "ahead" in model.refused(path, body, headers=ahead)["error"]
    assert shown(model)["source"] == "nothing"
    assert model.size() == 0


def test_the_error_about_columns_says_which_bar_and_why(model: Model) -> None:
    shape = model.refused("/v1/live/bars", columns(3, low=[1, 2.5, 9]))
    assert shape["error"] == "Bar 1: `low` (2.5) is above `open` (2)."


def test_ten_thousand_bars_fit_and_one_more_does_not(model: Model) -> None:
    precise = [2.123456789012345] * 10_000
    body = columns(10_000, open=precise, close=precise, volume=[1.0123456789012345] * 10_000)
    body["time"] = [one + 0.123456 for one in body["time"]]
    model.push("/v1/live/bars", body)
    assert len(shown(model, points=5000, interval="4h")["bars"]["time"]) in (2_500, 2_501)
    shape = model.refused("/v1/live/bars", columns(10_001), status=413)
    assert (shape["code"], shape["field"]) == ("too_large", "time")
    item = {"path": "/v1/live/bars", "body": columns(10_001)}
    assert model.refused("/v1/batch", [item])["error"].startswith("Item 0: ")


def scattered(symbol: str, count: int) -> dict[str, Any]:
    """Bars of an hour, each in a chunk of its own."""
    prices: dict[str, Any] = {key: [1] * count for key in ("open", "high", "low", "close")}
    times = [DAY * 11 * number for number in range(count)]
    return {"symbol": symbol, "interval": "1h", "time": times, **prices}


def test_more_than_one_request_may_have_is_refused_at_the_first_one_too_many(model: Model) -> None:
    batch = [{"path": "/v1/live/bars", "body": scattered(name, 1_300)} for name in "AB"]
    assert "2,500 stretches" in model.refused("/v1/batch", batch, 413)["error"]
    many: list[dict[str, Any]] = [
        {"path": "/v1/live/bar", "time": 0, "body": {**BAR, "symbol": str(n)}} for n in range(500)
    ]
    one_more = {"path": "/v1/live/indicator", "time": 0, "body": {"name": "sma", "value": 1}}
    wrong = {"path": "/v1/live/bar", "body": {}}
    shape = model.refused("/v1/batch", [*many, {**one_more, "time": time.time()}, wrong], 413)
    assert (shape["code"], "500 symbols" in shape["error"]) == ("too_large", True), shape
    lots = [{"path": "/v1/live/bars", "body": columns(9_000, symbol=str(n))} for n in range(12)]
    assert "100,000 bars" in model.refused("/v1/batch", lots, 413)["error"]
    assert shown(model)["symbols"] == []
    model.push("/v1/batch", many)
    assert len(shown(model)["symbols"]) == 500


@on_both
def test_an_idempotency_key_stores_bars_once_and_with_their_batch(model: Model) -> None:
    headers = {"idempotency-key": "k", "time": "7200"}
    model.push("/v1/live/bar", BAR, headers=headers)
    model.push("/v1/live/bar", {**BAR, "close": 2}, headers={"time": "7200"})
    model.push("/v1/live/bar", BAR, headers=headers)
    assert shown(model)["bars"]["close"] == [2], "the repeat stored nothing"
    assert model.refused("/v1/live/bar", {**BAR, "close": 4}, 409, headers=headers)
    batch = [
        {"path": "/v1/live/bar", "time": 10_800, "body": BAR},
        {"path": "/v1/live/log", "body": {"line": "hello"}},
        {"path": "/v1/model/bars", "body": columns(2)},
        {"path": "/v1/live/indicator", "time": time.time(), "body": {"name": "a", "value": 1}},
    ]
    for _ in range(2):
        model.push("/v1/batch", batch, headers={"idempotency-key": "b"})
    assert model.size() == 1
    assert len(shown(model, points=5_000, **{"from": 0, "to": HOUR * 2_000})["bars"]["time"]) == 4
    assert model.first_break() is None


def test_bars_count_toward_the_quota_of_the_tape(model: Model) -> None:
    def held(connection: Connection) -> tuple[int, int]:
        tape = model.tape(connection)
        said = connection.scalar(select(tapes.c.bytes).where(tapes.c.no == tape))
        length = func.sum(func.length(price_chunks.c.content))
        real = connection.scalar(select(length).where(price_chunks.c.tape == tape))
        return int(said or 0), int(real or 0)

    model.push("/v1/live/bars", columns(1_000))
    model.push("/v1/live/bars", columns(1_500))
    said, real = model.service.store.read_now(held)
    assert real < said < real + 2_000


@on_both
def test_deleting_a_model_deletes_its_prices(model: Model) -> None:
    def left(connection: Connection) -> list[int]:
        return [
            connection.scalar(select(func.count()).where(table.c.tape == tape)) or 0
            for table in (price_chunks, price_series)
        ]

    model.push("/v1/live/bars", columns(500))
    tape = model.service.store.read_now(model.tape)
    assert all(model.service.store.read_now(left))
    body = {"projectId": model.project_id, "modelId": model.id}
    assert model.owner.post("/model/delete", json=body).is_success
    run(cleanup.clean_up(model.service.store))
    assert model.service.store.read_now(left) == [0, 0]


def test_a_large_body_of_bars_in_pieces_is_taken_too(model: Model) -> None:
    body = model.client.build_request("POST", "/", json=columns(5_000)).content
    halves = iter([body[:1_000], body[1_000:]])
    model.push("/v1/live/bars", content=halves, headers={"content-type": JSON})
    assert shown(model, points=5_000)["bars"]["time"][-1] == columns(5_000)["time"][-1]
