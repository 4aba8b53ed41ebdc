"""What became of a run that was declared gone with its host, when that host is back.

Its record says when it was last seen. Its shim knows better: when it ended, or that it went on
until now. The row is corrected, and a line on the tape says so, because it may have traded.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Connection, update

from tapeline.runs import run as run_records
from tapeline.runs.described_hosts import DECLARED_GONE
from tapeline.runs.engines.engine import Engine
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.run import Run
from tapeline.store.store import Store
from tapeline.store.tables.runs import runs
from tapeline.tape.append.appending import Appender
from tapeline.tape.events.event import Submission
from tapeline.tape.tapes import open_tape


class LateEnding(msgspec.Struct, frozen=True):
    run: Run
    ended_at: float | None
    """By its shim's journal; None if it lives, until it is cleared."""
    exit_code: int | None = None


@asynccontextmanager
async def noted(
    store: Store, engine: Engine, appender: Appender, host: str, run_id: str
) -> AsyncIterator[None]:
    """While what is left of the run there is cleared. Of nearly every run the end is known."""
    run = await store.read(run_records.find, run_id)
    if run is None or run.host != host or DECLARED_GONE not in run.reason:
        yield
        return
    late = await asyncio.to_thread(_look, engine, run)
    yield
    await store.write(_record, appender, late)


def _record(connection: Connection, appender: Appender, late: LateEnding) -> None:
    run, ended_at = late.run, time.time() if late.ended_at is None else late.ended_at
    made = RunUpdate(run, open_tape(connection, run.model_id), time.time())
    until = datetime.fromtimestamp(ended_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    made.line(
        f"The host of run {run.id} is back: the run went on there until {until}. What it printed"
        " since its host was declared gone is not stored.",
        "system",
        ended_at,
    )
    appender.append(connection, [Submission(made.events, None)])
    changes = {"ended_at": ended_at, "exit_code": late.exit_code}
    connection.execute(update(runs).where(runs.c.id == run.id).values(**changes))


def _look(engine: Engine, run: Run) -> LateEnding:
    found = engine.look([run], closely=True)
    if error := found.unknown.get(run.id):
        raise error
    sight = found.of[run.id]
    if sight.alive:
        return LateEnding(run, None)
    ended_at, exit_code, offset = sight.last_seen, None, run.journal
    while (chunk := engine.read(run, offset)).offset > offset:
        offset = chunk.offset
        for one in chunk.records:
            if one.state is not None and one.state.get("event") in ("ended", "finished"):
                ended_at, exit_code = one.time, one.state.get("exit_code")
    return LateEnding(run, ended_at, exit_code)
