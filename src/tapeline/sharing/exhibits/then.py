"""What a replay says of an earlier time, as the books and lists of today would say it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeline.results.charts import running
from tapeline.results.charts.curve import COLUMNS
from tapeline.results.performance.evidence import Kept
from tapeline.results.performance.flows import Flow
from tapeline.results.pnl import quoted_fills, summary
from tapeline.results.pnl.quoted_fills import Quote
from tapeline.sharing.exhibits.exhibit import Arrow
from tapeline.sharing.exhibits.replay import Replay
from tapeline.tape.orders import merged


def kept(replay: Replay) -> Kept:
    found = replay.books()

    def steps(names: list[str]) -> Any:
        some = [
            (time, tie, book, *step)
            for name in names
            for time, tie, book, step in found.steps.get(name, ())
        ]
        return np.array(sorted(some)).T if some else np.empty((COLUMNS, 0))

    flows = [
        Flow(time, "deposit" if amount > 0 else "withdrawal", amount, name or replay.quote, tie)
        for name, some in found.flows.items()
        for time, tie, amount in some
    ]
    flows.sort(key=lambda one: (one.time, one.tie))
    return Kept(found.books, replay.quote, replay.settings, flows, steps)


def line(replay: Replay, names: list[str]) -> tuple[Any, Any] | None:
    found = replay.books()
    without = summary.doubtful(found.books, replay.quote)
    steps = [
        (time, tie, book, *step)
        for name in names
        for time, tie, book, step in found.steps.get(name, ())
        if book not in without
    ]
    if not steps:
        return None
    rows = np.array(sorted(steps)).T
    return rows[0], running.profit(rows)


def arrows(replay: Replay) -> Iterator[Arrow]:
    for _, order_id in replay.places:
        said, base = merged(replay.orders[order_id]) or {}, replay.orders[order_id].base
        if base is not None:
            yield Arrow(base.time, "sell" if said.get("side") == "sell" else "buy")


def _times(replay: Replay, order_id: str) -> dict[str, Any]:
    state = replay.orders[order_id]
    return {"time": state.base and state.base.time, "received_at": state.received_at}


def item(replay: Replay, known: dict[int, Quote], seq: int, order_id: str) -> dict[str, Any]:
    """An order as the list of orders would have had it."""
    said = merged(replay.orders[order_id]) or {}
    ours = {"id": order_id, "seq": seq, **_times(replay, order_id)}
    some = replay.books().outcomes.get(order_id)
    return {**said, **ours, "fill": None if some is None else quoted_fills.quoted(some, known)}
