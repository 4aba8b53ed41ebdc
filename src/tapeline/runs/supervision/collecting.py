"""A run's journal goes onto the tape: lines, states and how far we have read, in one transaction.

So nothing is lost or stored twice when the server is killed between reading and storing.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, select, update

from tapeline.runs.journals import late
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.meaning import UNREAD, Ending, News, RunUpdate
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired
from tapeline.store import bulk
from tapeline.store.backends import common_time
from tapeline.store.rows import record
from tapeline.store.tables.runs import runs
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Submission
from tapeline.tape.reading import channels
from tapeline.tape.tapes import open_tape

LOOKED_AT = 20  # lines of a tape, for the last one that a model printed
PRINTED = ("stdout", "stderr")
_READ_ON = "update runs set journal = ? where id = ?"


class Taken(msgspec.Struct, frozen=True):
    """What a transaction did to a run."""

    appended: list[Appended]
    run: Run | None
    """As it is now; None when there was nothing to do."""
    news: Sequence[News] = ()
    """For the server's log, after the commit."""


NOTHING = Taken([], None)


def take(
    connection: Connection,
    appender: Appender,
    run_id: str,
    start: int,
    chunk: Chunk,
    ending: Ending | None,
) -> Taken:
    """Put the records of a journal after `start` onto the tape, unless they are there already."""

    def fill(made: RunUpdate) -> None:
        if chunk.lost:
            at = chunk.records[0].time if chunk.records else time.time()
            made.lost(chunk.lost, at, UNREAD)
        for one in chunk.records:
            made.take(one, ending)
        if chunk.over:
            made.over(chunk.over, time.time())
        made.changes["journal"] = chunk.offset

    return write(connection, appender, run_id, fill, journal=start)


def take_late(
    connection: Connection, appender: Appender, run_id: str, start: int, chunk: Chunk
) -> Taken:
    """The same for a run that has ended in its row, because its host was lost."""
    return write(
        connection,
        appender,
        run_id,
        lambda made: late.take(made, chunk),
        journal=start,
        is_late=True,
    )


def close_late(
    connection: Connection, appender: Appender, run_id: str, last_seen: float | None
) -> Taken:
    """All that it printed there is on the tape."""
    return write(
        connection, appender, run_id, lambda made: late.close(made, last_seen), is_late=True
    )


def write(
    connection: Connection,
    appender: Appender,
    run_id: str,
    fill: Callable[[RunUpdate], None],
    *,
    journal: int | None = None,
    is_late: bool = False,
) -> Taken:
    """Append the events and store the changes that `fill` adds to a run that has not ended; or, if
    it `is_late`, to one that ended before all of its output was here."""
    run = _locked(connection, run_id)
    if run is None or journal not in (None, run.journal):
        return NOTHING
    if run.ended_at is not None and not (is_late and late.may_have_more(run)):
        return NOTHING
    tape = open_tape(connection, run.model_id)
    made = RunUpdate(run, tape, time.time(), lambda: _last_line(connection, tape, run))
    fill(made)
    appended: list[Appended] = []
    if made.events:
        _, appended = appender.append(connection, [Submission(made.events, None)])
    _change(connection, run_id, made.changes)
    changed = msgspec.structs.replace(run, **made.changes)
    if made.has_ended:
        desired.next_of_schedule(connection, changed, common_time.now(connection))
    return Taken(appended, changed, made.news)


def _change(connection: Connection, run_id: str, changes: dict[str, Any]) -> None:
    if changes.keys() == {"journal"}:  # of a model that prints, almost always
        bulk.run(connection, _READ_ON, (changes["journal"], run_id))
    elif changes:
        connection.execute(update(runs).where(runs.c.id == run_id).values(**changes))


def _last_line(connection: Connection, tape: int, run: Run) -> str:
    """That a live model printed, as far as it is stored."""
    if run.backtest_id is not None:
        return ""
    newest = channels.newest(connection, tape, kinds.LOG.channel, before=None, limit=LOOKED_AT)
    for one in newest.records:
        fields = msgspec.json.decode(one.body, type=dict[str, Any])
        if one.run_id == run.id and fields.get("type") in PRINTED:
            return str(fields["line"])
    return ""


def _locked(connection: Connection, run_id: str) -> Run | None:
    row = connection.execute(select(runs).where(runs.c.id == run_id).with_for_update()).first()
    return None if row is None else record(Run, row)
