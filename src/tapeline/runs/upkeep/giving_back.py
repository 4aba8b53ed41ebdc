"""Gives runs that a silent host has taken, but not started, back to all hosts.

Nothing of such a run is anywhere, so nobody need say that its host is gone. A run that lived there
before has files there and waits for it, unless it had a lease: then any node may have it as soon as
that has run out, because a start that nobody has heard of may still be under way there. A host that
wakes up later starts nothing: `launching.raise_fence` asks whether the run is still its own.
"""

from pathlib import Path

from sqlalchemy import ColumnElement, Connection, or_, select, update

from tapeline.background import Background
from tapeline.logs import Log
from tapeline.runs import heartbeat, leases, unreleased_copy
from tapeline.store.backends import common_time
from tapeline.store.backends.database import Database
from tapeline.store.store import Store
from tapeline.store.tables.runs import runs

log = Log(__name__)

EVERY, WITHIN = 2.0, 60.0  # seconds


class GivingBack:
    """On SQLite there is no other host. A copy that was not released gives back nothing."""

    def __init__(self, store: Store, background: Background, data: Path) -> None:
        self._store, self._data = store, data
        if store.database.file is None:
            background.loop(
                "runs of silent hosts", self.turn, every=EVERY, within=WITHIN, once=True
            )

    async def turn(self) -> None:
        if await unreleased_copy.is_one(self._data):
            return
        for host in await self._store.read(_silent, self._store.database):
            given = await self._store.write(give_back, self._store.database, host)
            for run_id in given:
                log.warning("run_given_back", run=run_id, silent_host=host)


def give_back(connection: Connection, database: Database, host: str) -> list[str]:
    """Any other host may take them now. Those that are to stop end there, too."""
    if heartbeat.is_up(connection, database, host):
        return []
    taken = update(runs).where(runs.c.host == host, *_not_started(connection))
    given = {"host": None, "state": "pending", "lease_until": None}
    return list(connection.scalars(taken.values(given).returning(runs.c.id)))


def _not_started(connection: Connection) -> tuple[ColumnElement[bool], ...]:
    lapsed = runs.c.lease_until < common_time.now(connection) - leases.MARGIN
    never_or_over = or_(runs.c.launches == 0, lapsed)
    return runs.c.ended_at.is_(None), runs.c.fence.is_(None), never_or_over


def _silent(connection: Connection, database: Database) -> list[str]:
    query = (
        select(runs.c.host).where(runs.c.host.is_not(None), *_not_started(connection)).distinct()
    )
    hosts = {host for host in connection.scalars(query) if host is not None}
    return sorted(hosts - heartbeat.up(connection, database, hosts))
