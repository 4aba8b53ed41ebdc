"""A body of the usual shape, decoded in one step, makes the event that its kind's reader makes."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapeline.errors import Problem
from tapeline.http.events.bodies import UNLIKE, Moment, decoded_object, event, event_of_json
from tapeline.settings import Settings
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import BY_PATH, KINDS

EXACT = tuple(path for path, kind in BY_PATH.items() if kind.exact)
LINES = ("/v1/live/log", "/v1/model/log", "/log")
ORDERS = tuple({*EXACT, "/v1/live/spot-stop"} - {*LINES})
USUAL = {"id": "7", "symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 1, "price": 2}
SETTINGS, MOMENT, TAPE = Settings(max_line=2_000), Moment(1.0, 2.0), 3

names = st.text(max_size=3) | st.sampled_from(["buy", "sell", "BUY", "\0", "x" * 501, "é" * 500])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(10**400)
values = names | numbers | st.none() | st.booleans() | st.just({"a": [1]})
keys = st.sampled_from(
    [*USUAL, "line", "type", "annotation", "funds", "active", "backtest_id", "extra"]
)
# How quickly bodies are drawn says nothing about them on a busy machine.
on_any_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
lines = values | st.sampled_from(["x" * 1_999, "é" * 1_500, "x" * 2_001])


def quickly(path: str, content: bytes) -> Event | Problem:
    try:
        return event_of_json(path, content, MOMENT, TAPE, SETTINGS)
    except Problem as problem:
        return problem


def carefully(path: str, content: bytes) -> Event | Problem:
    try:
        values = decoded_object(content, SETTINGS.max_depth)
        return event(path, values, MOMENT, TAPE, SETTINGS, lenient=False)
    except Problem as problem:
        return problem


def check(path: str, body: dict[str, Any]) -> None:
    content = msgspec.json.encode(body)
    found, expected = quickly(path, content), carefully(path, content)
    if isinstance(found, Event):
        assert isinstance(expected, Event)
        assert (found.kind, found.body, found.backtest_id) == (
            expected.kind, expected.body, expected.backtest_id,
        )  # fmt: skip
        assert path in LINES or found.fields == expected.fields
    else:
        assert isinstance(expected, Problem)
        assert (found.code(), found.message) == (expected.code(), expected.message)


def is_exact(path: str, body: dict[str, Any]) -> bool:
    decode = BY_PATH[path].exact
    assert decode
    try:
        decode(msgspec.json.encode(body))
    except UNLIKE:
        return False
    return True


@on_any_machine
@given(st.sampled_from(ORDERS), st.dictionaries(keys, values), st.sets(keys, max_size=2))
def test_an_order_is_the_same_both_ways(
    path: str, changes: dict[str, Any], dropped: set[str]
) -> None:
    body = {key: value for key, value in {**USUAL, **changes}.items() if key not in dropped}
    check(path, body)


@on_any_machine
@given(st.sampled_from(LINES), st.dictionaries(keys, values), lines)
def test_a_line_is_the_same_both_ways(path: str, more: dict[str, Any], line: Any) -> None:
    check(path, {"line": line})
    check(path, {**more, "line": line})


@on_any_machine
@given(values, values, st.dictionaries(keys, values, max_size=1))
def test_a_price_is_the_same_both_ways(symbol: Any, price: Any, more: dict[str, Any]) -> None:
    for path in ("/v1/live/mark-price", "/v1/model/mark-price"):
        check(path, {"symbol": symbol, "price": price})
        check(path, {"symbol": "BTC-USD", "price": price, **more})


def test_every_kind_with_an_exact_shape_is_compared() -> None:
    assert {BY_PATH[path] for path in (*LINES, *ORDERS)} >= {one for one in KINDS if one.exact}


def test_the_usual_body_has_the_exact_shape() -> None:
    market = {key: value for key, value in USUAL.items() if key != "price"}
    assert is_exact("/v1/live/spot-limit", USUAL)
    assert is_exact("/v1/model/spot-market", market)
    assert is_exact("/v1/live/mark-price", {"symbol": "BTC-USD", "price": 1})
    assert is_exact("/v1/live/log", {"line": "hello"})
    assert not is_exact("/v1/live/log", {"line": "hello", "backtest_id": "b"})


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 100_000, b'{"id":"a\\u0000b"}']
)
@pytest.mark.parametrize("path", [*LINES, *ORDERS])
def test_a_broken_body_is_refused_in_the_words_of_the_reader(path: str, content: bytes) -> None:
    found, expected = quickly(path, content), carefully(path, content)
    assert isinstance(found, Problem)
    assert isinstance(expected, Problem)
    assert found.message == expected.message
