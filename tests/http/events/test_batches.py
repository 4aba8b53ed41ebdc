"""Many events in one request: all or none, each with its own time, errors by index."""

import json
from typing import Any

import pytest

from tests.conftest import on_both
from tests.pushing import JSON, NDJSON, ORDER, RESULT, Model


def line(text: str, **more: Any) -> dict[str, Any]:
    return {"path": "/v1/live/log", "body": {"line": text}, **more}


def ndjson(items: list[Any], **headers: str) -> dict[str, Any]:
    content = b"\r\n".join(json.dumps(item).encode() for item in items) + b"\n\n"
    return {"content": content, "headers": {"content-type": NDJSON} | headers}


def test_both_encodings_store_all_in_order(model: Model) -> None:
    items = [line("a"), {"path": "/v1/live/spot-market", "body": ORDER}, line("b")]
    model.push("/v1/batch", items)
    model.push("/v1/batch", **ndjson([line("c"), line("d")]))
    assert [one["line"] for one in model.items("/logs")] == ["d", "c", "b", "a"]
    assert [record.seq for record in model.records()] == [1, 2, 3, 4, 5]
    # One request, one commit, one link.
    assert [bool(record.link) for record in model.records()] == [False, False, True, False, True]
    assert model.first_break() is None


def test_an_items_own_time_wins_over_the_header(model: Model) -> None:
    items = [
        line("a"), line("b", time=7), line("c", time="1600000000000"), line("d", time=None),
        line("e", time="1970-01-01T00:00:09Z"),
    ]  # fmt: skip
    model.push("/v1/batch", items, headers={"time": "5"})
    assert [record.time for record in model.records()] == [5, 7, 1.6e9, 5, 9]
    wrongs: tuple[Any, ...] = ("soon", True, [], {})
    for wrong in wrongs:
        shape = model.refused("/v1/batch", [line("a"), line("b", time=wrong)])
        assert (shape["field"], shape["error"][:7]) == ("time", "Item 1:")


@on_both
def test_one_bad_item_and_nothing_is_stored(model: Model) -> None:
    wrong: list[tuple[Any, str | None]] = [
        ({"path": "/v1/live/log", "body": {}}, "line"),
        ({"path": "/v1/live/spot-market", "body": ORDER | {"size": -1}}, "size"),
        ({"path": "/v1/nowhere", "body": {}}, "path"),
        ({"path": "/v1/batch", "body": {}}, "path"),
        ({"path": 5, "body": {}}, "path"),
        ({"path": "/v1/live/log", "body": [1]}, "body"),
        ({"path": "/v1/live/log"}, "body"),
        ({"path": "/v1/backtest/result", "body": RESULT | {"trades": [{}]}}, "trades"),
        ("text", None),
        ([], None),
        (None, None),
    ]
    for item, field in wrong:
        for sent in ({"body": [line("a"), line("b"), item]}, ndjson([line("a"), line("b"), item])):
            shape = model.refused("/v1/batch", **sent)
            assert shape["error"].startswith("Item 2:"), shape
            assert shape.get("field") == field
    # A result before the bad item has been staged by then; it goes again.
    good = {"path": "/v1/backtest/result", "body": RESULT}
    assert "Item 1:" in model.refused("/v1/batch", [good, line("")])["error"]
    assert (model.size(), model.pieces()) == (0, 0)


@on_both
def test_results_travel_in_batches_small_and_large(model: Model) -> None:
    values = [{"time": place, "value": place} for place in range(25_000)]
    items = [
        {"path": "/v1/backtest/result", "body": RESULT | {"backtest_id": "small"}},
        {"path": "/v1/backtest/result", "body": RESULT | {"account_values": values}},
        {"path": "/v1/backtest/status", "body": {"successful": True, "backtest_id": "b1"}},
    ]
    model.push("/v1/batch", items)
    assert model.get("/backtests/b1")["counts"] == {"account_values": 25_000, "trades": 1}
    assert model.get("/backtests/small")["counts"] == {"account_values": 2, "trades": 1}
    assert len(model.items("/backtests/b1/equity", points=100)) <= 100
    assert model.first_break() is None
    # Twice in one batch: the second stands, and the pieces of the first are gone.
    before = model.pieces()
    model.push("/v1/batch", items[:1] * 2)
    assert model.pieces() == before


def test_a_batch_has_a_most_and_may_be_empty(model: Model) -> None:
    model.push("/v1/batch", [line("x")] * 10_000)
    assert model.get()["counts"] == {"log": 10_000}
    shape = model.refused("/v1/batch", [line("x")] * 10_001, status=413)
    assert "10,000" in shape["error"]
    model.push("/v1/batch", [])
    model.push("/v1/batch", **ndjson([]))
    assert model.get()["counts"] == {"log": 10_000}


def test_a_batch_in_another_shape_or_encoding_is_refused(model: Model) -> None:
    for content in (b"", b"{}", b"[", b'[{"path": NaN}]', b"[" * 100_000, b'["\xff"]'):
        model.refused("/v1/batch", content=content, headers={"content-type": JSON})
    model.refused("/v1/batch", status=415, data={"path": "/v1/live/log"})
    model.refused("/v1/batch", status=415, files={"path": (None, "/v1/live/log")})
    deep: Any = {}
    for _ in range(31):
        deep = {"x": deep}
    event = {"path": "/v1/live/event", "body": {"type": "t", "args": deep["x"]}}
    model.push("/v1/batch", [event])
    event["body"] = {"type": "t", "args": deep}
    assert "nested deeper" in model.refused("/v1/batch", [event])["error"]
    assert model.size() == 1


@pytest.mark.heavy
@on_both
def test_a_large_batch_is_stored_as_a_small_one(model: Model) -> None:
    """So large that another process takes it apart."""
    items = [
        *(line(f"{number} " + "x" * 3_000) for number in range(3_000)),
        {"path": "/v1/live/spot-market", "body": ORDER, "time": 5},
    ]
    model.push("/v1/batch", items)
    model.push("/v1/batch", **ndjson(items[:-1]))
    assert model.get()["counts"] == {"log": 6_000, "spot-market": 1}
    sent = [item["body"]["line"] for item in items[:-1]]
    assert [body["line"] for body in model.bodies() if "line" in body] == sent * 2
    assert model.first_break() is None
    for content in (b"[" + b" " * 9_000_000, json.dumps([*items, line("")]).encode()):
        model.refused("/v1/batch", content=content, headers={"content-type": JSON})
    assert model.size() == 6_001


def test_an_event_in_a_batch_is_as_large_as_one_alone_at_most(model: Model) -> None:
    event = {"path": "/v1/live/event", "body": {"type": "t", "args": {"x": "y" * 1_000_001}}}
    shape = model.refused("/v1/batch", [line("a"), event])
    assert shape["error"].startswith("Item 1: The body is larger than 1,000,000 bytes")
    assert model.size() == 0
