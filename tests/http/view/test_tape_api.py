"""Reading a tape back: lists and their cursors, filters, access, the whole tape."""

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
from tapeline.http.view import model_files
from tapeline.store.tables.tape import checkpoints
from tapeline.tape.backtest_results import series
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import seals
from tapeline.tape.proof.seals import PiecesDigest
from tapeline.tape.proof.signer import is_signed, statement
from tapeline.tape.reading import channels, order_list
from tests.conftest import Cast, Person, Service, on_both
from tests.pushing import ORDER, RESULT, Model, new_key, pushing

LOG = "/v1/live/log"


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.watchers.close()  # so that streams end after their first word
    return shared_service


def lines(model: Model, texts: list[str], **more: Any) -> None:
    model.push("/v1/batch", [{"path": LOG, "body": {"line": one}, **more} for one in texts])


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
    assert [[one["line"][5] for one in page] for page in model.pages("/logs", after=0, limit=4)] \
        == [["0", "1", "2", "3"], ["4", "5"]]  # fmt: skip
    assert model.items("/logs", after=2**63 - 1) == []
    for wrong in ("-1", str(2**63), "9" * 30, "x"):
        answer = model.owner.get(f"/api/models/{model.id}/logs", params={"after": wrong})
        assert (answer.status_code, answer.json()["field"]) == (400, "after")


def test_a_line_is_found_by_the_text_that_is_shown(model: Model) -> None:
    coloured = "\x1b[31mline 297\x1b[0m \x1b[1;4mbold\x1b[0m word"
    lines(model, ["before", coloured, "10%\r100%", "after"])
    for shown in ("297 bold", "bold word", "line 297 bold word"):
        assert [one["line"] for one in model.items("/logs", q=shown)] == [coloured]
        assert (
            coloured
            in model.owner.get(f"/api/models/{model.id}/logs.txt", params={"q": shown}).text
        )
    assert [one["line"] for one in model.items("/logs", q="100%")] == ["10%\r100%"]
    assert model.items("/logs", q="10%") == []  # overwritten
    assert model.items("/logs", q="[31m") == []


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
    found = model.pages("/logs", q="needle")
    assert [len(page) for page in found] == [0, 0, 1]
    assert [len(page) for page in model.pages("/orders", symbol="S0")] == [0, 0, 1]
    together = [one["id"] for page in model.pages("/orders", symbol="S1") for one in page]
    assert together == [f"o{n}" for n in range(49, 0, -1)]
    tailed = model.pages("/logs", q="needle", after=0, limit=20)
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
    monkeypatch.setattr(model_files, "PORTION", 4)
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
            assert nobody.get(address, headers=writing).status_code == 403
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
