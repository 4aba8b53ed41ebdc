"""Results with whitespace between their parts: tapes and records stay one JSON a line."""

import io
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.tape.backtest_results import preparing, result_format
from tapeline.tape.backtest_results.result_format import plain
from tapeline.tape.record import checking
from tapeline.tape.record.outcome import Checked
from tests.conftest import on_both
from tests.examples import some
from tests.pushing import JSON, NDJSON, RESULT, Model

PATH = "/v1/backtest/result"
BLANKS = " \t\n\r"
LISTS = ("account_values", "trades")
# Texts that look like the whitespace around them, and characters that some take for an end of line.
ODD = {"note": 'two\nlines, a \t tab, \u2028 \u0085 \\ " [ { : ,', "deep": [{"a": [1, {}]}, []]}
Spread = Callable[[Any], str]


def indented(value: Any) -> str:
    return json.dumps(value, indent=4, ensure_ascii=False)


def windows(value: Any) -> str:
    return indented(value).replace("\n", "\r\n\t")


def old_mac(value: Any) -> str:
    return indented(value).replace("\n", "\r")


def result(*, size: int = 3, **more: Any) -> dict[str, Any]:
    return RESULT | {
        "account_values": [{"time": n, "value": n + 0.5} for n in range(size)],
        "trades": [{"symbol": "A B", "side": "buy", "time": n} for n in range(size)],
        "indicators": {"an i": {"values": [{"time": 1, "value": None}], "type": " x "}},
        **more,
    }


def checked(model: Model) -> Checked:
    """What `tapeline verify` says; every line of both files is a JSON by itself."""
    for name in ("tape", "record"):
        content = model.owner.get(f"/api/models/{model.id}/{name}").content
        for line in content.split(b"\n")[:-1]:
            assert isinstance(json.loads(line), dict)
            assert not set(line) & set(b"\r\t")
    return checking.check(io.BytesIO(content))


def send_json(model: Model, body: dict[str, Any], spread: Spread) -> None:
    model.push(PATH, content=spread(body).encode(), headers={"Content-Type": JSON})


def send_multipart(model: Model, body: dict[str, Any], spread: Spread) -> None:
    """As slate does: lists as files, one of them wrapped in an object."""
    texts = {key: str(body[key]) for key in ("backtest_id", "quote_asset", "start_time")}
    texts |= {"stop_time": "200", "symbols": "BTC-USD"}
    values = spread({"account_values": body["account_values"]})
    files = {"account_values": ("tmp1", values), "trades": ("tmp2", spread(body["trades"]))}
    model.push(PATH, data=texts, files=files)


def send_batch(model: Model, body: dict[str, Any], spread: Spread) -> None:
    content = spread([{"path": PATH, "body": body}]).encode()
    model.push("/v1/batch", content=content, headers={"Content-Type": JSON})


def send_lines(model: Model, body: dict[str, Any], spread: Spread) -> None:
    """A line cannot be broken; other whitespace may be in it."""
    content = spread({"path": PATH, "body": body}).replace("\n", "\t").encode()
    model.push("/v1/batch", content=content, headers={"Content-Type": NDJSON})


def send_file(model: Model, body: dict[str, Any], spread: Spread) -> None:
    """What a backtest's function returned, as its run leaves it: checked by the same reader."""
    header, pieces = preparing.prepare_here(
        spread(body).encode(), {}, {}, lenient=False, max_depth=32
    )
    assert header["account_values"]["count"] == len(body["account_values"])
    assert all(_is_compact(plain(one.list, one.content)) for one in pieces if one.list in LISTS)


def _is_compact(content: bytes) -> bool:
    return content == msgspec.json.format(content, indent=-1)


WAYS = (send_json, send_multipart, send_batch, send_lines, send_file)


