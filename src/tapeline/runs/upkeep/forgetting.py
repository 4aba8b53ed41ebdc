"""Takes the runs from hosts that an operator declared gone, and lets others go on with them.

Only the host that started a run can know that it is gone; here somebody says so who has looked. The
run ends with that reason, its key is refused from now on, and a live model starts anew elsewhere.
If the host comes back all the same, it finds that its runs have ended, and ends their processes.
"""

from sqlalchemy import Connection, select, update

from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.runs import heartbeat
from tapeline.runs import run as run_records
from tapeline.runs.described_hosts import DECLARED_GONE, Host
from tapeline.runs.run import Run
from tapeline.runs.supervision import collecting, desired, last_seen
from tapeline.runs.supervision.collecting import NOTHING, Taken
from tapeline.store.rows import record
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import hosts, runs
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.watchers import Watchers

log = Log(__name__)

EVERY, WITHIN = 2.0, 60.0  # seconds


class Forgetting:
    def __init__(
        self, store: Store, appender: Appender, watchers: Watchers, background: Background
    ) -> None:
        self._store = store
        self._appender = appender
        self._watchers = watchers
        self._work = background.loop(
            "forgotten hosts", self.turn, every=EVERY, within=WITHIN, once=True
        )

    async def turn(self) -> None:
        for run_id in await self._store.read(_left_behind):
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

    def _take(self, connection: Connection, run_id: str) -> Taken:
        run = run_records.find(connection, run_id)
        host = None if run is None else _forgotten(connection, run)
        if run is None or host is None or run.ended_at is not None:
            return NOTHING
        if not run.is_launched:
            _give_back(connection, run)
            return NOTHING
        if run.is_deployed:  # its key is that of an older start from now on
            fence = models.c.fence + 1
            connection.execute(
                update(models).where(models.c.id == run.model_id).values(fence=fence)
            )
        why = (
            f"Its host {host.name} {DECLARED_GONE} {host.forgotten_by}."
            " Nobody knows what it did there in the end."
        )
        at = last_seen.of(connection, run, heartbeat.last_of(connection, host.name))
        taken = collecting.write(
            connection,
            self._appender,
            run_id,
            lambda made: made.gave_up("crashed", why, at),
        )
        if run.kind == "live" and run.desired == "running":
            desired.succeed(connection, run)
        return taken


def _left_behind(connection: Connection) -> list[str]:
    query = (
        select(runs.c.id)
        .join(hosts, hosts.c.name == runs.c.host)
        .where(hosts.c.forgotten_at.is_not(None), runs.c.ended_at.is_(None))
        .order_by(runs.c.created_at, runs.c.id)
    )
    return list(connection.scalars(query))


def _forgotten(connection: Connection, run: Run) -> Host | None:
    """Its host, unless that has come back in the meantime."""
    query = select(hosts).where(hosts.c.name == run.host, hosts.c.forgotten_at.is_not(None))
    row = connection.execute(query.with_for_update(read=True)).first()
    return None if row is None else record(Host, row)


def _give_back(connection: Connection, run: Run) -> None:
    """It was only being prepared there: any host may take it."""
    connection.execute(
        update(runs)
        .where(runs.c.id == run.id, runs.c.fence.is_(None), runs.c.ended_at.is_(None))
        .values(host=None, state="pending")
    )
