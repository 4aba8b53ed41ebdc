"""Ends runs about which their host can say nothing any more, and lets another run go on instead.

Who knows that, and when, is for `forgetting` (an operator says so) and `failing_over` (a lease ran
out). One loop of the server that leads for each; one transaction for each run.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection, select, update

from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.runs import unreleased_copy
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.run import Run
from tapeline.runs.supervision import collecting
from tapeline.runs.supervision.collecting import Taken
from tapeline.store.rows import record
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.watchers import Watchers

log = Log(__name__)

WITHIN = 60.0  # seconds


class TakingOver:
    def __init__(
        self,
        store: Store,
        watchers: Watchers,
        background: Background,
        data: Path,
        name: str,
        every: float,
        find: Callable[[], Awaitable[Sequence[str]]],
        take: Callable[[Connection, str], Taken],
    ) -> None:
        """`find` names runs; `take` looks at one again, in the transaction that ends it. Of a copy
        of the data directory that was not released, nothing is taken."""
        self._store = store
        self._watchers = watchers
        self._data = data
        self._find, self._take = find, take
        self._work = background.loop(name, self.turn, every=every, within=WITHIN, once=True)

    async def turn(self) -> None:
        if await unreleased_copy.is_one(self._data):
            return
        for run_id in await self._find():
            try:
                taken = await self._store.write(self._take, run_id)
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001 - the others are taken all the same
                self._work.note(error, run_id)
                continue
            for one in taken.appended:
                self._watchers.publish(one.model_id, one.records)
            for news in taken.news:
                log.warning(news.event, **news.facts)


def held(connection: Connection, run_id: str) -> Run | None:
    """The run as it is until this transaction ends; None if it has ended.

    Its model first, as before a launch: of two servers, one waits for the other.
    """
    model = select(runs.c.model_id).where(runs.c.id == run_id).scalar_subquery()
    connection.execute(select(models.c.id).where(models.c.id == model).with_for_update())
    open_one = (runs.c.id == run_id, runs.c.ended_at.is_(None))
    row = connection.execute(select(runs).where(*open_one).with_for_update()).first()
    return None if row is None else record(Run, row)


def end(
    connection: Connection, appender: Appender, run: Run, fill: Callable[[RunUpdate], None]
) -> Taken:
    """What its processes still send is refused from now on."""
    if run.is_deployed:
        fence = models.c.fence + 1
        connection.execute(update(models).where(models.c.id == run.model_id).values(fence=fence))
    return collecting.write(connection, appender, run.id, fill)
