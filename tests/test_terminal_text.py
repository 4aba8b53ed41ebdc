"""Shared pages and commands show a program's output as the owner's pages do."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline import terminal_text

EXAMPLES = Path(__file__).parents[1] / "web" / "src" / "format" / "terminal.examples.json"


@pytest.mark.parametrize("example", msgspec.json.decode(EXAMPLES.read_bytes()))
def test_output_is_shown_as_a_terminal_would(example: list[Any]) -> None:
    text, lines = example
    assert [[list(span) for span in line] for line in terminal_text.lines(text)] == lines


def test_a_command_shows_it_without_colours() -> None:
    assert terminal_text.plain("\x1b[31mcolumns\x1b[0m\n1 2 3\n10%\r20%") == "columns\n1 2 3\n20%"


LONG = 100_000
HOSTILE = {
    "erases": "x" * LONG + "\x1b[1K" * LONG,
    "erases and writes": "x" * LONG + "\x1b[1Ky" * LONG,
    "cuts": "x" * LONG + "\x1b[K" * LONG,
    "goes back": "x" * LONG + "\x1b[2K\ry" * LONG,
    "names colours": "\b\x1b[" + "38;" * LONG + "mx",
    "has a long number": "\b\x1b[" + "9" * LONG + "mx",
    "has one look": "\b" + "x" * LONG,
}


@pytest.mark.heavy
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nobody_makes_a_line_that_takes_for_ever(text: str) -> None:
    """With the square of its length in work, each of them but one would take many minutes."""
    shown = terminal_text.plain(text)
    spans = terminal_text.lines(text)
    assert ["".join(span.text for span in line) for line in spans] == [shown]
