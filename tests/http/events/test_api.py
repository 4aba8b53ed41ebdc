"""Every route of the events API with JSON: what it needs, what it keeps, what it refuses."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tapeline.tape.events.kinds import BY_PATH, KINDS, OF_BACKTESTS, OF_SERVERS
from tests.conftest import Service, on_both, running
from tests.pushing import JSON, ORDER, Model, raw_request

BODIES: dict[str, dict[str, Any]] = {
    "lifecycle": {"message": "hi"},
    "used-symbol": {"symbol": "BTC-USD"},
    "used-exchange": {"exchange": "alpaca"},
    "event": {"type": "order", "args": {"a": 1}, "response": {"b": [2]}, "annotation": "why"},
    "spot-market": ORDER,
    "spot-limit": {**ORDER, "id": "o2", "price": 10},
    "spot-stop": {**ORDER, "id": "o3", "price": 10, "active": 9},
    "update-trade": {"id": "o1", "status": "filled"},
    "update-annotation": {"id": "o1", "annotation": "good"},
    "screener-result": {"result": {"AAPL": {"rsi": 1}}},
    "log": {"line": "hello", "type": "stdout"},
    "set-pnl": {"values": [{"time": 1, "value": 2}]},
    "set-custom-metric": {"metrics": {"alpha": {"value": 1, "display_name": "Alpha"}}},
    "auto-pnl": {"enabled": False},
    "mark-price": {"symbol": "BTC-USD", "price": 7.5},
    "cash": {"type": "funding", "amount": -0.5, "symbol": "BTC-USD", "id": "c1"},
    "position": {"symbol": "BTC-USD", "size": -2, "average_price": 100},
    "account-value": {"value": 1000, "currency": "usd"},
    "bar": {"symbol": "BTC-USD", "interval": "1h", "open": 2, "high": 3, "low": 1, "close": 2.5},
    "bars": {
        "symbol": "BTC-USD",
        "interval": 3600,
        "time": [7200, 10800],
        "open": [2, 2],
        "high": [3, 3],
        "low": [1, 1],
        "close": [2.5, 2],
        "volume": [1, None],
    },
    "indicator": {"name": "sma", "value": 2.5, "symbol": "BTC-USD", "pane": "price"},
    "backtest-log": {"line": "hello", "type": "stdout", "backtest_id": "b1"},
    "backtest-status": {"successful": True, "backtest_id": "b1"},
}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def test_every_address_takes_its_kind_under_model_and_live(model: Model) -> None:
    rooms = [kind for kind in KINDS if kind not in OF_BACKTESTS | OF_SERVERS]
    for kind in rooms:
        for room in ("model", "live"):
            model.push(f"/v1/{room}/{kind.name}", BODIES[kind.name])
    model.push("/v1/backtest/log", BODIES["backtest-log"])
    model.push("/v1/backtest/status", BODIES["backtest-status"])
    counts = model.get()["counts"]
    expected = dict.fromkeys((kind.name for kind in rooms), 2)
    # The three orders, and cash with an id, came twice with the same content: retries.
    orders = {"spot-market": 1, "spot-limit": 1, "spot-stop": 1, "cash": 1}
    backtests = {"backtest-log": 1, "backtest-status": 1}
    assert counts == expected | orders | backtests
    assert model.first_break() is None


REQUIRED = [
    ("/v1/model/used-symbol", "symbol"),
    ("/v1/model/used-exchange", "exchange"),
    ("/v1/live/event", "type"),
    *(("/v1/live/spot-market", key) for key in ("symbol", "exchange", "id", "side", "size")),
    ("/v1/live/spot-limit", "price"),
    ("/v1/live/spot-stop", "price"),
    ("/v1/live/spot-stop", "active"),
    ("/v1/live/update-trade", "id"),
    ("/v1/live/update-annotation", "id"),
    ("/v1/live/update-annotation", "annotation"),
    ("/v1/live/screener-result", "result"),
    ("/v1/live/log", "line"),
    ("/v1/live/set-pnl", "values"),
    ("/v1/live/set-custom-metric", "metrics"),
    ("/v1/live/auto-pnl", "enabled"),
    ("/v1/live/mark-price", "symbol"),
    ("/v1/live/mark-price", "price"),
    ("/v1/live/cash", "type"),
    ("/v1/live/cash", "amount"),
    ("/v1/live/position", "symbol"),
    ("/v1/live/position", "size"),
    ("/v1/live/position", "average_price"),
    ("/v1/live/account-value", "value"),
    *(("/v1/live/bar", key) for key in ("symbol", "interval", "open", "high", "low", "close")),
    *(("/v1/live/bars", key) for key in ("symbol", "interval", "time", "open", "close")),
    ("/v1/live/indicator", "name"),
    ("/v1/backtest/log", "line"),
    ("/v1/backtest/log", "backtest_id"),
    ("/v1/backtest/status", "successful"),
    ("/v1/backtest/status", "backtest_id"),
]


def test_a_required_key_that_is_absent_null_or_empty_is_named(model: Model) -> None:
    for path, key in REQUIRED:
        body = BODIES[BY_PATH[path].name]
        without = {name: value for name, value in body.items() if name != key}
        for wrong in (without, {**body, key: ""}, {**body, key: None}):
            if key == "annotation" and wrong.get(key, "") is None:
                continue  # that removes an annotation
            if key == "result" and wrong.get(key) == "":
                continue  # no text was wanted
            shape = model.refused(path, wrong)
            assert (shape["code"], shape["field"]) == ("missing_field", key), (path, wrong)
    assert model.size() == 0


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("spot-market", {"size": 0}, "size"),
    ("spot-market", {"size": -1}, "size"),
    ("spot-market", {"size": "many"}, "size"),
    ("spot-market", {"size": "NaN"}, "size"),
    ("spot-market", {"size": "1_000"}, "size"),
    ("spot-market", {"size": "\u0661"}, "size"),
    ("spot-market", {"size": True}, "size"),
    ("spot-market", {"size": [1]}, "size"),
    ("spot-market", {"size": 10**400}, "size"),
    ("spot-market", {"funds": 5}, "funds"),
    ("spot-market", {"size": None, "funds": 0}, "funds"),
    ("spot-market", {"side": "hold"}, "side"),
    ("spot-market", {"side": 1}, "side"),
    ("spot-market", {"id": 7}, "id"),
    ("spot-market", {"id": "a\0b"}, "id"),
    ("spot-market", {"id": "x" * 501}, "id"),
    ("spot-market", {"annotation": 7}, "annotation"),
    ("spot-limit", {"price": 0}, "price"),
    ("spot-limit", {"price": "Infinity"}, "price"),
    ("spot-limit", {"active": -1}, "active"),
    ("spot-stop", {"active": "soon"}, "active"),
    ("lifecycle", {"running": "true"}, "running"),
    ("lifecycle", {"running": 1}, "running"),
    ("lifecycle", {"start_at": "soon"}, "start_at"),
    ("lifecycle", {"message": 5}, "message"),
    ("event", {"args": "a"}, "args"),
    ("event", {"response": ["a"]}, "response"),
    ("event", {"annotation": 1}, "annotation"),
    ("log", {"type": 5}, "type"),
    ("log", {"line": 5}, "line"),
    ("update-annotation", {"annotation": 5}, "annotation"),
    ("set-pnl", {"values": {}}, "values"),
    ("set-pnl", {"values": [{"time": 1}]}, "values"),
    ("set-pnl", {"values": "[" * 100_000}, "values"),
    ("set-pnl", {"values": "nope"}, "values"),
    ("set-custom-metric", {"metrics": []}, "metrics"),
    ("set-custom-metric", {"metrics": {"a": 1}}, "metrics"),
    ("auto-pnl", {"enabled": "True"}, "enabled"),
    ("mark-price", {"price": 0}, "price"),
    ("mark-price", {"price": "1e999"}, "price"),
    ("spot-market", {"multiplier": 0}, "multiplier"),
    ("spot-market", {"multiplier": "NaN"}, "multiplier"),
    ("spot-market", {"instrument": "stonk"}, "instrument"),
    ("spot-market", {"inverse": "yes"}, "inverse"),
    ("spot-market", {"fee_currency": 7}, "fee_currency"),
    ("cash", {"type": "gift"}, "type"),
    ("cash", {"amount": "NaN"}, "amount"),
    ("cash", {"amount": True}, "amount"),
    ("cash", {"type": "withdrawal", "amount": 5}, "amount"),
    ("cash", {"type": "withdrawal", "amount": 0}, "amount"),
    ("cash", {"type": "deposit", "amount": -5}, "amount"),
    ("cash", {"currency": " "}, "currency"),
    ("cash", {"symbol": 5}, "symbol"),
    ("cash", {"id": "a\0b"}, "id"),
    ("cash", {"annotation": 5}, "annotation"),
    ("position", {"size": "Infinity"}, "size"),
    ("position", {"average_price": 0}, "average_price"),
    ("position", {"average_price": -1}, "average_price"),
    ("position", {"multiplier": -1}, "multiplier"),
    ("position", {"quote": 5}, "quote"),
    ("account-value", {"value": "NaN"}, "value"),
    ("account-value", {"value": [1]}, "value"),
    ("used-symbol", {"symbol": "€" * 501}, "symbol"),
    ("used-symbol", {"symbol": 10**4000}, "symbol"),
]


def test_a_wrong_value_is_refused_and_its_key_named(model: Model) -> None:
    for name, wrong, field in WRONG:
        shape = model.refused(f"/v1/live/{name}", {**BODIES[name], **wrong})
        assert shape["field"] == field, (name, wrong, shape)
    for wrong in ({"successful": "True"}, {"time_elapsed": "long"}, {"status_summary": 3}):
        shape = model.refused("/v1/backtest/status", {**BODIES["backtest-status"], **wrong})
        assert shape["field"] == next(iter(wrong))
    shape = model.refused("/v1/live/update-trade", {"id": "o1"})
    assert "besides" in shape["error"]
    assert model.size() == 0


@on_both
def test_names_as_long_as_allowed_are_stored(model: Model) -> None:
    # Four bytes each, and not to be compressed: what an index takes of PostgreSQL.
    name = "".join(chr(0x20000 + (place * 7919) % 40000) for place in range(500))
    model.push("/v1/live/spot-market", ORDER | {"id": name, "symbol": name})
    model.push("/v1/model/used-symbol", {"symbol": name})
    model.push("/v1/backtest/log", {"line": "x", "backtest_id": name})
    assert model.items("/orders", symbol=name)[0]["id"] == name
    assert model.get()["symbols"] == [name]


def test_orders_keep_what_they_came_with_in_one_form(model: Model) -> None:
    model.push("/v1/live/spot-market", ORDER | {"side": "BUY", "extra": {"deep": [1, None]}})
    model.push("/v1/live/spot-limit", ORDER | {"id": "o2", "side": "Sell", "price": "10.5"})
    stop = ORDER | {"id": "o3", "size": None, "funds": "7", "price": 3, "activate": "2"}
    model.push("/v1/live/spot-stop", stop)
    model.push("/v1/live/spot-limit", stop | {"id": "o4"})
    model.push("/v1/live/spot-limit", ORDER | {"id": "o5", "price": 1, "active": None})
    model.push("/v1/live/spot-limit", ORDER | {"id": "o6", "price": 1, "activate": ""})
    found = {one["id"]: one for one in model.items("/orders")}
    assert found["o1"]["extra"] == {"deep": [1, None]}
    assert (found["o1"]["side"], found["o1"]["size"]) == ("buy", 2.5)
    assert (found["o2"]["side"], found["o2"]["price"]) == ("sell", 10.5)
    for id_ in ("o3", "o4"):
        assert found[id_]["type"] == "spot-stop"
        assert (found[id_]["size"], found[id_]["funds"], found[id_]["active"]) == (None, 7, 2)
        assert "activate" not in found[id_]
    for id_ in ("o5", "o6"):
        assert (found[id_]["type"], found[id_]["active"]) == ("spot-limit", None)


def test_unknown_keys_are_ignored_where_bodies_are_closed(model: Model) -> None:
    for path, key in (("/v1/live/log", "log"), ("/v1/model/lifecycle", "lifecycle")):
        model.push(path, BODIES[key] | {"surprise": 1})
    model.push("/v1/live/update-annotation", BODIES["update-annotation"] | {"surprise": 1})
    assert all("surprise" not in body for body in model.bodies())


def test_a_lifecycle_key_overrides_null_resets_and_absence_leaves(model: Model) -> None:
    model.push("/v1/model/lifecycle", {"message": "Up", "start_at": 5, "running": True})
    model.push("/v1/live/lifecycle", {"end_at": "9.5"})
    model.push("/v1/model/lifecycle", {})
    shown = {"message": "Up", "start_at": 5, "end_at": 9.5, "running": True}
    assert model.get()["lifecycle"] == shown
    model.push("/v1/model/lifecycle", {"message": None, "running": False})
    assert model.get()["lifecycle"] == shown | {"message": None, "running": False}
    # The last received wins, whatever its time says.
    model.push("/v1/model/lifecycle", {"message": "late"}, headers={"time": "1"})
    assert model.get()["lifecycle"]["message"] == "late"


def test_a_screener_that_is_not_flat_and_even_is_refused_by_name(model: Model) -> None:
    for result, words in (
        ({}, ["result"]),
        ({"AAPL": 5}, ["AAPL"]),
        ({"AAPL": {"rsi": {"x": 1}}}, ["AAPL", "rsi"]),
        ({"AAPL": {"rsi": 1}, "MSFT": {"rsi": [1]}}, ["MSFT", "rsi"]),
        ({"AAPL": {"rsi": 1}, "MSFT": {}}, ["MSFT", "rsi"]),
        ({"AAPL": {"rsi": 1}, "MSFT": {"rsi": 1, "macd": 2}}, ["MSFT", "macd"]),
        ([], ["result"]),
        ("AAPL", ["result"]),
    ):
        shape = model.refused("/v1/live/screener-result", {"result": result})
        assert shape["field"] == "result"
        assert all(word in shape["error"] for word in words), shape
    assert model.get("/screener") == {"result": None, "time": None, "received_at": None}
    good = {"AAPL": {"rsi": 1, "buy": True}, "MSFT": {"rsi": None, "buy": "no"}}
    model.push("/v1/live/screener-result", {"result": good}, headers={"time": "7"})
    assert (model.get("/screener")["result"], model.get("/screener")["time"]) == (good, 7)


def test_a_log_line_has_a_type_and_an_end(model: Model) -> None:
    model.push("/v1/live/log", {"line": "a"})
    model.push("/v1/live/log", {"line": "b\0\n", "type": ""})
    model.push("/v1/live/log", {"line": "é" * 40_000, "type": "stderr"})
    model.push("/v1/live/log", {"line": "x" * 65_536})
    whole, cut, odd, plain = model.items("/logs")
    assert (plain["line"], plain["type"]) == ("a", "stdout")
    assert (odd["line"], odd["type"]) == ("b\0\n", "stdout")
    assert cut["type"] == "stderr"
    assert cut["line"].startswith("é" * 32_768 + " … [cut: 14,464 bytes more]")
    assert whole["line"] == "x" * 65_536


def test_the_short_address_of_logs_serves_both_kinds(model: Model) -> None:
    model.push("/log", {"line": "live", "type": "stdout"})
    model.push("/log", {"line": "of b1", "type": "stdout", "backtest_id": "b1"})
    model.push("/log", {"line": "live too", "backtest_id": ""})
    assert [one["line"] for one in model.items("/logs")] == ["live too", "live"]
    assert [one["line"] for one in model.items("/backtests/b1/logs")] == ["of b1"]


def test_pnl_and_metrics_are_kept_as_the_model_says(model: Model) -> None:
    model.push("/v1/live/set-pnl", {"values": '[{"time": 1, "value": "2"}]'})
    model.push("/v1/live/set-custom-metric", {"metrics": {"a": {"value": None}}})
    model.push("/v1/live/set-custom-metric", {"metrics": '{"b": {"value": "x"}}'})
    model.push("/v1/live/auto-pnl", {"enabled": True})
    expected = [
        {"values": [{"time": 1, "value": 2}]},
        {"metrics": {"a": {"value": None}}},
        {"metrics": {"b": {"value": "x"}}},
        {"enabled": True},
    ]
    assert model.bodies() == expected


def test_a_backtests_status_is_shown_once_posted(model: Model) -> None:
    model.push("/v1/backtest/log", {"line": "x", "backtest_id": "b1"})
    assert model.get("/backtests/b1")["status"] is None
    status = {"successful": False, "status_summary": "bad", "time_elapsed": "1.5"}
    more = {"backtest_id": "b1", "description": "try", "label": "L"}
    model.push("/v1/backtest/status", status | more)
    shown = model.get("/backtests/b1")
    assert shown["status"] == status | {"status_details": "", "time_elapsed": 1.5}
    assert (shown["description"], shown["label"]) == ("try", "L")


def test_the_time_header_is_read_and_the_arrival_kept_beside_it(model: Model) -> None:
    before = time.time()
    for sent, meant in (
        ("1600000000.5", 1600000000.5),
        ("1600000000500", 1600000000.5),
        ("1600000000500000", 1600000000.5),
        ("1600000000500000000", 1600000000.5),
        ("2020-09-13T12:26:40.5Z", 1600000000.5),
        ("Sun, 13 Sep 2020 12:26:40 GMT", 1600000000),
    ):
        model.push("/v1/live/log", {"line": sent}, headers={"time": sent})
        newest = model.items("/logs", limit=1)[0]
        assert newest["time"] == pytest.approx(meant, abs=1e-6)
        assert before <= newest["received_at"] <= time.time()
    model.push("/v1/live/log", {"line": "now"})
    newest = model.items("/logs", limit=1)[0]
    assert newest["time"] == newest["received_at"] >= before
    for wrong in ("yesterday", "", "nan", "2020-13-45", "\xff"):
        headers = {"time": wrong.encode("latin-1")}
        assert model.refused("/v1/live/log", {"line": "x"}, headers=headers)["field"] == "time"


def test_a_body_that_is_not_what_it_says_gets_an_error(model: Model) -> None:
    path = "/v1/live/log"
    for content in (
        b"{", b"[]", b"5", b'"x"', b'{"line": NaN}', b'{"line": "\xff"}', b'{"line": "\\ud800"}',
        b'{"line": "x"}{}', b'{"line": 1e999}', b"\xef\xbb\xbf{}", b'{"a":' + b"1" * 5000 + b"}",
    ):  # fmt: skip
        shape = model.refused(path, content=content, headers={"content-type": JSON})
        assert shape["code"] == "malformed_body", content
    for encoding in ("text/plain", "application/xml", "", "application/json2"):
        sent = {"content": b'{"line": "x"}', "headers": {"content-type": encoding}}
        assert model.refused(path, None, 415, **sent)["code"] == "unknown_encoding"
    good = {"content": b'{"line": "x"}'}
    for encoding in ("application/json; charset=utf-8", "Application/JSON"):
        model.push(path, **good, headers={"content-type": encoding})
    assert model.size() == 2


def test_nesting_deeper_than_allowed_is_refused_in_every_kind(model: Model) -> None:
    def nested(levels: int) -> Any:
        value: Any = {}
        for _ in range(levels - 1):
            value = {"x": value}
        return value

    for path, body, key in (
        ("/v1/live/event", {"type": "t"}, "args"),
        ("/v1/live/spot-market", ORDER, "more"),
        ("/v1/live/update-trade", {"id": "o1"}, "more"),
        ("/v1/live/log", {"line": "x"}, "ignored"),
    ):
        model.push(path, body | {key: nested(31)})
        assert "deeper than 32" in model.refused(path, body | {key: nested(32)})["error"]
    deep = b'{"line": "x", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    shape = model.refused("/v1/live/log", content=deep, headers={"content-type": JSON})
    assert shape["code"] == "malformed_body"


def test_a_body_over_the_limit_is_413_and_one_at_it_is_taken(model: Model) -> None:
    def body(size: int) -> dict[str, str]:
        return {"line": "x", "pad": "y" * (size - len('{"line":"x","pad":""}'))}

    model.push("/v1/live/log", body(1_000_000))
    shape = model.refused("/v1/live/log", body(1_000_001), status=413)
    assert shape["code"] == "too_large"

    def chunks() -> Any:
        yield from [b"x" * 100_000] * 11

    assert model.post("/v1/live/log", content=chunks()).status_code == 413


def test_a_body_that_does_not_come_is_given_up(model: Model) -> None:
    settings = replace(model.service.services.settings, body_seconds=1)
    head = "".join(f"{name}: {value}\r\n" for name, value in model.headers.items())

    def dawdle(path: str, length: int, sent: bytes) -> bytes:
        request = f"POST {path} HTTP/1.1\r\nHost: x\r\n{head}Content-Type: {JSON}\r\n"
        request += f"Content-Length: {length}\r\n\r\n"
        return raw_request(patient, request.encode() + sent)

    with running(settings) as patient, ThreadPoolExecutor(4) as pool:
        answers = pool.map(
            dawdle,
            ("/v1/live/log", "/v1/live/log", "/v1/backtest/result", "/v1/batch"),
            (50, 50, 1_000_000, 1_000_000),
            (b"", b'{"line":', b'{"back', b"["),
        )
        for answer in answers:
            assert b" 408 " in answer.partition(b"\r\n")[0]
            assert b"did not arrive within 1 seconds" in answer
    assert model.size() == 0


def test_only_post_is_taken_and_says_so(model: Model) -> None:
    for path in (*BY_PATH, "/v1/batch"):
        for method in ("GET", "PUT", "DELETE", "OPTIONS"):
            answer = model.client.request(method, path, headers=model.headers)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            assert answer.json()["code"] == "method_not_allowed"


def test_the_time_is_public(service: Service) -> None:
    with service.client() as nobody:
        before = time.time()
        answer = nobody.get("/time")
        assert before - 1 <= answer.json()["time"] <= time.time() + 1
        assert set(answer.json()) == {"time"}


def test_the_longest_line_is_a_setting(model: Model) -> None:
    settings = replace(model.service.services.settings, max_line=100)
    with running(settings) as small, small.client() as client:
        small_one = replace(model, client=client)
        for path, more in (("/v1/live/log", {}), ("/v1/backtest/log", {"backtest_id": "b1"})):
            for line in ("x" * 100, "ü" * 51, "y" * 25):
                small_one.push(path, {"line": line, **more})
        item = {"path": "/v1/live/log", "body": {"line": "z" * 101}}
        small_one.push("/v1/batch", [item])
    kept = ["x" * 100, "ü" * 50 + " … [cut: 2 bytes more]", "y" * 25]
    cut = "z" * 100 + " … [cut: 1 bytes more]"
    assert [body["line"] for body in model.bodies()] == [*kept, *kept, cut]
