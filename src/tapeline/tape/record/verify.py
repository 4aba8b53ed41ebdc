"""Checks a stored tape: its chain, and the long lists that its results commit to."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline.store.tables.tape import backtests, tapes
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import seals
from tapeline.tape.reading import whole_tape

_RESULT = kinds.BACKTEST_RESULT.number


def first_break(connection: Connection, tape: int) -> int | None:
    """The number of the first event that differs from what was sealed; None if all is well."""
    head = connection.execute(select(tapes.c.seq, tapes.c.link).where(tapes.c.no == tape)).one()
    results: dict[str | None, StoredEvent] = {}
    records = chain.from_iterable(_noting(results, whole_tape.portions(connection, tape)))
    broken = seals.first_break(records, (head.seq, bytes(head.link)))
    if broken is not None:
        return broken
    wrong = [one.seq for one in results.values() if not _is_whole(connection, tape, one)]
    return min(wrong, default=None)


def _noting(
    results: dict[str | None, StoredEvent], portions: Iterator[list[StoredEvent]]
) -> Iterator[list[StoredEvent]]:
    """The last result of each backtest is the current one."""
    for portion in portions:
        results |= {one.backtest_id: one for one in portion if one.kind == _RESULT}
        yield portion


def _is_whole(connection: Connection, tape: int, record: StoredEvent) -> bool:
    standing = connection.execute(
        select(
            backtests.c.upload, backtests.c.result, backtests.c.result_seq, backtests.c.deleted_seq
        ).where(backtests.c.tape == tape, backtests.c.id == record.backtest_id)
    ).first()
    if standing is None or (standing.result_seq, standing.result) != (record.seq, record.body):
        return False
    if standing.deleted_seq is not None and record.seq <= standing.deleted_seq:
        return True  # somebody deleted its lists; what it said of them is still on the tape
    sealed = msgspec.json.decode(record.body, type=dict[str, Any])["digests"]
    return bool(result_pieces.digests(connection, standing.upload or "") == sealed)
