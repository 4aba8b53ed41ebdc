"""Reading a tape back: lists and their cursors, filters, merged orders, access, the whole tape."""

import base64
import math
import struct
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from tapeline.accounts import members
from tapeline.http.core.endpoint import Access
from tapeline.http.routes import ROUTES
from tapeline.http.view import log_files
from tapeline.store.tables.tape import checkpoints
from tapeline.tape.backtest_results import series
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import seals
from tapeline.tape.proof.seals import PiecesDigest
from tapeline.tape.proof.signer import is_signed, statement
from tapeline.tape.reading import channels, order_list, order_marks
from tests.conftest import Cast, Person, Service, on_both
from tests.pushing import ORDER, RESULT, Model, new_key, pushing

LOG = "/v1/live/log"


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.watchers.close()  # so that streams end after their first word
    return shared_service


def lines(model: Model, texts: list[str], **more: Any) -> None:
    model.push("/v1/batch", [{"path": LOG, "body": {"line": one}, **more} for one in texts])


def pages(model: Model, path: str, **params: Any) -> list[list[dict[str, Any]]]:
    """All pages of a list, until there is no `next`."""
    found, cursor = [], None
    while True:
        more = params if cursor is None else params | {"cursor": cursor}
        page = model.get(path, **more)
        found.append(page["items"])
        cursor = page["next"]
        if cursor is None:
            return found


def test_a_model_without_events_has_empty_answers(model: Model) -> None:
    shown = model.get()
    assert shown["lifecycle"] == dict.fromkeys(("message", "start_at", "end_at", "running"))
    assert (shown["symbols"], shown["exchanges"], shown["counts"]) == ([], [], {})
    assert (shown["version"], shown["run"]) == (None, None)
    for path in ("/orders", "/logs", "/events", "/screener/history", "/backtests"):
        assert model.get(path) == {"items": [], "next": None}
    seals_shown = model.get("/tape/seals")
    assert (seals_shown["seq"], seals_shown["items"]) == (0, [])
    assert model.owner.get(f"/api/models/{model.id}/tape").content == b""
    assert model.owner.get(f"/api/models/{model.id}/backtests/none").status_code == 404


@on_both
def test_lists_are_newest_first_by_arrival_and_cursors_outlive_new_items(model: Model) -> None:
    for text, time in (("a", "300"), ("b", "100"), ("c", "200")):
        model.push(LOG, {"line": text}, headers={"time": time})
        model.push("/v1/live/spot-market", ORDER | {"id": text}, headers={"time": time})
        model.push("/v1/live/event", {"type": text}, headers={"time": time})
        model.push("/v1/live/screener-result", {"result": {text: {}}}, headers={"time": time})
        model.push("/v1/backtest/log", {"line": text, "backtest_id": text})
    keys = (
        ("/logs", "line"), ("/orders", "id"), ("/events", "type"),
        ("/screener/history", "time"), ("/backtests", "backtest_id"),
    )  # fmt: skip
    firsts = {path: model.get(path, limit=2) for path, _ in keys}
    lines(model, ["new"])
    model.push("/v1/live/spot-market", ORDER | {"id": "new"})
    model.push("/v1/live/event", {"type": "new"})
    model.push("/v1/live/screener-result", {"result": {"new": {}}})
    model.push("/v1/backtest/log", {"line": "new", "backtest_id": "new"})
    for path, key in keys:
        expected = [200, 100, 300] if key == "time" else ["c", "b", "a"]
        assert [one[key] for one in firsts[path]["items"]] == expected[:2]
        assert path == "/backtests" or all(one["seq"] for one in firsts[path]["items"])
        rest = model.get(path, limit=2, cursor=firsts[path]["next"])
        assert ([one[key] for one in rest["items"]], rest["next"]) == (expected[2:], None)
    for wrong in ("x", "-1", "1" * 19, "1.5", "\u0661"):
        answer = model.owner.get(f"/api/models/{model.id}/logs", params={"cursor": wrong})
        assert (answer.status_code, answer.json()["field"]) == (400, "cursor")
    for limit in ("0", "1001", "x"):
        answer = model.owner.get(f"/api/models/{model.id}/logs", params={"limit": limit})
        assert (answer.status_code, answer.json()["field"]) == (400, "limit")


def test_live_lines_and_a_backtests_lines_are_apart(model: Model) -> None:
    for backtest in ("b1", "b2"):
        model.push("/v1/backtest/log", {"line": f"of {backtest}", "backtest_id": backtest})
    lines(model, ["live"])
    assert [one["line"] for one in model.items("/logs")] == ["live"]
    assert [one["line"] for one in model.items("/backtests/b2/logs")] == ["of b2"]
    assert set(model.items("/logs")[0]) == {"line", "type", "time", "received_at", "seq"}


