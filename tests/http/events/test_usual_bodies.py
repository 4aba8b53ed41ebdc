"""The quick way of reading a body makes of it what the careful way makes, or leaves it to that."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.errors import Problem
from tapeline.http.events.bodies import Moment, decoded_object, event
from tapeline.http.events.usual_bodies import usual_event
from tapeline.settings import Settings
from tapeline.tape.events.event import Event

LINES = ("/v1/live/log", "/v1/model/log", "/log")
ORDERS = ("/v1/live/spot-market", "/v1/live/spot-limit", "/v1/live/spot-stop")
USUAL = {"id": "7", "symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 1, "price": 2}
SETTINGS = Settings()

names = st.text(max_size=3) | st.sampled_from(["buy", "sell", "BUY", "\0", "x" * 501, "é" * 500])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(10**400)
values = names | numbers | st.none() | st.booleans() | st.just({"a": [1]})
keys = st.sampled_from([*USUAL, "line", "type", "annotation", "funds", "active", "extra"])


def quickly(path: str, content: bytes) -> Event | None:
    return usual_event(path, content, 1.0, 2.0, 3, SETTINGS.max_line)


def carefully(path: str, content: bytes) -> Event:
    body = decoded_object(content, SETTINGS.max_depth)
    return event(path, body, Moment(1.0, 2.0), 3, SETTINGS, lenient=False)


def check(path: str, body: dict[str, Any]) -> Event | None:
    content = msgspec.json.encode(body)
    found = quickly(path, content)
    if found is not None:
        expected = carefully(path, content)
        assert (found.kind, found.body) == (expected.kind, expected.body)
        assert path in LINES or found.fields == expected.fields
    return found


@given(st.sampled_from(ORDERS), st.dictionaries(keys, values), st.sets(keys, max_size=2))
def test_an_order_is_the_same_both_ways(
    path: str, changes: dict[str, Any], dropped: set[str]
) -> None:
    body = {key: value for key, value in {**USUAL, **changes}.items() if key not in dropped}
    check(path, body)


@given(st.sampled_from(LINES), st.dictionaries(keys, values), values)
def test_a_line_is_the_same_both_ways(path: str, more: dict[str, Any], line: Any) -> None:
    check(path, {"line": line})
    check(path, {**more, "line": line})


def test_the_usual_takes_the_quick_way() -> None:
    market = {key: value for key, value in USUAL.items() if key != "price"}
    assert check("/v1/live/spot-limit", USUAL)
    assert check("/v1/model/spot-market", market)
    assert check("/v1/live/log", {"line": "hello"})
    assert check("/v1/live/log", {"line": "hello", "type": None})


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 100_000, b'{"id":"a\\u0000b"}']
)
@pytest.mark.parametrize("path", [*LINES, *ORDERS])
def test_what_is_broken_is_left_to_the_careful_way(path: str, content: bytes) -> None:
    assert quickly(path, content) is None
    with pytest.raises(Problem):
        carefully(path, content)
