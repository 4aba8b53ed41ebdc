"""What the bytes of JSON say about its depth and about NUL is what a walk over it says."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tapeline import nesting

TEXTS = some.text(alphabet='ab[]{}"\\\0u0', max_size=6)
VALUES = some.recursive(
    TEXTS | some.none() | some.integers(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def texts(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(map(texts, [*value, *value.values()]))
    return "".join(map(texts, value)) if isinstance(value, list) else str(value)


@given(VALUES)
def test_bytes_are_as_deep_as_their_values(value: Any) -> None:
    content = msgspec.json.encode(value)
    for most in range(1, 8):
        assert nesting.is_deeper(content, most) == (depth(value) > most)


@given(VALUES)
def test_an_escaped_nul_is_found_and_an_escaped_backslash_is_none(value: Any) -> None:
    assert nesting.has_nul(msgspec.json.encode(value)) == ("\0" in texts(value))


@pytest.mark.parametrize("text", [b"[", b"]", b'\\"[', b"\\\\", b'\\\\\\"]]', b"", b'{\\"'])
def test_brackets_in_texts_do_not_count(text: bytes) -> None:
    content = b'[["%s",["%s"]]]' % (text, text)
    assert not nesting.is_deeper(content, 3)
    assert nesting.is_deeper(content, 2)
