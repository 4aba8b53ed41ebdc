"""Runs that nobody can say anything about, because the server of their host is down, frozen or cut
off from the database.

Only the host that started a run knows whether it is gone. While its server is silent, the run keeps
its last state, and no newer run of the model may start.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.runs import heartbeat
from tapeline.runs.run import DEPLOYED, Run
from tapeline.store.backends.database import Database
from tapeline.store.rows import record
from tapeline.store.tables.runs import runs, samples

DO = (
    "Start it again (`tapeline hosts` lists all; `tapeline hosts forget` gives up a host"
    " whose machine is gone), or end the run on its machine:"
)


class Silence(msgspec.Struct, frozen=True):
    host: str
    seen_at: float | None
    """When its server was last heard of."""

    def since(self) -> str:
        if self.seen_at is None:
            return "has not reported since it took the run"
        moment = datetime.fromtimestamp(self.seen_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"has been silent since {moment}"


class Blocked(msgspec.Struct, frozen=True):
    """Why nobody knows about a run, or why it cannot start."""

    silence: Silence
    run: Run
    """The run on the silent host: itself, or the one that it waits for."""

    def sentence(self, about: Run) -> str:
        silent = f"which does not answer and {self.silence.since()}"
        down = f"the host {self.silence.host}, {silent}"
        fix = f"{DO} tapeline stop --here {self.run.lock_name}"
        if about.id == self.run.id:
            return f"It belongs to {down}: nobody knows whether it runs. {fix}"
        waits = f"It waits for the end of run {self.run.id} on {down}"
        return f"{waits}: nobody knows whether that one still runs. {fix}"


def blocked(
    connection: Connection, database: Database, here: str, found: Sequence[Run]
) -> dict[str, Blocked]:
    """Of these runs, by their id."""
    there = [one for one in found if one.ended_at is None]
    before = {one.model_id: one for one in _launched(connection, there)}
    silences = silent(connection, database, here, (*there, *before.values()))
    answer = {}
    for one in there:
        holder = before.get(one.model_id, one) if one.is_deployed and not one.is_launched else one
        for run in (one, holder):
            # A lease that is not renewed runs out, and then another run goes on.
            if run.host in silences and run.lease_until is None:
                answer[one.id] = Blocked(silences[run.host], run)
                break
    return answer


def silent(
    connection: Connection, database: Database, here: str, found: Iterable[Run]
) -> dict[str | None, Silence]:
    """The other hosts of these runs whose servers are silent, by their names."""
    hosts = {one.host for one in found if one.host is not None} - {here}
    quiet = hosts - heartbeat.up(connection, database, hosts)
    return {host: Silence(host, _seen_at(connection, host)) for host in quiet}


def _launched(connection: Connection, waiting: Iterable[Run]) -> list[Run]:
    """The run of each model that must end before one of these can start."""
    of = {one.model_id for one in waiting if one.is_deployed and not one.is_launched}
    if not of:
        return []
    query = select(runs).where(
        runs.c.model_id.in_(of),
        runs.c.kind.in_(DEPLOYED),
        runs.c.ended_at.is_(None),
        runs.c.fence.is_not(None),
    )
    return [record(Run, row) for row in connection.execute(query)]


def _seen_at(connection: Connection, host: str) -> float | None:
    """By its heartbeat; a server of an earlier version has only looked at its runs."""
    if (last := heartbeat.last_of(connection, host)) is not None:
        return last
    query = (
        select(func.max(samples.c.at))
        .join(runs, runs.c.id == samples.c.run_id)
        .where(runs.c.host == host, runs.c.ended_at.is_(None))
    )
    found: float | None = connection.scalar(query)
    return found
