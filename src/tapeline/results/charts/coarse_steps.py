"""All steps of a curve, read for arithmetic at the price of its sketches.

A long curve is a row of segments, each with a sketch: its extremes and where it ends. Only segments
with a moment that matters to the reader (a flow, the beginning of a day) are read entry by entry.
Peaks, lows and the value at these moments are exact; what lies between extremes is left out.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select, tuple_

from tapeline.results.charts.curve import COLUMNS, POINT
from tapeline.store.portions import batches
from tapeline.store.tables.ledger import curves, sketches

if TYPE_CHECKING:
    from tapeline.results.charts.chart_window import Numbers

TOGETHER = 100  # segments in one statement
MOST_CLOSELY = 500  # segments that are read entry by entry; more moments than that are rare


def steps_around(
    connection: Connection, tape: int, currencies: Sequence[str], moments: Iterable[float]
) -> "Numbers":
    """Rows as `every_step` has them. Those of a sketch belong to no book and change no value held:
    zero stands there. Each of its points is two of them, one for each part of its value."""
    import numpy as np  # noqa: PLC0415 - start-up stays light

    wanted = sorted(set(moments))
    pieces = [
        piece
        for currency in currencies
        for piece in _pieces(connection, tape, currency, wanted)
        if piece.shape[1]
    ]
    if not pieces:
        return np.empty((COLUMNS, 0))
    steps = np.concatenate(pieces, axis=1)
    return steps if len(currencies) < 2 else steps[:, np.lexsort((steps[1], steps[0]))]


def _pieces(
    connection: Connection, tape: int, currency: str, moments: Sequence[float]
) -> "list[Numbers]":
    import numpy as np  # noqa: PLC0415

    here = (sketches.c.tape == tape, sketches.c.currency == currency)
    columns = (sketches.c.time, sketches.c.tie, sketches.c.sketch)
    in_order = select(*columns).where(*here).order_by(sketches.c.time, sketches.c.tie)
    rows = connection.execute(in_order).all()
    exactly = _closely(connection, tape, currency, [rows[at] for at in _with(rows, moments)])
    found = []
    for row in rows:
        content = exactly.get((row.time, row.tie))
        if content is not None:
            found.append(np.frombuffer(content).reshape(COLUMNS, -1))
            continue
        points = np.frombuffer(row.sketch).reshape(-1, POINT)
        steps = np.zeros((COLUMNS, 2 * len(points)))
        steps[0], steps[4] = np.repeat(points[:, 0], 2), points[:, 1:].ravel()
        steps[3, 2:] = steps[4, :-2]
        found.append(steps)
    return found


def _with(rows: Sequence[Any], moments: Sequence[float]) -> list[int]:
    """The segments in which these moments are, the newest first if there are too many. Entries of
    one moment may be in two segments: it ends in the last that begins no later."""
    begins = [row.time for row in rows]
    found = {bisect_right(begins, moment) - 1 for moment in moments} - {-1}
    return sorted(found, reverse=True)[:MOST_CLOSELY]


def _closely(
    connection: Connection, tape: int, currency: str, rows: Sequence[Any]
) -> dict[tuple[float, int], bytes]:
    start = tuple_(curves.c.time, curves.c.tie)
    here = (curves.c.tape == tape, curves.c.currency == currency)
    found = {}
    for some in batches([(row.time, row.tie) for row in rows], TOGETHER):
        query = select(curves.c.time, curves.c.tie, curves.c.content)
        for row in connection.execute(query.where(*here, start.in_(some))):
            found[(row.time, row.tie)] = row.content
    return found
