"""What a search finds is what readers see, however a program wrote it."""

import msgspec
from hypothesis import given
from hypothesis import strategies as some

from tapeline import terminal_text
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import pack
from tapeline.tape.reading.line_search import search

PIECES = [
    "a", "b", "ab", " ", "é", "\\", '"', "\\u001b[0m", "\x1b[31m", "\x1b[0m", "\x1b[K",
    "\x1b]0;a\x07", "\x1b", "\r", "\b", "\n", "\x00", "\x0c", "\x7f", "\x85", "\x9b", "[0m", "m",
]  # fmt: skip
texts = some.lists(some.sampled_from(PIECES), max_size=10).map("".join)
sought = some.text('abé \\"[0m', min_size=1, max_size=4)


def record(line: str) -> StoredEvent:
    body = msgspec.json.encode({"line": line, "type": "stdout"})
    return StoredEvent(seq=1, kind=1, time=1.5, received_at=2.5, body=body)


@given(line=texts, text=sought)
def test_no_line_that_shows_a_text_is_passed_over(line: str, text: str) -> None:
    asked = search(None, text)
    shows = text in terminal_text.plain(line)
    assert asked["wanted"](record(line)) == shows
    assert asked["may_have"](pack([record("x"), record(line)])) >= shows


@given(text=texts)
def test_a_plain_text_is_that_of_the_coloured_lines(text: str) -> None:
    lines = terminal_text.lines(text)
    assert terminal_text.plain(text) == "\n".join(
        "".join(span.text for span in line) for line in lines
    )


def test_pages_without_the_text_are_not_read() -> None:
    page = pack([record("\x1b[31mred\x1b[0m line"), record("plain \x7f line")])
    assert search(None, "red line")["may_have"](page)
    assert not search(None, "blue")["may_have"](page)
    assert not search("stderr", "red line")["may_have"](page)
