"""Events with the key of a backtest's run: they belong to that backtest, and never to the live
record.

Models log and report by habit, wherever they run. Events that only inform become lines of the
backtest's log; events that would count as trading are refused, because no trade happened.
"""

import msgspec

from tapeline.errors import BacktestKey
from tapeline.tape.events import kinds
from tapeline.tape.events.bodies import cut
from tapeline.tape.events.event import Event

HABITS = frozenset({kinds.EVENT, kinds.LIFECYCLE, kinds.USED_SYMBOL, kinds.USED_EXCHANGE})


def kept_apart(event: Event, backtest_id: str, longest: int) -> Event:
    """The event as this backtest may write it; raises for any that it may not."""
    if event.kind in kinds.OF_BACKTESTS:
        if event.backtest_id != backtest_id:
            raise BacktestKey(
                f"This key was made for the backtest {backtest_id} and writes no other.",
                field="backtest_id",
            )
        return event
    if event.kind is kinds.LOG:
        return _as_line(event, msgspec.json.decode(event.body), backtest_id)
    if event.kind in HABITS:
        line = cut(event.body.decode(), longest)
        return _as_line(event, {"line": line, "type": event.kind.name}, backtest_id)
    raise BacktestKey(
        f"This is a backtest: {event.kind.name} is a part of the live record, where it does not"
        " belong. Send it only when the model runs live."
    )


def _as_line(event: Event, said: dict[str, str], backtest_id: str) -> Event:
    fields = {**said, "backtest_id": backtest_id}
    return msgspec.structs.replace(
        event,
        kind=kinds.BACKTEST_LOG,
        fields=fields,
        body=msgspec.json.encode(fields),
        backtest_id=backtest_id,
    )
