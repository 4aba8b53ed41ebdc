"""Searches logs for the patterns of rules, on the server that leads and beside the evaluation:
money, orders and life never wait for text. Tenants take turns; each has a moment in each turn, so
that the patterns of one delay those of another by that moment at most."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from time import monotonic

from sqlalchemy import Connection

from tapeline.accounts import tenants
from tapeline.background import Background, cause_of
from tapeline.errors import Unavailable
from tapeline.store.backends import common_time
from tapeline.thread_pools import in_thread, threads
from tapeline.watch.facts import of_lines
from tapeline.watch.facts.fact import Sources
from tapeline.watch.heavy.line_searches import RESTS, Search

EVERY, WITHIN = 1.0, 60.0  # seconds
EACH = 1.0  # seconds of a turn that the patterns of one tenant have
TOGETHER = 20  # rules in one question


class Searching:
    def __init__(self, sources: Sources, found: Callable[[], None], background: Background) -> None:
        self._sources, self._store = sources, sources.store
        self._found = found
        self._thread = threads(1, "patterns")
        self._work = background.loop("patterns", self.turn, every=EVERY, within=WITHIN, once=True)

    def wake(self) -> None:
        """There may be new lines."""
        self._work.wake()

    def close(self) -> None:
        self._thread.shutdown(wait=False)

    async def turn(self) -> None:
        now = await self._store.read(common_time.now)
        waiting = self._sources.searches.waiting(now)
        if not waiting:
            return
        failure: Exception | None = None
        for some in (await self._store.read(_by_tenant, waiting)).values():
            try:
                await self._search(some, now)
            except Exception as error:  # noqa: BLE001 - the others have their turn all the same
                failure = error
            self._work.beat()
            self._found()
        if failure is not None:
            raise failure

    async def _search(self, some: Iterable[Search], now: float) -> None:
        """For one tenant. What there is no time for waits for the next turn, before the rest."""
        ends, left, together = monotonic() + EACH, deque(some), TOGETHER
        while left and (seconds := ends - monotonic()) > 0:
            asked = list(islice(left, together))
            try:
                jobs = await self._store.read(of_lines.read, asked)
                await in_thread(self._thread, of_lines.search, self._sources, jobs, seconds, now)
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001 - about one of them; the others go on
                if len(asked) > 1:
                    together = 1  # to learn whose it is
                    continue
                self._work.note(error, f"rule {asked[0].key[0]}")
                why = f"The lines could not be searched: {cause_of(error)}"
                self._sources.searches.failed(asked[0].key, why, now + RESTS)
                left.popleft()
            else:
                for _ in jobs:
                    left.popleft()


def _by_tenant(connection: Connection, some: Iterable[Search]) -> dict[str, list[Search]]:
    """Of models, not of who made the rule: a project's rules are about its own models."""
    by_project: dict[str, list[Search]] = {}
    for one in some:
        by_project.setdefault(one.wish.project_id, []).append(one)
    found: dict[str, list[Search]] = {}
    for project, tenant in tenants.of_projects(connection, by_project).items():
        found.setdefault(tenant, []).extend(by_project[project])
    return {tenant: sorted(own, key=lambda one: one.turn) for tenant, own in found.items()}
