"""A curve as a chart wants it: a stretch of time, at most so many points, extremes kept.

numpy is imported when the first curve is asked for: start-up stays light.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, func, select, tuple_

from tapeline.results.curve import BEGINNING, STRETCH
from tapeline.store.result_tables import curves
from tapeline.tape.series import Point, sampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Entries per wanted point, and stretches, that are read one by one; of more, the sketches have
# points enough.
CLOSELY = 16


class Window(NamedTuple):
    since: float | None = None
    until: float | None = None


def drawn(
    connection: Connection, tape: int, currencies: Sequence[str], window: Window, points: int
) -> list[Point]:
    """The sum of some curves."""
    lines = [_line(connection, tape, currency, window, points) for currency in currencies]
    return sketched(_sum([line for line in lines if line is not None]), window, points)


def sketched(line: "tuple[Numbers, Numbers] | None", window: Window, points: int) -> list[Point]:
    """The part of a line that a window shows."""
    import numpy as np  # noqa: PLC0415

    if line is None:
        return []
    times, values = line
    shown = np.ones(len(times), dtype=bool)
    shown[:-1] = times[:-1] != times[1:]  # the last value of each moment
    if window.since is not None:
        shown &= times >= window.since
    if window.until is not None:
        shown &= times <= window.until
    if not shown.any():
        return []
    return sampled([np.concatenate([times[shown], values[shown]]).tobytes()], points)


def _line(
    connection: Connection, tape: int, currency: str, window: Window, points: int
) -> "tuple[Numbers, Numbers] | None":
    import numpy as np  # noqa: PLC0415

    here = [curves.c.tape == tape, curves.c.currency == currency]
    start = tuple_(curves.c.time, curves.c.tie)
    first: tuple[float, int] = BEGINNING
    before = 0.0
    if window.since is not None:
        row = connection.execute(
            select(curves.c.time, curves.c.tie)
            .where(*here, curves.c.time <= window.since)
            .order_by(curves.c.time.desc(), curves.c.tie.desc())
            .limit(1)
        ).first()
        first = BEGINNING if row is None else (row.time, row.tie)
        before = (
            connection.scalar(select(func.sum(curves.c.total)).where(*here, start < first)) or 0
        )
    here.append(start >= first)
    if window.until is not None:
        here.append(curves.c.time <= window.until)
    count = connection.scalar(select(func.sum(curves.c.count)).where(*here)) or 0
    if not count:
        return None
    closely = count <= CLOSELY * max(points, STRETCH)
    columns: list[Any] = [curves.c.content] if closely else [curves.c.sketch, curves.c.total]
    rows = connection.execute(select(*columns).where(*here).order_by(curves.c.time, curves.c.tie))
    if closely:
        pieces = [np.frombuffer(row.content).reshape(4, -1) for row in rows]
        gains = np.concatenate([piece[3] for piece in pieces])
        return np.concatenate([piece[0] for piece in pieces]), before + np.cumsum(gains)
    found = []
    for row in rows:
        piece = np.frombuffer(row.sketch).reshape(2, -1)
        found.append(np.stack([piece[0], piece[1] + before]))
        before += row.total
    whole = np.concatenate(found, axis=1)
    return whole[0], whole[1]


def _sum(lines: "list[tuple[Numbers, Numbers]]") -> "tuple[Numbers, Numbers] | None":
    """One line: at every moment of any of them, what all of them stood at."""
    import numpy as np  # noqa: PLC0415

    if len(lines) < 2:
        return lines[0] if lines else None
    times = np.unique(np.concatenate([line[0] for line in lines]))
    total = np.zeros(len(times))
    for at, values in lines:
        places = np.searchsorted(at, times, side="right")
        total += np.concatenate([[0.0], values])[places]
    return times, total
