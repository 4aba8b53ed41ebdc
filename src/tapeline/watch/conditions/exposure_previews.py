"""When a limit on exposure would have been exceeded in the last 30 days: from the newest segments
of the curve, which know by how much each entry changed the value held.

numpy is imported at the first use, to keep start-up fast.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import select

from tapeline.results.charts.curve import COLUMNS, SEGMENT
from tapeline.results.pnl.books import books_of
from tapeline.results.pnl.model_currency import own_currency
from tapeline.store.tables.ledger import curves
from tapeline.watch.conditions import stretches
from tapeline.watch.conditions.condition import Past, Stretch, Stretches
from tapeline.watch.conditions.judging import slack, spelled
from tapeline.watch.facts import of_exposure, of_money

if TYPE_CHECKING:
    from tapeline.results.metrics.account import Floats

SEGMENTS = 100  # of about a thousand entries: the newest


def gross(past: Past) -> Sequence[Stretch]:
    return _whole(past, is_gross=True)


def net(past: Past) -> Sequence[Stretch]:
    return _whole(past, is_gross=False)


def position_value(past: Past) -> Sequence[Stretch]:
    """Of the symbol that is asked for; of several, when any of them did."""
    tape, symbol = past.subject.tape, past.asked.options.get("symbol")
    if tape is None:
        return []
    own = own_currency(past.connection, tape)
    found, looked = list[Stretch](), past.since
    for book in books_of(past.connection, tape):
        if book.is_cash or (symbol and spelled(book.symbol) != spelled(str(symbol))):
            continue
        steps = _newest_steps(past, tape, book.currency)
        times, *_, held = steps[:, steps[2] == book.book]
        found += _over(past, times, held, book.currency or own)
        looked = max(looked, _begins(past, steps))
    found.sort(key=lambda one: one.began_at)
    return Stretches(found[-stretches.MOST :], looked)


def _whole(past: Past, *, is_gross: bool) -> Sequence[Stretch]:
    """Back from how it stands: what changed since is taken off."""
    import numpy as np  # noqa: PLC0415

    from tapeline.results.charts import running  # noqa: PLC0415

    tape = past.subject.tape
    if tape is None:
        return []
    held = of_exposure.of_model(past.connection, tape)
    if held.currency is None or held.gross is None or held.net is None:
        return []
    # The model's own currency is that of bare tickers, and of symbols that name it.
    own = own_currency(past.connection, tape)
    names = {held.currency} | ({""} if held.currency == own else set())
    steps = np.concatenate([_newest_steps(past, tape, name) for name in sorted(names)], axis=1)
    steps = steps[:, np.lexsort((steps[1], steps[0]))]
    before, after = np.abs(steps[5:]) if is_gross else steps[5:]
    later = running.sums(*running.changes(before[::-1], after[::-1])).before().rounded[::-1]
    line = (held.gross if is_gross else held.net) - later
    return Stretches(_over(past, steps[0], line, held.currency), _begins(past, steps))


def _over(past: Past, times: "Floats", line: "Floats", currency: str) -> list[Stretch]:
    import numpy as np  # noqa: PLC0415

    tape = past.subject.tape
    if past.asked.limit is None or tape is None or not len(times):
        return []
    values = np.abs(line)
    if past.asked.unit == "percent":
        found = of_money.evidence_around(past.connection, tape, [past.since])
        lines, _ = of_money.lines_of(found)
        if lines is None or lines.value is None or found.currency != currency:
            return []
        places = np.maximum(np.searchsorted(lines.times, times, side="right") - 1, 0)
        with np.errstate(all="ignore"):
            values = 100 * values / lines.value[places]
    last = np.append(np.diff(times) > 0, [True])  # of each moment
    times, values = times[last], values[last]
    most = past.asked.limit + slack(past.asked.limit)
    return stretches.of_line(past, times, values, values > most)


def _begins(past: Past, steps: "Floats") -> float:
    """Since when none is missing: a segment before the window is read too, if there is one."""
    is_cut = steps.shape[1] >= SEGMENTS * SEGMENT and steps[0][0] > past.since
    return float(steps[0][0]) if is_cut else past.since


def _newest_steps(past: Past, tape: int, currency: str) -> "Floats":
    """Rows as a segment has them, from the segment on in which the window begins."""
    import numpy as np  # noqa: PLC0415

    query = (
        select(curves.c.time, curves.c.content)
        .where(curves.c.tape == tape, curves.c.currency == currency)
        .order_by(curves.c.time.desc(), curves.c.tie.desc())
        .limit(SEGMENTS)
    )
    pieces = []
    for row in past.connection.execute(query):
        pieces.append(np.frombuffer(row.content).reshape(COLUMNS, -1))
        if row.time < past.since:
            break
    return np.concatenate(pieces[::-1], axis=1) if pieces else np.empty((COLUMNS, 0))
