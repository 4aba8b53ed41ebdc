"""Backtest results in every encoding, small and large: whole, checked, replaceable, sealed."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import Connection, delete, insert, select, update

from tapeline.store.tables.tape import backtests, pieces
from tests.conftest import on_both, running
from tests.loop_time import longest_goes
from tests.pushing import FORM, JSON, RESULT, Model

PATH = "/v1/backtest/result"
DEEP = b"[" * 500 + b"]" * 500
PART = b'--x\r\nContent-Disposition: form-data; name="trades"; filename="t"\r\n\r\n'
FIELDS = {
    "symbols": ["BTC-USD", "ETH-USD"],
    "quote_asset": "USD",
    "start_time": "2020-05-08",
    "stop_time": "1600000000",
    "exchange": "alpaca",
    "metrics": ["cagr", "sharpe"],
    "indicators": ["rsi"],
    "backtest_id": "b1",
}


def texts(fields: dict[str, Any]) -> list[tuple[str, tuple[None, str]]]:
    found = []
    for key, value in fields.items():
        found += [(key, (None, one)) for one in (value if isinstance(value, list) else [value])]
    return found


def file(name: str, content: str | bytes) -> tuple[str, tuple[str, bytes]]:
    """A part as slate sends it: a temporary file name and no content type."""
    return name, ("tmpab12cd", content.encode() if isinstance(content, str) else content)


def test_a_result_in_json_is_shown_in_all_its_parts(model: Model) -> None:
    indicator = {"display_name": "RSI", "type": "line", "values": [{"time": 1, "value": 30}]}
    more = {
        "metrics": {"cagr": {"value": 1.5, "display_name": "CAGR", "type": "number"}},
        "indicators": {"rsi": indicator, "bare": {}},
        "exchange": "alpaca",
        "user_callbacks": ["ignored"],
    }
    model.push(PATH, RESULT | more)
    shown = model.get("/backtests/b1")
    assert (shown["symbols"], shown["quote_asset"]) == (["BTC-USD"], "USD")
    assert (shown["start_time"], shown["stop_time"], shown["exchange"]) == (100, 200, "alpaca")
    assert shown["metrics"]["custom"] == more["metrics"]
    assert shown["counts"] == {"account_values": 2, "trades": 1}
    assert shown["status"] is None
    assert "user_callbacks" not in shown
    equity = model.items("/backtests/b1/equity")
    assert equity == [{"time": 100, "value": 1000}, {"time": 110, "value": None}]
    assert model.items("/backtests/b1/trades") == [RESULT["trades"][0] | {"index": 0}]
    rsi, bare = model.items("/backtests/b1/indicators")
    assert (rsi["display_name"], rsi["items"]) == ("RSI", [{"time": 1, "value": 30}])
    assert (bare["name"], bare["items"]) == ("bare", [])
    assert [one["backtest_id"] for one in model.items("/backtests")] == ["b1"]
    nothings: tuple[dict[str, Any] | None, ...] = (None, {})
    for nothing in nothings:
        model.push(PATH, RESULT | {"metrics": nothing, "indicators": nothing, "trades": []})
    assert model.first_break() is None


@pytest.mark.older_client("slate", "results of backtests, as files and as forms")
def test_a_result_as_slate_sends_it(model: Model) -> None:
    values = '{"account_values": [{"time": 1, "value": NaN}, {"time": 2, "value": -Infinity}]}'
    trades = '{"trades": [{"symbol": "NaN", "side": "buy", "time": 1, "note": "Infinity"}]}'
    both = [file("account_values", values), file("trades", trades)]
    model.push(PATH, files=texts(FIELDS) + both)
    shown = model.get("/backtests/b1")
    assert (shown["start_time"], shown["stop_time"]) == (1588896000, 1600000000)
    assert shown["symbols"] == ["BTC-USD", "ETH-USD"]
    # Only the names arrive over a form.
    own = shown["metrics"]["custom"]
    assert {name: one["value"] for name, one in own.items()} == {"cagr": None, "sharpe": None}
    assert [one["value"] for one in model.items("/backtests/b1/equity")] == [None, None]
    (trade,) = model.items("/backtests/b1/trades")
    assert (trade["symbol"], trade["note"]) == ("NaN", "Infinity")
    # Only one of the lists, and as a bare one.
    model.push(PATH, files=[*texts(FIELDS), file("trades", trades[11:-1])])
    assert model.get("/backtests/b1")["counts"] == {"account_values": 0, "trades": 1}
    # Neither: urlencoded, without both keys.
    pairs = [(key, part) for key, (_, part) in texts(FIELDS)]
    sent = {"content": urlencode(pairs).encode(), "headers": {"content-type": FORM}}
    model.push(PATH, **sent)
    assert model.get("/backtests/b1")["counts"] == {"account_values": 0, "trades": 0}
    one_symbol = texts(FIELDS | {"symbols": "BTC-USD", "metrics": "cagr"})
    model.push(PATH, files=[*one_symbol, file("trades", "[]"), ("account_values", (None, ""))])
    assert model.get("/backtests/b1")["symbols"] == ["BTC-USD"]


def test_a_wrong_result_names_the_key_or_the_index(model: Model) -> None:
    good, trade = {"time": 1, "value": 2}, {"symbol": "A", "side": "buy", "time": 1}
    wrongs: tuple[tuple[dict[str, Any], str, str], ...] = (
        *(({key: None}, key, "required") for key in RESULT if key[:2] not in ("ac", "tr")),
        ({"account_values": None}, "account_values", "list"),
        ({"account_values": {}}, "account_values", "no `account_values`"),
        ({"trades": "x"}, "trades", "list"),
        ({"symbols": "A"}, "symbols", "list"),
        ({"symbols": [1]}, "symbols", "list"),
        ({"start_time": "soon"}, "start_time", "could not be read"),
        ({"stop_time": True}, "stop_time", "number"),
        ({"metrics": []}, "metrics", "object"),
        ({"indicators": []}, "indicators", "object"),
        ({"indicators": {"a": {"values": [{"time": 1}]}}}, "indicators", "a.values[0]"),
        ({"account_values": [good, {"time": 1}]}, "account_values", "[1]"),
        ({"account_values": [good, good, {"value": 1}]}, "account_values", "[2]"),
        ({"account_values": [good, {"time": "x", "value": 1}]}, "account_values", "[1].time"),
        ({"account_values": [{"time": 1, "value": "x"}]}, "account_values", "[0].value"),
        ({"account_values": [5]}, "account_values", "[0]"),
        ({"trades": [trade, trade | {"side": None}]}, "trades", "[1]"),
        ({"trades": [trade | {"symbol": ""}]}, "trades", "[0]"),
        ({"trades": [trade | {"time": None}]}, "trades", "[0]"),
        ({"trades": [trade, []]}, "trades", "[1]"),
    )
    for wrong, field, words in wrongs:
        shape = model.refused(PATH, RESULT | wrong)
        assert (shape["field"], words in shape["error"]) == (field, True), (wrong, shape)
    for key in RESULT:
        without = {name: value for name, value in RESULT.items() if name != key}
        shape = model.refused(PATH, without)
        assert (shape["code"], shape["field"]) == ("missing_field", key)
    assert (model.size(), model.pieces()) == (0, 0)


@pytest.mark.parametrize(
    "pad", [0, pytest.param(300_000, marks=pytest.mark.heavy)], ids=["small", "large"]
)
def test_a_broken_result_gets_an_error(model: Model, pad: int) -> None:
    """A large one is looked at in another process, by the same rules."""
    rest = b'"backtest_id":"b","symbols":[],"quote_asset":"U","start_time":1,"stop_time":2'
    rest += b',"pad":"' + b"x" * pad + b'"}'
    for start in (
        b"[", b"", b'{"trades": [', b'{"account_values":[],"trades":["\xff"],',
        b'{"account_values":[{"time":1,"value":1e999}],"trades":[],',
        b'{"account_values":[],"trades":[],"metrics":{"a":"\xff"},',
        b'{"account_values":[],"trades":[],"metrics":{"a":' + b"[" * 40 + b"]" * 40 + b"},",
        b'{"account_values":[{"time":1,"value":1,"x":' + DEEP + b'}],"trades":[],',
        b'{"account_values":' + b"[" * 5_000 + b"]" * 5_000 + b',"trades":[],',
        b'{"account_values":[],"trades":[],"indicators":{"a":{"values":[{"time":1e999}]}},',
        b'{"account_values":[],"trades":[],"indicators":{"a":{"b":"\xff"}},',
    ):  # fmt: skip
        model.refused(PATH, content=start + rest, headers={"content-type": JSON})
    padded = texts(FIELDS | {"pad": "x" * pad})
    for broken in (b"{", b"5", b'{"x": []}', b"[1, 2", b'["\xff"]', b'[{"time": 1e999}]'):
        shape = model.refused(PATH, files=[*padded, file("trades", broken)])
        assert shape.get("field") in {"trades", None}, (broken, shape)
    model.refused(PATH, files=[*padded, ("trades", (None, "[]")), ("trades", (None, "[]"))])
    for encoding in ("text/plain", ""):
        sent = {"content": b"{" + rest, "headers": {"content-type": encoding}}
        model.refused(PATH, status=415, **sent)
    assert (model.size(), model.pieces()) == (0, 0)


@on_both
def test_numbers_beyond_64_bits_are_kept_or_refused_but_never_a_failure(model: Model) -> None:
    huge = 10**40
    model.push("/v1/live/update-trade", {"id": "o", "count": huge})
    model.push(PATH, RESULT | {"metrics": {"a": {"value": huge}}})
    assert model.bodies()[0]["count"] == huge


def test_lists_in_text_parts_are_not_lost_in_large_bodies(model: Model) -> None:
    padded = texts(FIELDS | {"pad": "x" * 300_000})
    trades = json.dumps(RESULT["trades"])
    model.push(PATH, files=[*padded, ("trades", (None, trades)), file("symbols", "AAPL")])
    assert model.get("/backtests/b1")["counts"]["trades"] == 1
    assert model.get("/backtests/b1")["symbols"] == ["AAPL"]
    pairs = [(key, part) for key, (_, part) in padded] + [("trades", trades)]
    sent = {"content": urlencode(pairs).encode(), "headers": {"content-type": FORM}}
    model.push(PATH, **sent)
    assert model.get("/backtests/b1")["counts"]["trades"] == 1


@on_both
def test_a_second_result_replaces_the_first_whole(model: Model) -> None:
    model.push("/v1/backtest/status", {"backtest_id": "b1", "successful": True})
    many = [{"time": place, "value": 1} for place in range(20_001)]
    model.push(PATH, RESULT | {"account_values": many})
    first = model.pieces()
    assert first > 5
    model.push(PATH, RESULT | {"account_values": [], "quote_asset": "EUR"})
    assert model.pieces() == 1
    shown = model.get("/backtests/b1")
    assert (shown["quote_asset"], shown["counts"]["account_values"]) == ("EUR", 0)
    assert shown["status"]["successful"] is True
    assert model.items("/backtests/b1/equity") == []
    assert len(model.items("/backtests")) == 1
    assert model.first_break() is None


@on_both
def test_every_change_of_a_stored_piece_is_found(model: Model) -> None:
    many = [{"time": place, "value": 1} for place in range(10_001)]
    indicators = {"rsi": {"values": many[:3]}}
    model.push("/v1/live/log", {"line": "before"})
    model.push(PATH, RESULT | {"account_values": many, "indicators": indicators})
    store = model.service.store
    rows = store.read_now(lambda connection: connection.execute(select(pieces)).all())
    assert {row.list for row in rows} == {"account_values", "trades", "equity", "indicator-0"}

    def change(*statements: Any) -> None:
        def job(connection: Connection) -> None:
            for statement in statements:
                connection.execute(statement)

        store.write_now(job)

    for row in rows:
        here = (pieces.c.list == row.list, pieces.c.piece == row.piece)
        flipped = row.content[:-1] + bytes([row.content[-1] ^ 1])
        for edit in (
            update(pieces).where(*here).values(content=flipped),
            update(pieces).where(*here).values(first=row.first + 1),
            update(pieces).where(*here).values(piece=77),
            delete(pieces).where(*here),
        ):
            change(edit)
            assert model.first_break() == 2, (row.list, row.piece)
            change(delete(pieces), insert(pieces).values([one._asdict() for one in rows]))
            assert model.first_break() is None
    change(update(backtests).values(upload="other"))
    assert model.first_break() == 2


def test_a_result_over_the_limit_is_413_and_leaves_nothing(model: Model) -> None:
    settings = replace(model.service.services.settings, max_large_body=400_000)
    with running(settings) as small, small.client(**model.headers) as client:
        body = json.dumps(RESULT | {"pad": "x" * 400_000}).encode()
        for encoding, content in (
            (JSON, body),
            ("multipart/form-data; boundary=x", PART + body),
        ):
            answer = client.post(PATH, content=content, headers={"content-type": encoding})
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        batch = client.post("/v1/batch", content=body, headers={"content-type": JSON})
        assert batch.status_code == 413
        form = client.post(PATH, content=b"x=" + b"y" * 1_100_000, headers={"content-type": FORM})
        assert form.status_code == 413
        assert list(small.services.staging.spool.iterdir()) == []


@pytest.mark.heavy
def test_a_large_result_does_not_hold_up_others(model: Model) -> None:
    values = [{"time": 1600000000 + place, "value": place / 7} for place in range(200_000)]
    trades = [{"symbol": "A", "side": "buy", "time": place} for place in range(30_000)]
    content = json.dumps(RESULT | {"account_values": values, "trades": trades}).encode()
    assert len(content) > 7_000_000
    both = [
        file("account_values", json.dumps({"account_values": values})),
        file("trades", json.dumps(trades)),
    ]
    fields = texts(FIELDS | {"backtest_id": "b2"})
    # Made before: who pings shares this process with the senders.
    requests = [
        model.client.build_request("POST", PATH, content=content, headers={"content-type": JSON}),
        model.client.build_request("POST", PATH, files=[*fields, *both]),
    ]
    for request in requests:
        request.headers.update(model.headers)
        request.read()
    with longest_goes(model.service) as goes:
        for request in requests:
            assert model.client.send(request).status_code == 200
    assert max(goes) < 0.25, "decoding it in the loop would take seconds"
    for backtest in ("b1", "b2"):
        counts = model.get(f"/backtests/{backtest}")["counts"]
        assert counts == {"account_values": 200_000, "trades": 30_000}
        equity = model.items(f"/backtests/{backtest}/equity", points=500)
        assert len(equity) <= 500
        assert (equity[0]["value"], equity[-1]["value"]) == (0, pytest.approx(199_999 / 7))
        page = model.get(f"/backtests/{backtest}/trades", limit=1000)
        assert [one["index"] for one in page["items"][:2]] == [29_999, 29_998]
        following = model.items(f"/backtests/{backtest}/trades", limit=1, cursor=page["next"])
        assert following[0]["index"] == 28_999
    assert model.first_break() is None
    assert list(model.service.services.staging.spool.iterdir()) == []


def test_a_large_result_is_refused_as_the_machines_trouble_while_it_cannot_be_spooled(
    model: Model,
) -> None:
    spool = model.service.services.staging.spool
    away = spool.rename(spool.with_name("away"))
    many = RESULT | {"trades": RESULT["trades"] * 10_000}
    answer = model.post(PATH, many)
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    away.rename(spool)
    model.push(PATH, many)
    assert model.size() == 1