@pytest.mark.parametrize(
    ("settings", "size"),
    [("sqlite", 3), ("sqlite", 12_000), ("postgresql", 3)],
    indirect=["settings"],
)
def test_a_result_with_whitespace_verifies_whichever_way_it_came(model: Model, size: int) -> None:
    for place, (send, spread) in enumerate(
        (way, spread) for way in WAYS for spread in (indented, windows, old_mac)
    ):
        if size > 3 and spread is not indented:
            continue
        send(model, result(size=size, backtest_id=f"b{place}"), spread)
    found = checked(model)
    assert found.is_whole, found.reason
    assert found.lists > 0
    shown = model.items("/backtests/b0/trades", limit=1)
    assert shown[0]["symbol"] == "A B"
    assert model.first_break() is None


@on_both
def test_what_texts_hold_is_kept_as_it_is(model: Model) -> None:
    trade = {"symbol": "A\nB", "side": "buy", "time": 1, **ODD}
    value = {"time": 1, "value": 2, **ODD}
    send_json(model, result(trades=[trade], account_values=[value]), windows)
    assert checked(model).is_whole
    (shown,) = model.items("/backtests/b1/trades")
    assert {key: shown[key] for key in trade} == trade


@on_both
def test_results_that_were_stored_with_whitespace_verify_too(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_format, "compacted", lambda content: content)
    send_json(model, result(), windows)
    send_multipart(model, result(backtest_id="b2"), indented)
    monkeypatch.undo()
    found = checked(model)
    assert found.is_whole, found.reason
    assert found.lists == 5
    assert model.first_break() is None
    content = model.owner.get(f"/api/models/{model.id}/record").content
    forged = content.replace(b'"symbol":"A B"', b'"symbol":"C D"')
    assert forged != content
    told = checking.check(io.BytesIO(forged))
    assert told.reason == "The list trades shows something else than what was signed."
    for bad in (b'"sealed":"%%"', b'"sealed":"e30h"', b'"sealed":"e30="'):
        lines = [line.replace(b'"sealed":"', bad + b',"x":"', 1) for line in io.BytesIO(content)]
        assert not checking.check(lines).is_whole


@st.composite
def spread(draw: st.DrawFn) -> tuple[dict[str, Any], bytes]:
    """A result, and the same with whitespace wherever JSON allows any."""
    text = st.text(max_size=5)
    more = st.dictionaries(text, st.none() | st.floats(allow_nan=False) | text, max_size=2)
    trades = [
        {**draw(more), "symbol": "A", "side": "buy", "time": n}
        for n in range(draw(st.integers(0, 3)))
    ]
    values = [{"time": n, "value": n} for n in range(draw(st.integers(0, 3)))]
    body = result(trades=trades, account_values=values)
    blank = st.text(BLANKS, max_size=3)
    parts: list[str] = []
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(body):
        mark = piece.strip()
        parts.append(mark if mark.startswith('"') else piece)
        if piece[:1] in "[{,:]}":
            parts.append(draw(blank))
    return body, "".join(parts).encode("utf-8", "surrogatepass")


@given(spread())
@settings(max_examples=some(100), deadline=None)
def test_pieces_are_the_same_whatever_whitespace_they_came_with(
    made: tuple[dict[str, Any], bytes],
) -> None:
    body, content = made
    plainly = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    kept = [
        preparing.prepare_here(some, {}, {}, lenient=False, max_depth=32)
        for some in (plainly, content)
    ]
    assert kept[0] == kept[1]
    for piece in kept[1][1]:
        if piece.list in LISTS:
            assert not set(plain(piece.list, piece.content)) & set(b"\n\r\t")


def test_a_trade_that_could_not_be_read_back_is_refused(model: Model) -> None:
    trade = b'{"symbol":"A","side":"buy","time":1,"note":%s}'
    for note in (b"1e999", b'"\xff"', b'"a\nb"'):
        content = json.dumps(result(trades=["TRADE"])).encode().replace(b'"TRADE"', trade % note)
        shape = model.refused(PATH, content=content, headers={"Content-Type": JSON})
        assert "JSON" in shape["error"]
    assert model.size() == 0
