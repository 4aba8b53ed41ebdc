"""Halts of one machine: `tapeline halt --here` carries them out without a server or a database, and
leaves a hold on the disk. Their record follows here, as soon as the store takes it."""

import time

import msgspec
from sqlalchemy import Connection, insert, or_, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import OPERATOR
from tapeline.ids import new_id
from tapeline.runs.holding.holds import Hold
from tapeline.runs.run import DEPLOYED
from tapeline.store.tables.runs import runs
from tapeline.store.tables.watch import halts
from tapeline.watch.halts import declaring
from tapeline.watch.halts.halt import Halt

BY = "an operator, on the machine itself"


def is_recorded(connection: Connection, host: str, hold: Hold | None) -> bool:
    """Whether what the store knows of this host's halt is what its disk says."""
    query = select(halts.c.at).where(halts.c.host == host, halts.c.resumed_at.is_(None))
    known = list(connection.scalars(query))
    return known == ([] if hold is None else [hold.since])


def write(connection: Connection, host: str, hold: Hold | None) -> None:
    """The hold that is on the disk now, or that there is none any more."""
    ended = {"resumed_at": time.time(), "resumed_by": BY}
    since = None if hold is None else hold.since
    over = (halts.c.host == host, halts.c.resumed_at.is_(None), halts.c.at.is_distinct_from(since))
    for halt_id in connection.scalars(
        update(halts).where(*over).values(ended).returning(halts.c.id)
    ):
        audit.record(connection, OPERATOR, "resumed", f"host:{host}", halt=halt_id)
    if hold is None or is_recorded(connection, host, hold):
        return
    made = Halt(id=new_id(), project_id=None, host=host, why=hold.why, at=hold.since, by=BY)
    connection.execute(insert(halts).values(msgspec.structs.asdict(made)))
    # Those whose end its server has recorded before it found the hold were stopped by it, too.
    unfinished = or_(runs.c.ended_at.is_(None), runs.c.ended_at >= hold.since)
    going = select(runs.c.model_id, runs.c.id).where(
        runs.c.host == host, runs.c.kind.in_(DEPLOYED), runs.c.fence.is_not(None), unfinished
    )
    found = [(row.model_id, row.id, False) for row in connection.execute(going)]
    declaring.list_models(connection, made, found)
    audit.record(connection, OPERATOR, "halted", f"host:{host}", halt=made.id, why=hold.why)
