"""Each server says how its host is, and on PostgreSQL every few seconds that it is alive.

An open session proves nothing: a server that is frozen or cut off keeps its session for minutes or
for ever. The times are the database's own, so the clocks of the hosts do not matter.
"""

import socket
from collections.abc import Callable, Iterable

from sqlalchemy import Connection, select

from tapeline import __version__
from tapeline.background import Background
from tapeline.runs.described_hosts import Description, describe
from tapeline.store import facts
from tapeline.store.backends import common_time
from tapeline.store.backends.database import Database
from tapeline.store.store import Store
from tapeline.store.tables.runs import hosts
from tapeline.thread_pools import briefly

EVERY, WITHIN = 2.0, 15.0  # seconds
SILENT_AFTER = 7.0
"""Pages look every three seconds, so everybody is told the truth within ten."""
BEAT = f"{facts.PASSING}heartbeat:"


class Heartbeat:
    """Of one host. On SQLite there is no other server that could ask whether this one is alive. A
    copy that has only the name of its original is not that host, and says nothing."""

    def __init__(
        self,
        store: Store,
        host: str,
        background: Background,
        is_copy: Callable[[], bool],
        trouble: Callable[[], str | None],
        keys: Callable[[], str],
        pythons: str = "",
    ) -> None:
        self._store = store
        self._host = host
        self._is_copy = is_copy
        self._trouble = trouble
        self._keys = keys
        self._pythons = pythons
        self._said: Description | None = None
        background.loop("heartbeat", self._beat, every=EVERY, within=WITHIN)

    async def _beat(self) -> None:
        if self._is_copy():
            return
        keys = await briefly(self._keys)
        trouble = self._trouble() or ""
        machine = socket.gethostname()
        now = Description(self._host, machine, __version__, trouble, keys, self._pythons)
        if now != self._said:
            await self._store.write(describe, now)
            self._said = now
        if self._store.database.file is None:
            await self._store.write(beat, self._host)


def beat(connection: Connection, host: str) -> None:
    facts.put(connection, BEAT + host, repr(common_time.now(connection)))


def up(connection: Connection, database: Database, some: Iterable[str]) -> set[str]:
    """Those hosts that run and have been heard of lately. A server of an earlier version has no
    heartbeat: its session decides, as before. A node of a cluster has no session at all."""
    names = list(some)
    claimed = database.claimed(connection, names)
    nodes = set() if database.file else _nodes(connection, set(names) - claimed)
    if not claimed | nodes:
        return set()
    beats, now = last_of_all(connection, claimed | nodes), common_time.now(connection)
    silent = now - SILENT_AFTER
    return {one for one in claimed if beats.get(one, now) > silent} | {
        one for one in nodes if beats.get(one, silent) > silent
    }


def _nodes(connection: Connection, names: set[str]) -> set[str]:
    query = select(hosts.c.name).where(hosts.c.name.in_(sorted(names)), hosts.c.node != "")
    return set(connection.scalars(query)) if names else set()


def is_up(connection: Connection, database: Database, host: str) -> bool:
    return bool(up(connection, database, [host]))


def last_of(connection: Connection, host: str) -> float | None:
    """When its server was last heard of."""
    return last_of_all(connection, [host]).get(host)


def last_of_all(connection: Connection, hosts: Iterable[str]) -> dict[str, float]:
    found = facts.get_all(connection, [BEAT + host for host in hosts])
    return {name.removeprefix(BEAT): float(value) for name, value in found.items()}
