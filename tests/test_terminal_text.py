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
