"""Splits a date text into the words, numbers and signs that JavaScript's Date.parse() sees."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal[
    "number", "month", "zone", "half", "t", "word", "+", "-", ":", ".", ")", "space", "other", "end"
]

# What separates words for V8: JavaScript's white space, but of its line ends only these two.
WHITE_SPACE = "\t\n\v\f\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
WHITE_SPACE += "\u202f\u205f\u3000\ufeff"

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = {"ut": 0, "utc": 0, "z": 0, "gmt": 0}
_ZONES |= {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_HALVES = {"am": 0, "pm": 12}

# A word is everything from "A" upwards, so brackets, "_", "~" and all of Unicode count as letters.
_TOKEN = re.compile(
    rf"(?P<number>[0-9]+)|(?P<word>[^\0-@{WHITE_SPACE}]+)|(?P<space>[{WHITE_SPACE}])"
    r"|(?P<symbol>[-+:.)])|(?P<comment>\()|(?P<other>.)",
    re.DOTALL,
)
_PARENTHESIS = re.compile("[()]")
# V8 reads this many digits after leading zeros; further ones are dropped, not rounded.
SIGNIFICANT_DIGITS = 9


class Token(NamedTuple):
    kind: Kind
    value: int = 0
    length: int = 1

    def is_number_of(self, digits: int) -> bool:
        return self.kind == "number" and self.length == digits

    @property
    def is_sign(self) -> bool:
        return self.kind in {"+", "-"}

    @property
    def is_z(self) -> bool:
        return self.kind == "zone" and self.length == 1


END = Token("end", length=0)
_SPACE, _OTHER = Token("space"), Token("other")
_SYMBOLS = {"+": Token("+"), "-": Token("-"), ":": Token(":"), ".": Token("."), ")": Token(")")}


class Tokens:
    """The tokens of a text, with one to look ahead at."""

    def __init__(self, text: str) -> None:
        # V8 takes a NUL for the end of the text.
        self._rest = _scan(text.partition("\0")[0])
        self.ahead = next(self._rest, END)

    def take(self) -> Token:
        token = self.ahead
        self.ahead = next(self._rest, END)
        return token

    def skip(self, kind: Kind) -> bool:
        found = self.ahead.kind == kind
        if found:
            self.take()
        return found


def _scan(text: str) -> Iterator[Token]:
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        found = match.group()
        if match.lastgroup == "number":
            yield Token("number", int(found.lstrip("0")[:SIGNIFICANT_DIGITS] or 0), len(found))
        elif match.lastgroup == "word":
            yield _word(found)
        elif match.lastgroup == "symbol":
            yield _SYMBOLS[found]
        elif match.lastgroup == "space":
            yield _SPACE
        else:
            if match.lastgroup == "comment":
                at = _end_of_comment(text, match.start())
            yield _OTHER


def _word(found: str) -> Token:
    length = len(found)
    # Only ASCII letters have a small form here: the Kelvin sign is not a "k".
    start = found[:3].lower() if found[:3].isascii() else found[:3]
    if start in _MONTHS:
        return Token("month", _MONTHS.index(start) + 1, length)
    if length <= 3:
        if start in _ZONES:
            return Token("zone", _ZONES[start], length)
        if start in _HALVES:
            return Token("half", _HALVES[start], length)
        if start == "t":
            return Token("t")
    return Token("word", length=length)


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for mark in _PARENTHESIS.finditer(text, start):
        depth += 1 if mark.group() == "(" else -1
        if depth == 0:
            return mark.end()
    return len(text)