def test_lines_are_filtered_and_tailed(model: Model) -> None:
    for number in range(6):
        kind = "stderr" if number % 2 else "stdout"
        model.push(LOG, {"line": f"line {number} é", "type": kind})
    model.push("/v1/live/event", {"type": "order", "args": {"deep": "needle"}})
    found = model.items("/logs", type="stderr")
    assert [one["line"][5] for one in found] == ["5", "3", "1"]
    assert [one["line"] for one in model.items("/logs", q="2 é")] == ["line 2 é"]
    assert model.items("/logs", q="2 é", type="stderr") == []
    assert [one["type"] for one in model.items("/events", q="needle")] == ["order"]
    assert model.items("/events", type="other") == []
    tail = model.items("/logs", after=found[1]["seq"])
    assert [one["line"][5] for one in tail] == ["4", "5"]  # oldest first
    assert [[one["line"][5] for one in page] for page in pages(model, "/logs", after=0, limit=4)] \
        == [["0", "1", "2", "3"], ["4", "5"]]  # fmt: skip
    assert model.items("/logs", after=2**63 - 1) == []
    for wrong in ("-1", str(2**63), "9" * 30, "x"):
        answer = model.owner.get(f"/api/models/{model.id}/logs", params={"after": wrong})
        assert (answer.status_code, answer.json()["field"]) == (400, "after")


@on_both
def test_a_filter_looks_so_far_and_goes_on_with_its_cursor(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "PATIENCE", 20)
    monkeypatch.setattr(order_list, "PATIENCE", 20)
    lines(model, ["needle", *["hay"] * 49])
    order = {"path": "/v1/live/spot-market"}
    model.push(
        "/v1/batch",
        [order | {"body": ORDER | {"id": f"o{n}", "symbol": f"S{min(n, 1)}"}} for n in range(50)],
    )
    first = model.get("/logs", q="needle")
    assert first["items"] == []
    assert first["next"] is not None
    found = pages(model, "/logs", q="needle")
    assert [len(page) for page in found] == [0, 0, 1]
    assert [len(page) for page in pages(model, "/orders", symbol="S0")] == [0, 0, 1]
    together = [one["id"] for page in pages(model, "/orders", symbol="S1") for one in page]
    assert together == [f"o{n}" for n in range(49, 0, -1)]
    tailed = pages(model, "/logs", q="needle", after=0, limit=20)
    assert [len(page) for page in tailed] == [1, 0, 0]


@on_both
def test_a_log_is_read_around_a_moment(model: Model) -> None:
    found = []
    for number in range(5):
        lines(model, [f"{number}{letter}" for letter in "abc"])
        found.append(model.items("/logs", limit=1)[0]["received_at"])
    before = model.get("/logs", at=found[2], limit=4)
    assert [one["line"] for one in before["items"]] == ["1c", "1b", "1a", "0c"]
    rest = model.get("/logs", at=found[2], limit=4, cursor=before["next"])
    assert [one["line"] for one in rest["items"]] == ["0b", "0a"]
    onward = model.get("/logs", at=found[2], after=0, limit=4)
    assert [one["line"] for one in onward["items"]] == ["2a", "2b", "2c", "3a"]
    rest = model.get("/logs", at=found[2], after=0, cursor=onward["next"])
    assert [one["line"] for one in rest["items"]] == ["3b", "3c", "4a", "4b", "4c"]
    assert model.items("/logs", at=found[0] - 1) == []
    assert len(model.items("/logs", at=found[0] - 1, after=0)) == 15
    assert len(model.items("/logs", at=found[4] + 1)) == 15
    assert model.items("/logs", at=found[4] + 1, after=0) == []
    assert model.items("/events", at=found[2]) == []


