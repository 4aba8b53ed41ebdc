"""The newest backtests of a model, and how they ended."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.store.tables.tape import backtests
from tapeline.tape.events import kinds
from tapeline.watch.facts.fact import Fact, Gathering

MOST = 50  # the newest by their beginning


class Backtest(NamedTuple):
    no: int
    backtest_id: str
    name: str
    successful: bool | None
    """None while it goes on."""
    summary: str


class _Status(msgspec.Struct):
    successful: bool | None = None
    status_summary: str | None = None
    label: str | None = None


_status = msgspec.json.Decoder(_Status)


def gather(gathering: Gathering) -> Mapping[str, list[Backtest]]:
    """Newest first."""
    connection = gathering.connection
    return {
        subject.id: of_tape(connection, subject.tape)
        for subject in gathering.wanted
        if subject.tape is not None
    }


def of_tape(connection: Connection, tape: int) -> list[Backtest]:
    query = (
        select(
            backtests.c.no,
            backtests.c.id,
            backtests.c.label,
            backtests.c.status,
            backtests.c.result_seq,
        )
        .where(backtests.c.tape == tape, backtests.c.deleted_seq.is_(None))
        .order_by(backtests.c.no.desc())
        .limit(MOST)
    )
    found = []
    for row in connection.execute(query):
        # A result that was pushed without a status is one of a backtest that worked.
        nothing_said = _Status(successful=None if row.result_seq is None else True)
        said = nothing_said if row.status is None else _status.decode(row.status)
        name = row.label or said.label or row.id
        found.append(Backtest(row.no, row.id, name, said.successful, said.status_summary or ""))
    return found


BACKTESTS = Fact(
    name="backtests",
    gather=gather,
    changed_by=frozenset({kinds.BACKTEST_STATUS.name, kinds.BACKTEST_RESULT.name}),
)
