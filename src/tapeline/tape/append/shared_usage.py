"""Servers on one database tell each other how much of their quotas models and keys have used.

Events wait for none of this: each server counts in memory, and once a second tells the others what
came in since, in a notice of the database. So a quota can be exceeded by what arrives elsewhere
within two seconds, and by a twentieth of it for each further server. A notice that is lost, because
a server is cut off, is counted on the server that sent it alone.
"""

from collections import deque
from collections.abc import Iterable

from sqlalchemy import Connection

from tapeline.background import Background
from tapeline.store.backends import announcing
from tapeline.store.store import Store
from tapeline.tape.append.quotas import Meter, Quotas

EVERY, WITHIN = 1.0, 15.0  # seconds
PREFIX, MARK = "used", ":"


class SharedUsage:
    def __init__(self, store: Store, quotas: Quotas, sender: str, background: Background) -> None:
        self._store = store
        self._sender = sender
        self._meters: dict[str, Meter] = {
            "tape": quotas.pushed,
            "key": quotas.pushed_by_key,
            "model": quotas.captured,
        }
        self._heard: deque[str] = deque()
        """Added to by the thread that listens, taken from by the loop, in which all is counted."""
        background.loop("usage", self.turn, every=EVERY, within=WITHIN)

    def hear(self, names: Iterable[str]) -> None:
        """From any thread: what another server announced, of whatever kind."""
        self._heard.extend(one for one in names if one.startswith(PREFIX + MARK))

    async def turn(self) -> None:
        while self._heard:
            self._count(self._heard.popleft())
        news = [
            MARK.join((PREFIX, kind, str(owner), str(size)))
            for kind, meter in self._meters.items()
            for owner, size in meter.untold().items()
        ]
        if news:
            await self._store.write(self._tell, news)

    def _tell(self, connection: Connection, news: list[str]) -> None:
        announcing.announce(connection, self._sender, news)

    def _count(self, name: str) -> None:
        _, kind, owner, size = name.split(MARK)
        meter = self._meters.get(kind)  # a newer server may count more
        if meter is not None:
            meter.add_elsewhere(int(owner) if kind == "tape" else owner, int(size))
