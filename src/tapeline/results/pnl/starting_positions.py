"""Puts on the tape how positions of older models are kept: long only, unless their owner chose.

Without it, a reader who has nothing but the tape of such a model could not come to our numbers.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, and_, select

from tapeline.results.pnl import account
from tapeline.store.portions import batches
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.tape import states
from tapeline.store.tables.tape import tapes as tape_table
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.events.event import Submission

TOGETHER = 200  # models in one transaction


def write(store: Store, appender: Appender) -> None:
    """One event for each model that has none about it."""
    for some in batches(store.read_now(_wanting), TOGETHER):
        store.write_now(_write, appender, some)


def _wanting(connection: Connection) -> list[str]:
    """Models that are long only, and whose tapes do not say how positions are kept."""
    query = (
        select(models.c.id, states.c.value)
        .outerjoin(tape_table, tape_table.c.model_id == models.c.id)
        .outerjoin(states, and_(states.c.tape == tape_table.c.no, states.c.name == account.STATE))
        .where(models.c.positions == "long_only")
        .order_by(models.c.id)
    )
    return [row.id for row in connection.execute(query) if not account.names_positions(row.value)]


def _write(connection: Connection, appender: Appender, some: Sequence[str]) -> None:
    # All in the order of their numbers, as whoever appends to several locks them.
    for tape in sorted(tapes.open_tape(connection, model_id) for model_id in some):
        # Another server may have written it, or somebody deleted the model, since we looked.
        is_there = tapes.hold(connection, tape, alone=True)
        if is_there and not account.is_said(connection, tape):
            event = account.event(tape, {"positions": "long_only"})
            appender.append(connection, [Submission([event], None)])
