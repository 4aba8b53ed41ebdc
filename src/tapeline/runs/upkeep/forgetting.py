"""Takes the runs from hosts that an operator declared gone, and lets others go on with them.

Only the host that started a run can know that it is gone; here somebody says so who has looked. The
run ends with that reason, its key is refused from now on, and a live model starts anew elsewhere.
If the host comes back all the same, it finds that its runs have ended, and ends their processes.

Runs with a lease are left to `failing_over` and `giving_back`: whatever somebody says, a node that
is only cut off has them until their leases have run out, and that is soon.
"""

from pathlib import Path

from sqlalchemy import Connection, select, update

from tapeline.background import Background
from tapeline.runs import heartbeat
from tapeline.runs.described_hosts import DECLARED_GONE, Host
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired, last_seen
from tapeline.runs.supervision.collecting import NOTHING, Taken
from tapeline.runs.upkeep import taking_over
from tapeline.runs.upkeep.taking_over import TakingOver
from tapeline.store.rows import record
from tapeline.store.store import Store
from tapeline.store.tables.runs import hosts, runs
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.watchers import Watchers

EVERY = 2.0  # seconds


class Forgetting:
    def __init__(
        self,
        store: Store,
        appender: Appender,
        watchers: Watchers,
        background: Background,
        data: Path,
    ) -> None:
        self._store = store
        self._appender = appender
        TakingOver(
            store, watchers, background, data, "forgotten hosts", EVERY, self._find, self._take
        )

    async def _find(self) -> list[str]:
        return await self._store.read(_left_behind)

    def _take(self, connection: Connection, run_id: str) -> Taken:
        run = taking_over.held(connection, run_id)
        host = None if run is None else _forgotten(connection, run)
        if run is None or host is None or run.lease_until is not None:
            return NOTHING
        if not run.is_launched:
            _give_back(connection, run)
            return NOTHING
        why = (
            f"Its host {host.name} {DECLARED_GONE} {host.forgotten_by}."
            " Nobody knows what it did there in the end."
        )
        at = last_seen.of(connection, run, heartbeat.last_of(connection, host.name))

        def fill(made: RunUpdate) -> None:
            if run.kind == "live" and run.desired == "running":
                desired.succeed(connection, run)
            made.gave_up("crashed", why, at)

        return taking_over.end(connection, self._appender, run, fill)


def _left_behind(connection: Connection) -> list[str]:
    query = (
        select(runs.c.id)
        .join(hosts, hosts.c.name == runs.c.host)
        .where(
            hosts.c.forgotten_at.is_not(None),
            runs.c.ended_at.is_(None),
            runs.c.lease_until.is_(None),
        )
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
