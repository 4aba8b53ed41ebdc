"""Lines of a log as entries: a traceback is one entry, whether it came as one event or as one event
a line. `web/src/features/logs/entries.ts` does the same for the owner's pages."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tapeline import terminal_text
from tapeline.sharing.exhibits.answers import SharedLine
from tapeline.terminal_text import Span

TRACEBACK = "Traceback (most recent call last):"
CHAINED = re.compile(
    "During handling of the above exception|The above exception was the direct cause"
)
FRAME = re.compile(r"\s+\S")
LINES, CHARACTERS = 5, 1_000  # that a closed entry shows at most


class Entry(NamedTuple):
    seq: int
    time: float
    type: str
    brief: list[list[Span]]
    whole: list[list[Span]]  # empty if the brief is all of it
    rest: str  # names what opening it adds, such as "12 lines"


def entries(lines: Sequence[SharedLine]) -> list[Entry]:
    found, at = [], 0
    while at < len(lines):
        end = _end_of_traceback(lines, at) if lines[at].line.startswith(TRACEBACK) else at + 1
        first, text = lines[at], "\n".join(one.line for one in lines[at:end])
        found.append(Entry(first.seq, first.time, first.type, *_parts(text)))
        at = end
    return found


def _parts(text: str) -> tuple[list[list[Span]], list[list[Span]], str]:
    """The last line of a traceback, which says what went wrong; the beginning of anything else."""
    lines = terminal_text.lines(text)
    if len(lines) > 1 and TRACEBACK in text:
        last = next((line for line in reversed(lines) if _text(line).strip()), [])
        return _clipped([last]), lines, f"{len(lines):,} lines"
    if len(lines) > LINES:
        return _clipped(lines[: LINES - 1]), lines, f"{len(lines):,} lines"
    shown, size = _clipped(lines), sum(len(_text(line)) for line in lines)
    return (shown, [], "") if shown == lines else (shown, lines, f"{size:,} characters")


def _end_of_traceback(lines: Sequence[SharedLine], start: int) -> int:
    """Frames are indented; the first line that is not is the exception. Another may follow."""

    def text(at: int) -> str | None:
        is_same = at < len(lines) and lines[at].type == lines[start].type
        return lines[at].line if is_same else None

    at = start + 1
    if "\n" in lines[start].line:
        return at
    while FRAME.match(text(at) or ""):
        at += 1
    following = text(at)
    at += following is not None and not following.startswith(TRACEBACK)
    if text(at) == "" and CHAINED.match(text(at + 1) or ""):
        another = at + 3 if text(at + 2) == "" else at + 2
        is_there = (text(another) or "").startswith(TRACEBACK)
        return _end_of_traceback(lines, another) if is_there else another
    return at


def _clipped(lines: list[list[Span]]) -> list[list[Span]]:
    room, clipped = CHARACTERS, []
    for line in lines:
        kept = []
        for span in line:
            if room > 0:
                kept.append(Span(span.text[:room], span.look))
            room -= len(span.text)
        clipped.append(kept)
    return clipped


def _text(line: list[Span]) -> str:
    return "".join(span.text for span in line)
