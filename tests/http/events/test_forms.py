"""Events over forms, byte for byte as existing clients send them, and over multipart."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conftest import Service
from tests.pushing import FORM, ORDER, Model


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


def as_requests_does(values: dict[str, Any]) -> bytes:
    """`requests.post(data=values)`: None, {} and [] vanish, dictionaries lose their values."""
    pairs = []
    for key, value in values.items():
        listed = [value] if isinstance(value, str) or not hasattr(value, "__iter__") else value
        pairs += [(key, item) for item in listed if item is not None]
    return urlencode(pairs).encode()


def form(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    headers = more.pop("headers", {}) | {"content-type": FORM}
    return {"content": as_requests_does(values), "headers": headers}


def multipart(values: dict[str, Any]) -> dict[str, Any]:
    return {"files": [(key, (None, str(value))) for key, value in values.items()]}


@pytest.fixture(params=[form, multipart])
def encoded(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_encoding_is_that_of_the_clients() -> None:
    sent = {"n": None, "d": {}, "l": [], "t": True, "s": "", "two": ["a", "b"], "k": {"x": 1}}
    assert as_requests_does(sent) == b"t=True&s=&two=a&two=b&k=x"


@pytest.mark.older_client("slate", "orders")
def test_orders_over_forms_have_numbers(model: Model, encoded: Any) -> None:
    order = {"symbol": "BTC-USD", "id": "o1", "side": "BUY", "exchange": "alpaca", "size": 0.5}
    model.push("/v1/live/spot-market", **encoded(order))
    more = {"id": "o2", "price": 10, "executed_time": 1600, "canceled_time": 17, "status": "new"}
    model.push("/v1/live/spot-limit", **encoded(order | more))
    # A stop order of an older client.
    stop = order | {"id": "o3", "price": "10", "activate": "9.5", "annotation": "why"}
    model.push("/v1/live/spot-limit", **encoded(stop))
    found = {one["id"]: one for one in model.items("/orders")}
    assert found["o1"]["size"] == 0.5
    assert found["o2"]["price"] == 10
    assert found["o2"]["canceled_time"] == 17
    assert found["o2"]["fill"]["time"] == 1600
    assert (found["o3"]["type"], found["o3"]["active"]) == ("spot-stop", 9.5)
    assert found["o3"]["annotation"] == "why"
    # The same over JSON is a retry: nothing new.
    model.push("/v1/live/spot-market", order)
    assert model.size() == 3
    for wrong in ({"size": "abc"}, {"funds": "1"}, {"side": ""}, {"size": ""}):
        model.refused("/v1/live/spot-market", **encoded(order | wrong))


@pytest.mark.older_client("slate", "updates of orders")
def test_updates_over_forms_have_numbers_where_they_are_known(model: Model, encoded: Any) -> None:
    model.push("/v1/live/spot-market", ORDER)
    told = {"executionPrice": "5.5", "fee": "0.1", "filled_size": "2", "note": "7", "fees": "nan"}
    model.push("/v1/live/update-trade", **encoded({"id": "o1", **told, "executionTime": "soon"}))
    model.push("/v1/live/update-annotation", **encoded({"id": "o1", "annotation": "good"}))
    (order,) = model.items("/orders")
    fill = order["fill"]
    assert (fill["price"], fill["size"], fill["fee"]) == (5.5, 2, 0.1)
    assert fill["time"] > order["time"]  # when the update said so: "soon" is no time
    assert (order["note"], order["fees"], order["annotation"]) == ("7", "nan", "good")
    assert model.refused("/v1/live/update-trade", **encoded({"id": "o1"}))["field"] == "id"
    assert model.refused("/v1/live/update-annotation", **encoded({"id": "o1"}))["field"]


@pytest.mark.older_client("slate", "events (of their arguments only the names arrive)")
def test_an_event_over_a_form_keeps_the_names_that_arrive(model: Model) -> None:
    path = "/v1/live/event"
    model.push(path, **form({"args": {"a": 1, "b": 2}, "response": {"ok": 1}, "type": "order"}))
    model.push(path, **form({"args": {}, "response": None, "type": "x", "annotation": "why"}))
    model.push(path, **form({"args": "", "type": "x"}))
    one, two, three = model.bodies()
    assert (one["args"], one["response"]) == ({"a": None, "b": None}, {"ok": None})
    assert (two["args"], two["response"], two["annotation"]) == (None, None, "why")
    assert three["args"] is None
    assert model.refused(path, **form({"args": "a"}))["field"] == "type"


@pytest.mark.older_client("slate", "screener results (only the symbols arrive)")
def test_a_screener_over_a_form_keeps_the_symbols(model: Model) -> None:
    model.push("/v1/live/screener-result", **form({"result": {"AAPL": {"x": 1}, "MSFT": {}}}))
    assert model.get("/screener")["result"] == {"AAPL": None, "MSFT": None}
    model.push("/v1/live/screener-result", **form({"result": ["TSLA"]}))
    assert model.get("/screener")["result"] == {"TSLA": None}
    assert model.refused("/v1/live/screener-result", **form({"result": {}}))["field"] == "result"


@pytest.mark.older_client("slate", "lifecycle")
def test_lifecycle_over_forms_reads_booleans_and_resets(model: Model, encoded: Any) -> None:
    path = "/v1/model/lifecycle"
    model.push(path, **encoded({"message": "Up", "start_at": 5.5, "running": True}))
    assert model.get()["lifecycle"]["running"] is True
    for sent, meant in (("False", False), ("1", True), ("0", False), ("true", True)):
        model.push(path, **encoded({"running": sent}))
        assert model.get()["lifecycle"]["running"] is meant
    model.push(path, **encoded({"message": "null", "start_at": "undefined", "running": "null"}))
    assert model.get()["lifecycle"] == dict.fromkeys(("message", "start_at", "end_at", "running"))
    assert model.refused(path, **encoded({"running": "maybe"}))["field"] == "running"


@pytest.mark.older_client("slate", "logs, profit and loss and metrics of its own")
def test_the_remaining_addresses_over_forms(model: Model, encoded: Any) -> None:
    model.push("/v1/model/used-symbol", **encoded({"symbol": "BTC-USD"}))
    model.push("/v1/model/used-exchange", **encoded({"exchange": "alpaca"}))
    model.push("/log", **encoded({"line": "live", "type": "stdout"}))
    model.push("/log", **encoded({"line": "mine", "type": "stdout", "backtest_id": "b1"}))
    model.push("/v1/live/set-pnl", **encoded({"values": '[{"time": 1, "value": 2.5}]'}))
    model.push("/v1/live/set-custom-metric", **encoded({"metrics": '{"a": {"value": 1}}'}))
    model.push("/v1/live/auto-pnl", **encoded({"enabled": "False"}))
    status = {"successful": "True", "status_summary": "", "time_elapsed": "3", "label": "L"}
    model.push("/v1/backtest/status", **encoded(status | {"backtest_id": "b1"}))
    shown = model.get()
    assert (shown["symbols"], shown["exchanges"]) == (["BTC-USD"], ["alpaca"])
    assert [one["line"] for one in model.items("/backtests/b1/logs")] == ["mine"]
    assert model.get("/backtests/b1")["status"]["successful"] is True
    assert model.bodies()[4:7] == [
        {"values": [{"time": 1, "value": 2.5}]},
        {"metrics": {"a": {"value": 1}}},
        {"enabled": False},
    ]
    wrong: tuple[tuple[str, dict[str, str], str], ...] = (
        ("/v1/live/set-pnl", {"values": "[" * 50_000}, "values"),
        ("/v1/live/set-custom-metric", {"metrics": '{"a": ' * 5_000}, "metrics"),
        ("/v1/live/auto-pnl", {"enabled": "perhaps"}, "enabled"),
        ("/v1/backtest/status", {"successful": "", "backtest_id": "b1"}, "successful"),
    )
    for path, values, field in wrong:
        assert model.refused(path, **encoded(values))["field"] == field


def test_a_repeated_name_is_no_text(model: Model) -> None:
    shape = model.refused("/v1/model/used-symbol", **form({"symbol": ["a", "b"]}))
    assert shape["field"] == "symbol"
    assert "a list" in shape["error"]


def test_a_line_of_a_form_holds_what_a_line_of_json_may(model: Model) -> None:
    path, odd = "/v1/live/log", {"line": "a\0b"}
    model.push(path, odd)
    for more in (form(odd), {"files": {"line": (None, b"a\0b")}}):
        model.push(path, **more)
    assert [one["line"] for one in model.items("/logs")] == ["a\0b"] * 3


def test_broken_forms_get_an_error(model: Model) -> None:
    path = "/v1/live/log"
    many = b"&".join(b"k%d=1" % place for place in range(1001))
    for content in (b"line=%FF", b"\xff=1", many):
        model.refused(path, content=content, headers={"content-type": FORM})
    boundary = "multipart/form-data; boundary=x"
    part = b'--x\r\nContent-Disposition: form-data; name="line"\r\n\r\n'
    for encoding, content in (
        ("multipart/form-data", part + b"hi\r\n--x--\r\n"),
        (boundary, part + b"hi"),
        (boundary, b"nothing"),
        (boundary, part + b"\xff\r\n--x--\r\n"),
        (boundary, b"--x\r\n\r\nno name\r\n--x--\r\n"),
    ):
        model.refused(path, content=content, headers={"content-type": encoding})
    assert model.size() == 0
    model.push(path, content=part + b"hi\r\n--x--\r\n", headers={"content-type": boundary})
    model.push(path, files={"line": ("a.txt", b"from a file")})
    assert [one["line"] for one in model.items("/logs")] == ["from a file", "hi"]
