"""From which addresses a key was used, and since when: a new one may be a thief's.

A request only looks into a set in memory. What is new is written a moment later, by one loop; on
several servers the database knows which was first. Keys of runs are left out: their addresses are
those of sandboxes.
"""

import time
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tapeline.accounts import limits
from tapeline.background import Background
from tapeline.store import upsert
from tapeline.store.store import Store
from tapeline.store.tables.core import key_addresses, keys

EVERY, WITHIN = 1.0, 30.0  # seconds
REMEMBERED = 100_000
MOST = 1_000  # addresses of one key that are kept


class _Use(NamedTuple):
    key_id: str
    address: str
    at: float


class KeyAddresses:
    def __init__(self, store: Store, background: Background) -> None:
        self._store = store
        self._seen: set[tuple[str | bytes, str]] = set()
        self._new: list[_Use] = []
        background.loop("key addresses", self.write, every=EVERY, within=WITHIN)

    def note(self, key: str | bytes, address: str) -> None:
        """A valid key was used from there."""
        if (key, address) in self._seen:  # nearly always, and on the hot path
            return
        if len(self._seen) >= REMEMBERED:
            self._seen.clear()
        self._seen.add((key, address))
        name = key if isinstance(key, str) else key.decode("utf-8", "replace")
        self._new.append(_Use(name, limits.network_of(address), time.time()))

    async def write(self) -> None:
        if not self._new:
            return
        new, self._new = self._new, []
        try:
            await self._store.write(_keep, new)
        except Exception:
            self._new = [*new, *self._new][:REMEMBERED]
            raise


def _keep(connection: Connection, new: list[_Use]) -> None:
    names = {one.key_id for one in new}
    own = set(
        connection.scalars(select(keys.c.id).where(keys.c.id.in_(names), keys.c.run_id.is_(None)))
    )
    query = select(key_addresses.c.key_id, func.count().label("known"))
    of_keys = query.where(key_addresses.c.key_id.in_(own)).group_by(key_addresses.c.key_id)
    counted: dict[str, int] = {row.key_id: row.known for row in connection.execute(of_keys)}
    for one in new:
        if one.key_id in own and counted.get(one.key_id, 0) < MOST:
            upsert.claim(
                connection,
                key_addresses,
                key_id=one.key_id,
                address=one.address,
                first_at=one.at,
            )
