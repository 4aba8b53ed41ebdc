"""Searches logs for the patterns of rules, on the server that leads and beside the evaluation:
money, orders and life never wait for text. Tenants take turns; each has a moment in each turn, so
that the patterns of one delay those of another by that moment at most."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from time import monotonic

from sqlalchemy import Connection

from tapeline.accounts import tenants
from tapeline.background import Background
from tapeline.store.backends import common_time
from tapeline.watch.facts import of_lines
from tapeline.watch.facts.fact import Sources
from tapeline.watch.heavy.line_searches import Search
from tapeline.watch.heavy.process import NoHeavyAnswer

EVERY, WITHIN = 1.0, 60.0  # seconds
EACH = 1.0  # seconds of a turn that the patterns of one tenant have
TOGETHER = 20  # rules in one question


class Searching:
    def __init__(self, sources: Sources, found: Callable[[], None], background: Background) -> None:
        self._sources, self._store = sources, sources.store
        self._found = found
        self._work = background.loop("patterns", self.turn, every=EVERY, within=WITHIN, once=True)

    def wake(self) -> None:
        """There may be new lines."""
        self._work.wake()

    async def turn(self) -> None:
        now = await self._store.read(common_time.now)
        waiting = self._sources.searches.waiting(now)
        if not waiting:
            return
        failure: NoHeavyAnswer | None = None
        for some in (await self._store.read(_by_tenant, waiting)).values():
            try:
                await self._search(some, now)
            except NoHeavyAnswer as error:  # the others have their turn all the same
                failure = error
            self._work.beat()
            self._found()
        if failure is not None:
            raise failure

    async def _search(self, some: Iterable[Search], now: float) -> None:
        """For one tenant. What there is no time for waits for the next turn, before the rest."""
        ends, left = monotonic() + EACH, deque(some)
        while left and (seconds := ends - monotonic()) > 0:
            jobs = await self._store.read(of_lines.read, list(islice(left, TOGETHER)))
            await asyncio.to_thread(of_lines.search, self._sources, jobs, seconds, now)
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
