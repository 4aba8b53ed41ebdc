"""Which of the servers on one database does what only one of them may do.

A lease with an end, not a lock: a server that is frozen keeps its locks for ever. The one that
leads renews it every few seconds, and believes in it for less long than the others wait, whatever
happens to it in between; what it writes as the leader is written only while it has the lease. The
times are the database's own, so the clocks of the hosts do not matter. On SQLite there
is one server, and it leads.
"""

import os
import socket
from contextlib import suppress
from time import CLOCK_BOOTTIME, clock_gettime

import msgspec
from sqlalchemy import Connection, select, update

from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.leading import LeadsNoMore
from tapeline.logs import Log
from tapeline.store import facts
from tapeline.store.backends import common_time
from tapeline.store.store import Store
from tapeline.store.tables.core import facts as fact_rows

log = Log(__name__)

NAME = f"{facts.PASSING}leader"
LASTS = 7.0  # seconds
MARGIN = 1.0
"""Seconds by which the leader stops believing in its lease before it ends."""
EVERY, WITHIN = 1.5, 15.0


class Lease(msgspec.Struct, frozen=True):
    holder: str
    """The machine and process, for people, and an id, because processes come back by number."""
    since: float
    until: float
    """By the database's clock."""

    @property
    def server(self) -> str:
        return self.holder.rpartition(" ")[0]


class Leader:
    def __init__(
        self, store: Store, background: Background, server_id: str, lasts: float = LASTS
    ) -> None:
        self.holder = f"{socket.gethostname()} (process {os.getpid()}) {server_id}"
        self._store = store
        self._lasts = lasts
        self._until = 0.0
        self.term = 0.0
        """Since when it leads, or last did: later than that of any server that led before."""
        self._is_alone = store.database.file is not None
        if not self._is_alone:
            background.leads, background.term = lambda: self.leads, lambda: self.term
            store.require_lead = self._require
            background.loop("leadership", self.turn, every=EVERY, within=WITHIN)

    @property
    def leads(self) -> bool:
        """Also false while this server was frozen for longer than its lease, or is cut off."""
        return self._is_alone or _elapsed() < self._until

    async def turn(self) -> None:
        """Take the lease or keep it, if nobody else has it."""
        led, began = self.leads, _elapsed()
        lease = await self._store.write(take, self.holder, self._lasts)
        is_ours = lease.holder == self.holder
        self._until = began + self._lasts - MARGIN if is_ours else 0.0
        self.term = lease.since if is_ours else self.term
        if is_ours and not led:
            log.info("leads_now", server=self.holder)
        elif led and not is_ours:
            log.info("leads_no_more", leader=lease.holder)

    def _require(self, connection: Connection) -> None:
        """Nobody takes the lease before this transaction ends."""
        row = select(fact_rows.c.value).where(fact_rows.c.name == NAME).with_for_update(read=True)
        said = connection.scalar(row)
        lease = None if said is None else msgspec.json.decode(said, type=Lease)
        if lease is None or lease.holder != self.holder:
            self._until = 0.0
            raise LeadsNoMore

    def close(self) -> None:
        """Let the next one lead at once."""
        if not self._is_alone and self.leads:
            self._until = 0.0
            with suppress(Unavailable):  # it runs out
                self._store.write_now(give_up, self.holder)


def take(connection: Connection, holder: str, lasts: float = LASTS) -> Lease:
    """The lease as it is now: ours, if it was ours, had run out or had never been given."""
    now, said = common_time.now(connection), facts.get(connection, NAME)
    found = None if said is None else msgspec.json.decode(said, type=Lease)
    if found is not None and found.holder != holder and found.until > now:
        return found
    since = now
    if found is not None:
        # Later than that of whoever led before, even if the database's clock was set back.
        since = found.since if found.holder == holder else max(now, found.since + 0.001)
    ours = Lease(holder, since, now + lasts)
    words = msgspec.json.encode(ours).decode()
    if said is None:
        is_ours = facts.claim(connection, NAME, words)
    else:
        is_ours = _replaced(connection, said, words)
    return ours if is_ours else _held_by_another(connection, now)


def give_up(connection: Connection, holder: str) -> None:
    said = facts.get(connection, NAME)
    found = None if said is None else msgspec.json.decode(said, type=Lease)
    if said is not None and found is not None and found.holder == holder:
        _replaced(connection, said, msgspec.json.encode(Lease("", found.since, 0.0)).decode())


def holder(connection: Connection) -> Lease | None:
    """Who leads; None on SQLite, and while nobody does."""
    said = None if connection.dialect.name == "sqlite" else facts.get(connection, NAME)
    found = None if said is None else msgspec.json.decode(said, type=Lease)
    return found if found is not None and found.until > common_time.now(connection) else None


def _replaced(connection: Connection, before: str, after: str) -> bool:
    is_as_read = (fact_rows.c.name == NAME, fact_rows.c.value == before)
    changed = connection.execute(update(fact_rows).where(*is_as_read).values(value=after))
    return changed.rowcount == 1


def _held_by_another(connection: Connection, now: float) -> Lease:
    """Somebody was quicker."""
    said = facts.get(connection, NAME)
    return Lease("", now, now) if said is None else msgspec.json.decode(said, type=Lease)


def _elapsed() -> float:
    """Goes on while the machine sleeps."""
    return clock_gettime(CLOCK_BOOTTIME)
