"""Arguments of a backtest are read as JSON or as a Python literal, never run, within bounds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.errors import Invalid
from tapeline.models import arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0")), some, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(codec="ascii", exclude_characters="\0")), JSON))
def test_what_python_prints_is_read_back(value: dict[str, Any]) -> None:
    assert arguments.read(repr(value)) == value


@given(st.text(max_size=200))
def test_any_other_text_is_refused_with_the_field(text: str) -> None:
    try:
        assert isinstance(arguments.read(text), dict)
    except Invalid as refused:
        assert refused.field == "backtestArgs"  # noqa: PT017 - either is right


@pytest.mark.parametrize(
    "text",
    ["-" * 9_000 + "1", "not " * 2_000 + "1", "(" * 9_000, "{'a': " * 1_500,
     "{'a': 1}" + " " * 10_000,
     "{'a': " + "9" * 5_000 + "}", "x" * 100_001, "__import__('os')", "{'a': 'b' * 9}", "{**{}}",
     "{'a': '\\ud800'}", "{'a': nan}", '{"a": 1e999}', "f'{1}'", "{'a': 1j}"],
)  # fmt: skip
def test_what_would_hurt_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        arguments.read(text)