def test_a_log_is_taken_away_as_text(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "PORTION", 4)
    lines(model, [f'line {number} "é"\n' for number in range(10)], time=1_700_000_000.5)
    model.push(LOG, {"line": "late", "type": "stderr"}, headers={"time": "1e14"})
    model.push("/v1/backtest/log", {"line": "tested", "backtest_id": "b1"})
    address = f"/api/models/{model.id}"
    answer = model.owner.get(f"{address}/logs.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.text.startswith('2023-11-14T22:13:20.500Z stdout line 0 "é"\n')
    assert answer.text.count("stdout line") == 10
    assert answer.text.endswith(" stderr late\n")
    filtered = model.owner.get(f"{address}/logs.txt", params={"q": '3 "é'})
    assert filtered.text.endswith('stdout line 3 "é"\n\n')
    assert filtered.text.count("Z ") == 1
    assert "late" in model.owner.get(f"{address}/logs.txt", params={"type": "stderr"}).text
    tested = model.owner.get(f"{address}/backtests/b1/logs.txt")
    assert tested.text.endswith(" stdout tested\n")
    assert model.owner.get(f"{address}/backtests/none/logs.txt").status_code == 404


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
    found = pages(model, "/orders", since=1_010, until=1_019, limit=4)
    assert [len(page) for page in found] == [4, 4, 2]
    found = pages(model, "/orders", since=1_010, until=1_019, symbol="S1", limit=2)
    assert [one["id"] for page in found for one in page] == ["o19", "o17", "o15", "o13", "o11"]
    found = pages(model, "/orders", since=1_010, until=1_019, side="sell")
    assert [one["id"] for page in found for one in page] == ["o17", "o14", "o11"]
    # More than one request may look at: page by page, as with any other filter.
    found = pages(model, "/orders", since=1_010, until=1_079)
    assert [one["id"] for page in found for one in page] == [f"o{n}" for n in range(79, 9, -1)]
    assert model.items("/orders", since=5_000) == []


@on_both
def test_orders_are_tailed(model: Model) -> None:
    pushed(model, 10)
    newest = model.items("/orders")
    after = newest[6]["seq"]
    found = pages(model, "/orders", after=after, limit=4)
    assert [[one["id"] for one in page] for page in found] == [
        ["o4", "o5", "o6", "o7"],
        ["o8", "o9"],
    ]
    assert [one["id"] for one in model.items("/orders", after=after, side="sell")] == ["o5", "o8"]


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


def test_symbols_and_exchanges_are_listed_once_in_order(model: Model) -> None:
    for symbol in ("B", "A", "B", "C", "A"):
        model.push("/v1/model/used-symbol", {"symbol": symbol})
    model.push("/v1/batch", [{"path": "/v1/live/used-exchange", "body": {"exchange": "x"}}] * 2)
    shown = model.get()
    assert (shown["symbols"], shown["exchanges"]) == (["B", "A", "C"], ["x"])


@on_both
def test_a_series_is_cut_down_with_its_extremes(model: Model) -> None:
    values: list[dict[str, Any]] = [{"time": n, "value": n % 97} for n in range(5000)]
    values[1234]["value"], values[4321]["value"] = 10_000, -10_000
    values[10]["value"] = None
    model.push("/v1/backtest/result", RESULT | {"account_values": values})
    for points in (2, 3, 7, 100, 999, 5000):
        cut = model.items("/backtests/b1/equity", points=points)
        assert len(cut) <= points
        assert [one["time"] for one in cut] == sorted(one["time"] for one in cut)
        if points >= 100:
            kept = [one["value"] for one in cut if one["value"] is not None]
            assert (max(kept), min(kept)) == (10_000, -10_000)
    assert len(model.items("/backtests/b1/equity")) <= 1000
    for wrong in ("1", "5001", "x"):
        where = f"/api/models/{model.id}/backtests/b1/equity"
        assert model.owner.get(where, params={"points": wrong}).status_code == 400


# What is about a run or a secret is tried for every role in test_access.py.
READING = [
    row.path
    for row in ROUTES
    if row.path.startswith("/api/models/{model}")
    and (row.method, row.access) == ("GET", Access.READER)
    and "{run}" not in row.path
]


def test_who_may_read_a_tape(service: Service, cast: Cast, enter: Callable[[str], Person]) -> None:
    bob = enter("bob")
    with pushing(service, cast.owner, cast.project_id) as model, service.client() as nobody:
        model.push("/v1/backtest/result", RESULT)
        right = new_key(service, cast.owner, cast.project_id, read=True, write=False)
        writing = {name: model.headers[name] for name in ("api_key", "api_pass")}
        foreign = new_key(service, bob, bob.id, read=True)
        assert len(READING) >= 14
        for path in READING:
            address = path.replace("{model}", model.id).replace("{backtest}", "b1")
            for person in (cast.owner, cast.admin, cast.member, cast.viewer):
                assert person.get(address).status_code == 200, path
            assert nobody.get(address, headers=right).status_code == 200, path
            assert nobody.get(address).status_code == 401
            assert nobody.get(address, headers=writing).status_code == 401
            for status in (
                cast.outsider.get(address).status_code,
                nobody.get(address, headers=foreign).status_code,
                cast.owner.get(address.replace(model.id, "none")).status_code,
            ):
                assert status == 404, path
        service.store.write_now(members.remove, cast.owner.actor, cast.project_id, cast.viewer.id)
        assert cast.viewer.get(f"/api/models/{model.id}").status_code == 404


class Line(msgspec.Struct, kw_only=True):
    seq: int
    kind: str | None = None
    time: float = 0
    received_at: float = 0
    run_id: str | None = None
    backtest_id: str | None = None
    body: msgspec.Raw = msgspec.Raw()
    salt: str | None = None
    link: str | None = None
    nonce: str | None = None
    list: str | None = None
    piece: int = 0
    first: int = 0
    items: msgspec.Raw = msgspec.Raw()


def parsed(line: Line) -> StoredEvent:
    numbers = {kind.name: kind.number for kind in kinds.KINDS}
    return StoredEvent(
        seq=line.seq,
        kind=numbers[line.kind or ""],
        time=line.time,
        received_at=line.received_at,
        run_id=line.run_id,
        backtest_id=line.backtest_id,
        body=bytes(line.body),
        salt=(line.salt and base64.b64decode(line.salt)) or None,
        link=(line.link and bytes.fromhex(line.link)) or None,
        nonce=(line.nonce and bytes.fromhex(line.nonce)) or None,
    )


def test_the_whole_tape_can_be_checked_by_whoever_downloads_it(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeline.http.view.stream.PORTION", 7)
    many = [{"time": place, "value": 1e20 + place} for place in range(10_001)]
    lines(model, ["ünï", *["x"] * 30], time=1.1e-7)
    model.push("/v1/live/spot-market", ORDER | {"extra": [1.0, 1, None, "é"]})
    model.push("/v1/backtest/result", RESULT)
    indicators = {
        "b": {"values": [{"time": 1, "value": None}, {"time": 2.5, "value": -0.1}]},
        "a": {"values": [{"time": place, "value": place} for place in range(10_001)]},
    }
    model.push("/v1/backtest/result", RESULT | {"account_values": many, "indicators": indicators})
    model.push("/v1/backtest/log", {"line": "x", "backtest_id": "b1"})
    model.push("/v1/live/update-trade", {"id": "o1", "executionPrice": 5})
    content = model.owner.get(f"/api/models/{model.id}/tape")
    assert content.headers["content-type"].startswith("application/x-ndjson")
    told = [msgspec.json.decode(line, type=Line) for line in content.text.splitlines()]
    records = [parsed(line) for line in told if line.kind]
    shown = model.get("/tape/seals")
    head = (shown["seq"], bytes.fromhex(shown["link"]))
    assert (len(records), seals.first_break(records, head)) == (36, None)
    edited = msgspec.structs.replace(records[3], body=b'{"line":"y","type":"stdout"}')
    assert seals.first_break([*records[:3], edited, *records[4:]], head) is not None
    # The long lists of the result that stands, against its header.
    sealed = msgspec.json.decode(records[33].body)["digests"]
    for name in ("account_values", "trades"):
        digest = PiecesDigest()
        for line in told:
            if line.list == name:
                assert line.seq == 34
                digest.add(line.piece, line.first, bytes(line.items))
        assert digest.hex() == sealed[name]
    # Series are sealed as doubles: all times of a piece, then all values.
    assert list(dict.fromkeys(line.list for line in told if line.list)) == [
        "account_values", "trades", "indicator-0", "indicator-1",
    ]  # fmt: skip
    for name in ("indicator-0", "indicator-1"):
        digest = PiecesDigest()
        for line in told:
            if line.list == name:
                points = msgspec.json.decode(line.items, type=list[series.Point])
                doubles = [point.time for point in points]
                doubles += [math.nan if one.value is None else one.value for one in points]
                digest.add(line.piece, line.first, struct.pack(f"<{len(doubles)}d", *doubles))
        assert digest.hex() == sealed[name]


@on_both
def test_checkpoints_are_signed_with_the_key_that_is_served(model: Model) -> None:
    lines(model, ["a"])
    one = model.get("/tape/seals")
    lines(model, ["b"])
    two = model.get("/tape/seals")
    again = model.get("/tape/seals")
    assert again == two
    assert [item["seq"] for item in two["items"]] == [2, 1]
    assert two["items"][1] == one["items"][0]
    public = bytes.fromhex(two["public_key"])
    for item in two["items"]:
        told = (model.id, item["seq"], bytes.fromhex(item["link"]), item["at"])
        signature = bytes.fromhex(item["signature"])
        assert item["key_id"] == two["key_id"]
        assert is_signed(public, signature, statement(*told))
        assert not is_signed(public, signature, statement(model.id, 9, *told[2:]))
        record = model.records()[item["seq"] - 1]
        assert record.link == told[2]
        assert seals.first_break(model.records()[: item["seq"]], told[1:3]) is None
    page = model.get("/tape/seals", limit=1)
    assert model.get("/tape/seals", limit=1, cursor=page["next"])["items"] == two["items"][1:]
    of_model = model.service.store.read_now(model.tape)
    of_tape = select(checkpoints).where(checkpoints.c.tape == of_model)
    stored = model.service.store.read_now(lambda c: len(c.execute(of_tape).all()))
    assert stored == 2
