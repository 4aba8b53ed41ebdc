"""A curve for a chart: a time range, at most so many points, extremes kept.

numpy is imported at the first use, to keep start-up fast.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, select, tuple_

from tapeline.results.charts.curve import BEGINNING, COLUMNS, POINT, SEGMENT
from tapeline.store.tables.ledger import curves, sketches
from tapeline.tape.backtest_results.series import Point, sampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Up to so many entries per wanted point are read individually; for more, the sketches have
# enough points.
CLOSELY = 16


class Window(NamedTuple):
    since: float | None = None
    until: float | None = None


def drawn(
    connection: Connection,
    tape: int,
    currencies: Sequence[str],
    window: Window,
    points: int,
    without: Collection[int] = (),
) -> list[Point]:
    """The sum of some curves, but for some books."""
    if without:
        return sketched(whole(connection, tape, currencies, without=without), window, points)
    lines = [_line(connection, tape, currency, window, points) for currency in currencies]
    return sketched(_sum([line for line in lines if line is not None]), window, points)


def whole(
    connection: Connection, tape: int, currencies: Sequence[str], without: Collection[int] = ()
) -> "tuple[Numbers, Numbers]":
    """The sum of some curves, with every point: for arithmetic, not for charts."""
    import numpy as np  # noqa: PLC0415

    from tapeline.results.charts import running  # noqa: PLC0415

    steps = every_step(connection, tape, currencies)
    if without:
        steps = steps[:, ~np.isin(steps[2], list(without))]
    return steps[0], running.profit(steps)


def every_step(connection: Connection, tape: int, currencies: Sequence[str]) -> "Numbers":
    """All steps of some curves in the order of their times: rows as a segment has them."""
    import numpy as np  # noqa: PLC0415

    pieces = []
    for currency in currencies:
        query = select(curves.c.content).where(curves.c.tape == tape, curves.c.currency == currency)
        in_order = query.order_by(curves.c.time, curves.c.tie)
        pieces += [np.frombuffer(one).reshape(COLUMNS, -1) for one in connection.scalars(in_order)]
    if not pieces:
        return np.empty((COLUMNS, 0))
    steps = np.concatenate(pieces, axis=1)
    return steps if len(currencies) < 2 else steps[:, np.lexsort((steps[1], steps[0]))]


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
    here = [sketches.c.tape == tape, sketches.c.currency == currency]
    start = tuple_(sketches.c.time, sketches.c.tie)
    in_order = (sketches.c.time, sketches.c.tie)
    earlier: Sequence[Any] = []
    if window.since is not None:
        row = connection.execute(
            select(*in_order)
            .where(*here, sketches.c.time <= window.since)
            .order_by(*(column.desc() for column in in_order))
            .limit(1)
        ).first()
        first = BEGINNING if row is None else (row.time, row.tie)
        columns = select(sketches.c.total, sketches.c.rest).where(*here, start < first)
        earlier = connection.execute(columns.order_by(*in_order)).all()
        here.append(start >= first)
    if window.until is not None:
        here.append(sketches.c.time <= window.until)
    size = sketches.c.count.label("entries")
    query = select(*in_order, size, sketches.c.total, sketches.c.rest, sketches.c.sketch)
    rows = connection.execute(query.where(*here).order_by(*in_order)).all()
    if not rows:
        return None
    if sum(row.entries for row in rows) <= CLOSELY * max(points, SEGMENT):
        return _closely(connection, tape, currency, earlier, rows)
    return _coarsely(earlier, rows)


def _coarsely(earlier: Sequence[Any], rows: Sequence[Any]) -> "tuple[Numbers, Numbers]":
    """The points of some segments, each of which begins where the one before ended."""
    import numpy as np  # noqa: PLC0415

    from tapeline.results.charts import running  # noqa: PLC0415

    totals = np.array([(row.total, row.rest) for row in (*earlier, *rows)]).T
    bases = running.sums(*totals).before()
    points = [np.frombuffer(row.sketch).reshape(-1, POINT) for row in rows]
    begins = np.repeat(np.arange(len(earlier), len(totals[0])), [len(one) for one in points])
    times, high, low = np.concatenate(points).T
    values = running.Sums(bases.high[begins], bases.low[begins]).plus(running.Sums(high, low))
    return times, values.rounded


def _closely(
    connection: Connection, tape: int, currency: str, earlier: Sequence[Any], rows: Sequence[Any]
) -> "tuple[Numbers, Numbers]":
    """Every entry of some segments: its time, and the value after it."""
    import numpy as np  # noqa: PLC0415

    from tapeline.results.charts import running  # noqa: PLC0415

    start = tuple_(curves.c.time, curves.c.tie)
    first, last = (rows[0].time, rows[0].tie), (rows[-1].time, rows[-1].tie)
    query = (
        select(curves.c.content)
        .where(curves.c.tape == tape, curves.c.currency == currency, start >= first, start <= last)
        .order_by(curves.c.time, curves.c.tie)
    )
    pieces = [np.frombuffer(content).reshape(COLUMNS, -1) for content in connection.scalars(query)]
    steps = np.concatenate(pieces, axis=1)
    before = np.array([(row.total, row.rest) for row in earlier]).reshape(-1, 2).T
    changes = np.concatenate([before, running.changes(steps[3], steps[4])], axis=1)
    return steps[0], running.sums(*changes).rounded[len(earlier) :]


def _sum(lines: "list[tuple[Numbers, Numbers]]") -> "tuple[Numbers, Numbers] | None":
    """One line: at every moment of any of them, the sum of all."""
    import numpy as np  # noqa: PLC0415

    if len(lines) < 2:
        return lines[0] if lines else None
    times = np.unique(np.concatenate([line[0] for line in lines]))
    total = np.zeros(len(times))
    for at, values in lines:
        places = np.searchsorted(at, times, side="right")
        total += np.concatenate([[0.0], values])[places]
    return times, total
