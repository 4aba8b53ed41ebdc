"""Forms are read as the standard library reads them."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tapeline.http.wire.forms import fields_of

PARTS = ["%", "%%", "%4", "%41", "%zz", "%00", "%C3%A9", "%C3", "é", "a", "4", "&", "=", "+", "\\"]


def by_the_library(content: bytes) -> list[tuple[str, str]] | None:
    try:
        return parse_qsl(content.decode(), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        return None


def ours(content: bytes) -> list[tuple[str, str]] | None:
    try:
        return fields_of(content, 1_000)
    except UnicodeDecodeError:
        return None


@given(some.lists(some.sampled_from(PARTS) | some.text(max_size=2), max_size=12))
def test_every_form_has_the_fields_that_the_library_finds(parts: list[str]) -> None:
    content = "".join(parts).encode()
    assert ours(content) == by_the_library(content)


@given(some.binary(max_size=12))
def test_bytes_of_no_text_are_refused_by_both(content: bytes) -> None:
    assert ours(content) == by_the_library(content)


def test_a_form_has_so_many_fields_and_no_more() -> None:
    assert len(fields_of(b"a=1&" * 9, 10)) == 9
    with pytest.raises(ValueError, match="more than 10 fields"):
        fields_of(b"a=1&" * 10, 10)
    with pytest.raises(ValueError, match="Max number of fields exceeded"):
        parse_qsl("a=1&" * 10, max_num_fields=10)
