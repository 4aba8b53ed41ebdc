"""How much of a tape a link shows: all of it, or its state when the delay began."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tapeline.sharing.links.choices import Choices
from tapeline.store.backends import steady
from tapeline.store.tables.tape import checkpoints
from tapeline.tape.reading import whole_tape
from tapeline.tape.tapes import Reading

HOUR = 3600.0


class Cut(NamedTuple):
    """Events up to this number are shown."""

    seq: int
    moment: float | None
    """Nothing was received after it; None without a delay."""


def cut(connection: Connection, found: Reading, choices: Choices) -> Cut:
    if not choices.delay_hours:
        return Cut(found.seq, None)
    moment = steady.ago(connection, choices.delay_hours * HOUR)
    if not found.tape:
        return Cut(0, moment)
    # A checkpoint is signed every few seconds while events arrive: from the last one before the
    # moment there is not far to go.
    seq = checkpoint_before(connection, found.tape, moment)
    for record in whole_tape.records(connection, found.tape, after=seq, until=found.seq):
        if record.received_at > moment:
            break
        seq = record.seq
    return Cut(seq, moment)


def checkpoint_before(connection: Connection, tape: int, moment: float | None) -> int:
    """The last event that was signed by then, or by now; zero if there is none."""
    query = select(func.max(checkpoints.c.seq)).where(checkpoints.c.tape == tape)
    if moment is not None:
        query = query.where(checkpoints.c.at <= moment)
    return connection.scalar(query) or 0
