"""Deletes backtests: one that a person deletes, and those that retention lets go.

Their events stay on the tape, because the chain runs through them; the long lists of their results
are deleted in the background.
"""

from typing import Any

from sqlalchemy import Connection, Row, or_, select, update

from tapeline.store.tables.tape import backtests
from tapeline.store.tables.tape import tapes as tape_rows
from tapeline.tape import tapes
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.reading import backtests as reading


def delete(connection: Connection, tape: int, seq: int, row: Row[*tuple[Any, ...]]) -> None:
    """For everybody at once. `seq` is where the tape ends; hold the tape before."""
    if row.upload is not None:
        tapes.release_bytes(connection, tape, result_pieces.size(connection, row.upload))
        result_pieces.discard_later(connection, tape, row.upload, 0.0)
    connection.execute(
        update(backtests)
        .where(backtests.c.no == row.no)
        .values(upload=None, label=None, description=None, deleted_seq=seq)
    )


def delete_some(connection: Connection, tape: int, before: float, most: int) -> int:
    """Finished ones that began before then; return how many there were."""
    if not tapes.hold(connection, tape, alone=True):
        return 0
    is_over = or_(backtests.c.status.is_not(None), backtests.c.result.is_not(None))
    old = select(backtests).where(
        backtests.c.tape == tape, reading.is_there(), is_over, backtests.c.created_at <= before
    )
    rows = connection.execute(old.order_by(backtests.c.no).limit(most)).all()
    seq = connection.scalar(select(tape_rows.c.seq).where(tape_rows.c.no == tape)) or 0
    for row in rows:
        delete(connection, tape, seq, row)
    return len(rows)
