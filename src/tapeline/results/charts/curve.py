"""Profit and loss over time, one curve per currency: how its book stood before every entry and
after it, in money and in what is held.

The change alone would be rounded, and one entry with a wrong price, in another unit, would make
all that follows wrong. What a book stands at is rounded too, but the next entry begins with it.

A curve is kept in segments of about a thousand entries. Changing an entry rewrites one segment; a
chart of a million entries reads a sketch of each segment instead of all its points.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, select, tuple_

from tapeline.store.tables.ledger import curves

SEGMENT = 1_024  # entries; twice as many are split
DETAIL = 64  # entries of which a sketch keeps the lowest and the highest
BEGINNING = (-1e308, 0)  # where the first segment starts, whatever comes before its first entry
MOST = 1e300  # larger values could not be added up

Key = tuple[float, int]
Column: TypeAlias = "array[float]"
Value = tuple[float, float]
"""In two parts: the second has what is too small for the first."""


COLUMNS = 7  # of a segment: times, ties, books, and steps
POINT = 3  # numbers of a point in a sketch: its time and its value


class Step(NamedTuple):
    """What an entry did to its book."""

    before: float
    """Profit and loss."""
    after: float
    held_before: float
    """The signed value of what is held."""
    held_after: float

    @property
    def is_move(self) -> bool:
        return self.before != self.after or self.held_before != self.held_after


class Change(NamedTuple):
    """What an entry did; None when it is gone."""

    key: Key
    book: int
    step: Step | None


class Segment:
    """Columns of numbers as they are stored: most of them are never looked at."""

    def __init__(self, start: Key, columns: Sequence[Column] | None = None) -> None:
        self.start = start
        self.columns = columns or [array("d") for _ in range(COLUMNS)]

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def last(self) -> Key:
        return self.columns[0][-1], int(self.columns[1][-1])

    def row(self, tape: int, currency: str) -> tuple[Any, ...]:
        content = b"".join(column.tobytes() for column in self.columns)
        return (tape, currency, *self.start, content)

    def sketch(self, tape: int, currency: str) -> tuple[Any, ...]:
        times, _, _, befores, afters, *_ = self.columns
        values = list(_running(befores, afters))
        sketch = _sketch(times, values)
        return (tape, currency, *self.start, len(self), *values[-1], sketch)

    def change(self, one: Change) -> bool:
        """Whether it made a difference."""
        at, is_known = self._place(one.key)
        if one.step is None:
            # An order that moved from one book to another keeps its key: it may be there already.
            gone = is_known and self.columns[2][at] == one.book
            if gone:
                for column in self.columns:
                    del column[at]
            return gone
        new = (*one.key, one.book, *one.step)
        if is_known:
            if all(column[at] == number for column, number in zip(self.columns, new, strict=True)):
                return False
            for column, number in zip(self.columns, new, strict=True):
                column[at] = number
            return True
        for column, number in zip(self.columns, new, strict=True):
            column.insert(at, number)
        return True

    def parts(self) -> list["Segment"]:
        """The segment itself, or several if it has grown too long."""
        if len(self) < 2 * SEGMENT:
            return [self]
        cuts = range(0, len(self) - SEGMENT + 1, SEGMENT)
        ends = [*cuts[1:], len(self)]
        found = [
            Segment(self.start, [column[begin:end] for column in self.columns])
            for begin, end in zip(cuts, ends, strict=True)
        ]
        for one in found[1:]:
            one.start = one.columns[0][0], int(one.columns[1][0])
        return found

    def _place(self, key: Key) -> tuple[int, bool]:
        """Where a key belongs, and whether it is there."""
        (time, tie), (times, ties, *_) = key, self.columns
        first = bisect_left(times, time)
        if first == len(times) or times[first] != time:
            return first, False
        after = bisect_right(times, time, first)
        at = bisect_left(ties, tie, first, after)
        return at, at < after and ties[at] == tie


class Rewriting(NamedTuple):
    """The rows to write and delete for a change of a curve."""

    rows: list[tuple[Any, ...]]
    sketches: list[tuple[Any, ...]]
    gone: list[tuple[int, str, float, int]]


def rewriting(
    connection: Connection, tape: int, currency: str, changes: Iterable[Change]
) -> Rewriting:
    found = Rewriting([], [], [])
    waiting = sorted(changes, key=lambda one: one.key)
    at = 0
    while at < len(waiting):
        segment, end = _holding(connection, tape, currency, waiting[at].key)
        there, changed = bool(len(segment)), False
        while at < len(waiting) and (end is None or waiting[at].key < end):
            changed = segment.change(waiting[at]) or changed
            at += 1
        if not changed:
            continue
        if len(segment):
            parts = segment.parts()
            found.rows.extend(part.row(tape, currency) for part in parts)
            found.sketches.extend(part.sketch(tape, currency) for part in parts)
        elif there:
            found.gone.append((tape, currency, *segment.start))
    return found


def _holding(
    connection: Connection, tape: int, currency: str, key: Key
) -> tuple[Segment, Key | None]:
    """The segment in which a key belongs, and where the next one begins."""
    here = [curves.c.tape == tape, curves.c.currency == currency]
    start = tuple_(curves.c.time, curves.c.tie)
    row = connection.execute(
        select(curves.c.time, curves.c.tie, curves.c.content)
        .where(*here, start <= key)
        .order_by(curves.c.time.desc(), curves.c.tie.desc())
        .limit(1)
    ).first()
    following = connection.execute(
        select(curves.c.time, curves.c.tie)
        .where(*here, start > key)
        .order_by(curves.c.time, curves.c.tie)
        .limit(1)
    ).first()
    end = None if following is None else (following.time, following.tie)
    if row is None:
        return Segment(BEGINNING), end
    found = _segment((row.time, row.tie), row.content)
    if end is None and len(found) >= SEGMENT and key > found.last:
        return Segment(key), None  # in order: a full segment never changes again
    return found, end


def _segment(start: Key, content: bytes) -> Segment:
    numbers = array("d", content)
    count = len(numbers) // COLUMNS
    return Segment(start, [numbers[n * count : (n + 1) * count] for n in range(COLUMNS)])


def _running(befores: Column, afters: Column) -> Iterator[Value]:
    """The value after each entry, from a start at zero: `running.py` without numpy, which a
    bookkeeper does not need for anything else."""
    high = low = 0.0
    for before, after in zip(befores, afters, strict=True):
        change = after - before
        part = change - after
        low += (after - (change - part)) - (before + part)
        total = high + change
        part = total - high
        low += (high - (total - part)) + (change - part)
        high = total
        yield high, low


def _sketch(times: Column, values: list[Value]) -> bytes:
    """The lowest and highest points and the last, each a time and a value."""
    # The last value of each moment: simultaneous entries make one point.
    points = dict(zip(times, values, strict=True))
    moments, values = list(points), list(points.values())
    rounded = [sum(value) for value in values]
    kept = array("d")
    for begin in range(0, len(values), DETAIL):
        some = rounded[begin : begin + DETAIL]
        for at in sorted({some.index(min(some)), some.index(max(some))}):
            kept.extend((moments[begin + at], *values[begin + at]))
    if kept and kept[-POINT] != moments[-1]:
        kept.extend((moments[-1], *values[-1]))
    return kept.tobytes()
