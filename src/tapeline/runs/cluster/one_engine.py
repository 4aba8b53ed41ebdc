"""Servers that run on one database at the same time have the same engine.

The one that leads supervises for all: it would not see what runs in another way, and nobody would
say so. For the same reason a server changes to a cluster only when nothing of it runs on its own
machine any more.
"""

from pathlib import Path

from sqlalchemy import Connection, select, update

from tapeline.errors import CannotStart
from tapeline.runs import heartbeat
from tapeline.runs import run as run_records
from tapeline.runs.cluster import meeting_point
from tapeline.runs.engines import stopping_here
from tapeline.store import facts
from tapeline.store.backends.database import Database
from tapeline.store.store import Store
from tapeline.store.tables.runs import hosts, runs

ENGINE = f"{facts.PASSING}engine:"
SHOWN = 5


def require(store: Store, here: str, engine: str, *, is_named: bool) -> None:
    """Before this server does anything about runs, and again once it has its name, which then says
    so to those that start later. On SQLite there is no other server."""
    if store.database.file is None:
        store.write_now(_settle, store.database, here, engine, is_named)


def is_of_cluster(connection: Connection, database: Database) -> bool:
    """Whether a server that runs now has the engine ray."""
    names = set() if database.file is not None else _others(connection, "")
    up = heartbeat.up(connection, database, names)
    return any(_engine_of(connection, name) == "ray" for name in up)


def leave_machine(store: Store, data: Path, here: str) -> None:
    """Let nodes have the runs that this server had while it ran models itself. Raises if one may
    be alive: nobody would supervise it, and a stop of it would never be carried out."""
    alive = [one.model for one in stopping_here.launched(data)]
    launched = store.read_now(run_records.launched_on, here)
    if names := sorted({*alive, *(run.lock_name for run in launched)}):
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise CannotStart(
            f"This server ran models on this machine, and these have not ended, or their end is not"
            f" recorded yet: {', '.join(names[:SHOWN])}{more}. Start it once more with --engine"
            " local, and end it with Ctrl-C (SIGINT), which stops them. They go on on the nodes of"
            " the cluster when you start it with --engine ray after that."
        )
    store.write_now(_give_back, here)


def _settle(
    connection: Connection, database: Database, here: str, engine: str, is_named: bool
) -> None:
    for name in sorted(heartbeat.up(connection, database, _others(connection, here))):
        if (theirs := _engine_of(connection, name)) != engine:
            machine = connection.scalar(select(hosts.c.machine).where(hosts.c.name == name))
            raise CannotStart(
                f"The server on {machine or 'another machine'} (host {name}), which uses the same"
                f" database, runs with the engine {theirs}, and this one has the engine {engine}."
                " All servers of one database need the same: start this one with --engine"
                f" {theirs}, or stop that one."
            )
    if is_named:  # with its first beat: a server that starts next sees this one
        facts.put(connection, ENGINE + here, engine)
        heartbeat.beat(connection, here)


def _others(connection: Connection, here: str) -> set[str]:
    """A server that has just started for the first time has no row yet."""
    described = connection.scalars(select(hosts.c.name).where(hosts.c.node == ""))
    said = (name.removeprefix(ENGINE) for name in facts.beginning_with(connection, ENGINE))
    return {*described, *said} - {here}


def _engine_of(connection: Connection, name: str) -> str:
    """One that was a copy when it started has not said so, but it has told nodes where it is."""
    is_met = facts.is_claimed(connection, meeting_point.PUBLISHED + name)
    return facts.get(connection, ENGINE + name) or ("ray" if is_met else "local")


def _give_back(connection: Connection, here: str) -> None:
    of_ours = (runs.c.host == here, runs.c.ended_at.is_(None), runs.c.fence.is_(None))
    given = {"host": None, "state": "pending", "lease_until": None}
    connection.execute(update(runs).where(*of_ours).values(given))
