"""Profit and loss over time, one curve per currency: what every entry gained, in its place, and by
how much it changed the value that is held.

A curve is kept in segments of about a thousand entries. Changing an entry rewrites one segment; a
chart of a million entries reads a sketch of each segment instead of all its points.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, chain, groupby
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select, tuple_

from tapeline.store.tables.ledger import curves

SEGMENT = 1_024  # entries; twice as many are split
DETAIL = 64  # entries of which a sketch keeps the lowest and the highest
BEGINNING = (-1e308, 0)  # where the first segment starts, whatever comes before its first entry
MOST = 1e300  # larger values could not be added up

Key = tuple[float, int]


COLUMNS = 6  # of a segment: times, ties, books, gains, changes of the net and of the gross value


class Step(NamedTuple):
    """What an entry did to its book."""

    gain: float
    net: float = 0.0
    """By how much the signed value of what is held changed."""
    gross: float = 0.0
    """The same without the sign."""


class Change(NamedTuple):
    """What an entry did; None when it is gone."""

    key: Key
    book: int
    step: Step | None


class Segment(msgspec.Struct):
    start: Key
    keys: list[Key]
    books: list[int]
    gains: list[float]
    nets: list[float]
    grosses: list[float]

    def row(self, tape: int, currency: str) -> tuple[Any, ...]:
        content = array("d", [key[0] for key in self.keys])
        content.extend(float(key[1]) for key in self.keys)
        content.extend(map(float, self.books))
        for column in (self.gains, self.nets, self.grosses):
            content.extend(column)
        return (
            tape, currency, *self.start, content.tobytes(),
        )  # fmt: skip

    def sketch(self, tape: int, currency: str) -> tuple[Any, ...]:
        total = math.fsum(self.gains)
        return (tape, currency, *self.start, len(self.keys), total, _sketch(self))

    def change(self, one: Change) -> bool:
        """Whether it made a difference."""
        at = bisect_left(self.keys, one.key)
        known = at < len(self.keys) and self.keys[at] == one.key
        if one.step is None:
            # An order that moved from one book to another keeps its key: it may be there already.
            gone = known and self.books[at] == one.book
            if gone:
                del self.keys[at], self.books[at]
                del self.gains[at], self.nets[at], self.grosses[at]
            return gone
        step = Step(*(max(-MOST, min(MOST, number)) for number in one.step))
        if known:
            there = (self.books[at], self.gains[at], self.nets[at], self.grosses[at])
            if there == (one.book, *step):
                return False
            self.books[at] = one.book
            self.gains[at], self.nets[at], self.grosses[at] = step
            return True
        self.keys.insert(at, one.key)
        self.books.insert(at, one.book)
        self.gains.insert(at, step.gain)
        self.nets.insert(at, step.net)
        self.grosses.insert(at, step.gross)
        return True

    def parts(self) -> list["Segment"]:
        """The segment itself, or several if it has grown too long."""
        if len(self.keys) < 2 * SEGMENT:
            return [self]
        cuts = range(0, len(self.keys) - SEGMENT + 1, SEGMENT)
        ends = [*cuts[1:], len(self.keys)]
        return [
            Segment(
                self.start if begin == 0 else self.keys[begin],
                self.keys[begin:end],
                self.books[begin:end],
                self.gains[begin:end],
                self.nets[begin:end],
                self.grosses[begin:end],
            )
            for begin, end in zip(cuts, ends, strict=True)
        ]


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
        there, changed = bool(segment.keys), False
        while at < len(waiting) and (end is None or waiting[at].key < end):
            changed = segment.change(waiting[at]) or changed
            at += 1
        if not changed:
            continue
        if segment.keys:
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
        return Segment(BEGINNING, [], [], [], [], []), end
    found = _segment((row.time, row.tie), row.content)
    if end is None and len(found.keys) >= SEGMENT and key > found.keys[-1]:
        return Segment(
            key, [], [], [], [], []
        ), None  # in order: a full segment never changes again
    return found, end


def _segment(start: Key, content: bytes) -> Segment:
    numbers = array("d", content)
    count = len(numbers) // COLUMNS
    times, ties = numbers[:count], numbers[count : 2 * count]
    return Segment(
        start,
        [(time, int(tie)) for time, tie in zip(times, ties, strict=True)],
        [int(book) for book in numbers[2 * count : 3 * count]],
        *(list(numbers[n * count : (n + 1) * count]) for n in (3, 4, 5)),
    )


def _sketch(segment: Segment) -> bytes:
    """The lowest and highest points and the last, each a time and a value from a start at zero."""
    points = _at_their_times(zip(segment.keys, accumulate(segment.gains), strict=True))
    kept: list[tuple[float, float]] = []
    for begin in range(0, len(points), DETAIL):
        some = points[begin : begin + DETAIL]
        low = min(range(len(some)), key=lambda at: some[at][1])
        high = max(range(len(some)), key=lambda at: some[at][1])
        kept.extend(some[at] for at in sorted({low, high}))
    if points and kept[-1] != points[-1]:
        kept.append(points[-1])
    return array("d", chain.from_iterable(kept)).tobytes()


def _at_their_times(values: Iterable[tuple[Key, float]]) -> list[tuple[float, float]]:
    """The last value of each moment: simultaneous entries make one point."""
    return [(time, list(some)[-1][1]) for time, some in groupby(values, key=lambda one: one[0][0])]
