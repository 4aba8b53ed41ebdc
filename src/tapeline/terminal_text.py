"""The lines that a terminal would show of a text: colours as names, overwritten progress bars gone,
other control sequences left out. `web/src/format/terminal.ts` does the same in a browser; one list
of examples holds the two together."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

# In the order of the codes; the bits of an index are red, green and blue.
COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_CODES = r"\x1b\[([0-9;:]*)([ -/]*[@-~])|\x1b\[[0-?]*[ -/]*[@-~]?"
_COMMANDS = r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"
_OTHERS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\n"
_PIECE = re.compile(rf"{_CODES}|{_COMMANDS}|{_OTHERS}|[^\x00-\x08\n-\x1f\x7f-\x9f]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_END = re.compile(r"\r?\n\Z")


class Span(NamedTuple):
    text: str
    look: str  # words of `ansi-…` classes, such as "red bold"; empty for plain text


class _Style(NamedTuple):
    colour: str = ""
    bold: bool = False
    faint: bool = False

    @property
    def look(self) -> str:
        words = (self.colour, "bold" if self.bold else "", "faint" if self.faint else "")
        return " ".join(filter(None, words))


_BLANK = Span(" ", "")
_CHANGES: dict[int, dict[str, Any]] = {
    0: {"colour": "", "bold": False, "faint": False},
    1: {"bold": True},
    2: {"faint": True},
    22: {"bold": False, "faint": False},
    39: {"colour": ""},
    90: {"colour": "grey"},
}


def lines(text: str) -> list[list[Span]]:
    ended = _END.sub("", text)
    if not _CONTROL.search(ended):
        return [[Span(line, "")] if line else [] for line in ended.split("\n")]
    return [_joined(line) for line in _drawn(ended, _Screen())]


def plain(text: str) -> str:
    """Without colours; lines are kept. It decides what searches and rules find in a line, so what
    has only colours, as most lines have, is not drawn character by character."""
    ended = _END.sub("", text)
    bare = _COLOUR.sub("", ended)
    if not _CONTROL.search(bare):
        return bare
    return "\n".join(map("".join, _drawn(ended, _PlainScreen())))


def _drawn(text: str, screen: "_Screen") -> list[list[Any]]:
    """A cell for each character."""
    for found in _PIECE.finditer(text):
        screen.take(found[0], found[1] or "", found[2])
    return [[screen.blank] * line.start + line.cells for line in screen.lines]


class _Line:
    """Its first cells are blank, and only counted: whoever erases and writes again and again costs
    no more than the text is long."""

    __slots__ = ("cells", "start")

    def __init__(self) -> None:
        self.start = 0
        self.cells: list[Any] = []

    def put(self, column: int, cells: Sequence[Any], blank: Any) -> None:
        if not self.cells:
            self.start = column
        elif column < self.start:
            self.cells[:0] = [blank] * (self.start - column)
            self.start = column
        at = column - self.start
        self.cells[at : at + len(cells)] = cells

    def cut(self, column: int) -> None:
        """Erase the rest."""
        del self.cells[max(0, column - self.start) :]
        self.start = min(self.start, column)

    def clear(self) -> None:
        self.start, self.cells = 0, []


class _Screen:
    """Its cells are spans of one character."""

    blank: Any = _BLANK

    def __init__(self) -> None:
        self.lines = [_Line()]
        self.style, self.column = _Style(), 0

    def take(self, piece: str, codes: str, command: str | None) -> None:
        if command == "m":
            self._dress(codes)
        elif command == "K":
            self._erase(codes)
        elif piece == "\n":
            self.lines.append(_Line())
            self.column = 0
        elif piece == "\r":
            self.column = 0
        elif piece == "\b":
            self.column = max(0, self.column - 1)
        elif not _CONTROL.search(piece):
            self._write(piece)

    def _write(self, text: str) -> None:
        self.lines[-1].put(self.column, self._cells(text), self.blank)
        self.column += len(text)

    def _cells(self, text: str) -> Sequence[Any]:
        look = self.style.look
        return [Span(one, look) for one in text]

    def _dress(self, codes: str) -> None:
        self.style = _styled(self.style, codes)

    def _erase(self, codes: str) -> None:
        if codes in {"", "0"}:
            self.lines[-1].cut(self.column)
        else:
            self.lines[-1].clear()


class _PlainScreen(_Screen):
    """Its cells are characters, which takes a fraction of the time."""

    blank = " "

    def _cells(self, text: str) -> Sequence[Any]:
        return text

    def _dress(self, codes: str) -> None:
        """Characters have no colour."""


def _styled(style: _Style, codes: str) -> _Style:
    # Python refuses to read a number of thousands of digits; none of the codes has so many.
    numbers = [int(one or 0) if len(one) < 10 else -1 for one in re.split("[;:]", codes)]
    at = 0
    while at < len(numbers):
        code = numbers[at]
        if code in {38, 48}:
            colour, taken = _extended(numbers[at + 1 : at + 5])
            style = style._replace(colour=colour) if code == 38 else style
            at += taken
        else:
            style = _changed(style, code)
        at += 1
    return style


def _changed(style: _Style, code: int) -> _Style:
    if 30 <= code <= 37 or 91 <= code <= 97:
        return style._replace(colour=COLOURS[code % 10])
    return style._replace(**_CHANGES.get(code, {}))


def _extended(numbers: list[int]) -> tuple[str, int]:
    """A colour of 256 or of 16 million as the nearest of eight, and how many numbers named it."""
    kind, first, green, blue = [*numbers, 0, 0, 0, 0][:4]
    if kind == 2:
        return _nearest(first, green, blue), 4
    return (_indexed(first), 2) if kind == 5 else ("", 0)


def _indexed(index: int) -> str:
    if index >= 232 or index == 8:
        return "white" if index >= 250 else "grey"
    if index < 16:
        return COLOURS[index % 8]
    return _nearest(*((index - 16) // step % 6 * 51 for step in (36, 6, 1)))


def _nearest(red: int, green: int, blue: int) -> str:
    half = max(red, green, blue) / 2
    return COLOURS[(red > half) + 2 * (green > half) + 4 * (blue > half)]


def _joined(cells: list[Span]) -> list[Span]:
    """Neighbours that look alike as one."""
    alike = groupby(cells, key=lambda cell: cell.look)
    return [Span("".join(cell.text for cell in some), look) for look, some in alike]
