"""Rows of leased runs for tests: launched by the real transaction, on a node without processes."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from tapeline.background import Background
from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs import leases
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Job
from tapeline.runs.run import Kind, Run
from tapeline.runs.supervision import launching
from tapeline.runs.upkeep.failing_over import FailingOver, Unsure
from tapeline.store.rows import record
from tapeline.store.tables.runs import runs, versions
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels
from tapeline.tape.tapes import open_tape
from tests.conftest import Cast, Service
from tests.runs.supervision.histories import a_run
from tests.waiting import wait_for


class Rows:
    """Runs of one model. Of backtests, any number may live at once."""

    def __init__(self, service: Service, cast: Cast, model: str) -> None:
        self.store, self.service, self.cast, self.model = service.store, service, cast, model
        self.version = Version(
            id=f"v-{model}", model_id=model, number=1, description="", archive="a", size=1,
            manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
            created_at=0.0, created_by="ada",
        )  # fmt: skip
        self.store.write_now(self._insert, versions, msgspec.to_builtins(self.version))

    def _insert(self, connection: Connection, table: Any, values: dict[str, Any]) -> None:
        connection.execute(insert(table).values(values))

    def add(self, name: str, lease: float | None, *, kind: Kind = "backtest", **more: Any) -> Run:
        made = a_run(f"{name}-{self.model}", model=self.model, kind=kind, host="n1", **more)
        made = msgspec.structs.replace(made, version_id=self.version.id)
        self.store.write_now(self._insert, runs, msgspec.structs.asdict(made))
        job = Job(made, self.version, self.cast.project_id, 1)
        raised = self.store.write_now(
            launching.raise_fence, self.service.services.cipher, job, "n1", "boxed", lease
        )
        assert raised is not None
        return raised[0]

    def change(self, run: Run, **values: Any) -> None:
        def job(connection: Connection) -> None:
            connection.execute(update(runs).where(runs.c.id == run.id).values(**values))

        self.store.write_now(job)

    def let_lapse(self, run: Run) -> Run:
        """As if its node had been silent for a minute."""
        self.change(run, lease_until=(run.lease_until or 0.0) - 120.0)
        return self.get(run)

    def get(self, run: Run) -> Run:
        found = self.store.read_now(run_records.find, run.id)
        assert found is not None
        return found

    def all(self) -> list[Run]:
        """The oldest first."""

        def job(connection: Connection) -> list[Run]:
            query = select(runs).where(runs.c.model_id == self.model)
            rows = connection.execute(query.order_by(runs.c.created_at))
            return [record(Run, row) for row in rows]

        return self.store.read_now(job)

    def until(self, run: Run) -> float | None:
        return self.get(run).lease_until

    def renew(self, *found: Run, host: str = "n1", seconds: float = 6.0) -> set[str]:
        fences = {one.id: one.fence or 0 for one in found}
        return self.store.write_now(leases.renew, host, fences, seconds)

    def expired(self) -> set[str]:
        found = self.store.read_now(leases.expired)
        return {one.run_id for one in found if one.run_id.endswith(self.model)}


def fail_over(rows: Rows) -> None:
    """One turn, without the wait for a steady clock. A slow machine may be unsure at first."""
    loop = failing_over_with(rows, seconds=-leases.MARGIN)

    def turn() -> bool:
        with suppress(Unsure):
            asyncio.run(loop.taking_over.turn())
        return loop._time.is_steady

    wait_for(turn)


def failing_over_with(
    rows: Rows, *, seconds: float, data: Path | None = None, background: Background | None = None
) -> FailingOver:
    parts = rows.service.services
    return FailingOver(
        rows.store,
        parts.inbox.appender,
        parts.watchers,
        background or Background(),
        data or parts.settings.data,
        seconds,
    )


def bodies(rows: Rows, kind: kinds.Kind) -> list[dict[str, Any]]:
    return [msgspec.json.decode(one.body) for one in records(rows, kind)]


def records(rows: Rows, kind: kinds.Kind) -> list[StoredEvent]:
    """The newest last."""

    def job(connection: Connection) -> list[StoredEvent]:
        tape = open_tape(connection, rows.model)
        # Each backtest has a channel of its own; there is one.
        channel = kinds.CHANNELS_OF_BACKTESTS + 1 if kind is kinds.BACKTEST_LOG else kind.channel
        found = channels.newest(connection, tape, channel, before=None, limit=1000)
        return list(reversed(found.records))

    return rows.store.write_now(job)
