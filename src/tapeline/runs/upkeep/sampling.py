"""Samples the memory, processor and disk use of each run, and keeps the samples for some days."""

import asyncio
import time

from sqlalchemy import Connection, delete, func, insert, select

from tapeline.background import Background
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine, Sights
from tapeline.runs.run import Run
from tapeline.runs.sandbox.cgroups import Usage
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs, samples
from tapeline.tape.retention import policy

EVERY, WITHIN = 15.0, 60.0  # seconds
CLEAN_EVERY = 3600.0
NOTHING = Sights({}, {}, {})


class Sampling:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        background: Background,
        *,
        days: int,
        once: bool = False,
    ) -> None:
        self._store = store
        self._engine = engine
        self._days = days
        self._before: dict[str, tuple[float, Usage]] = {}
        self._cleaned = -CLEAN_EVERY
        self._work = background.loop(
            "sampling", self._sample, every=EVERY, within=WITHIN, once=once
        )

    async def _sample(self) -> None:
        found = await self._store.read(run_records.launched_on, *self._engine.hosts())
        rows = await asyncio.to_thread(self._look, found)
        now = time.monotonic()
        if rows or now - self._cleaned > CLEAN_EVERY:
            await self._store.write(_keep, rows, self._store.clock.ago(self._days * 86_400.0))
        if now - self._cleaned > CLEAN_EVERY:
            await self._store.write(forget_by_project, self._store.clock.ago)
            self._cleaned = now

    def _look(self, found: list[Run]) -> list[dict[str, object]]:
        sights = self._engine.look(found, closely=True) if found else NOTHING
        for run_id, error in sights.unknown.items():
            self._work.note(error, f"run {run_id}")  # the others are still sampled
        stamp, now, rows, seen = time.time(), time.monotonic(), [], {}
        for run_id, sight in sights.of.items():
            usage = sight.usage
            if usage is None:
                continue
            seen[run_id] = (now, usage)
            at, before = self._before.get(run_id, (now, usage))
            # A restart resets the counter.
            used = max(0.0, usage.cpu_seconds - before.cpu_seconds)
            cpu = used / (now - at) if now > at else 0.0
            rows.append(
                {
                    "run_id": run_id,
                    "at": stamp,
                    "memory": usage.memory_bytes,
                    "cpu": cpu,
                    "disk": usage.disk_bytes,
                    "disk_limit": usage.disk_limit,
                }
            )
        self._before = seen
        return rows


def newest(connection: Connection, run_id: str) -> tuple[int, float] | None:
    """Bytes of memory and cores, as last seen."""
    query = select(samples).where(samples.c.run_id == run_id).order_by(samples.c.at.desc())
    row = connection.execute(query.limit(1)).first()
    return None if row is None else (row.memory, row.cpu)


def newest_of(connection: Connection, run_ids: list[str]) -> dict[str, tuple[int, float]]:
    """The same for several runs, in one query."""
    last = (
        select(samples.c.run_id, func.max(samples.c.at).label("at"))
        .where(samples.c.run_id.in_(run_ids))
        .group_by(samples.c.run_id)
        .subquery()
    )
    query = select(samples).join(
        last, (last.c.run_id == samples.c.run_id) & (last.c.at == samples.c.at)
    )
    return {row.run_id: (row.memory, row.cpu) for row in connection.execute(query)}


def of_run(connection: Connection, run_id: str) -> list[tuple[float, int, float]]:
    query = select(samples).where(samples.c.run_id == run_id).order_by(samples.c.at)
    return [(row.at, row.memory, row.cpu) for row in connection.execute(query)]


def _keep(connection: Connection, rows: list[dict[str, object]], oldest: float) -> None:
    # A model may have been deleted since we looked, and its runs with it.
    there = set(
        connection.scalars(select(runs.c.id).where(runs.c.id.in_([row["run_id"] for row in rows])))
    )
    kept = [row for row in rows if row["run_id"] in there]
    if kept:
        connection.execute(insert(samples), kept)
    connection.execute(delete(samples).where(samples.c.at < oldest))


def forget_by_project(connection: Connection, ago: policy.Ago) -> None:
    """Delete what projects want to keep for less time than the server does."""
    for project_id, chosen in policy.of_all(connection).items():
        before = policy.cutoffs(chosen, ago).get("samples")
        if before is not None:
            own = select(models.c.id).where(models.c.project_id == project_id)
            of = select(runs.c.id).where(runs.c.model_id.in_(own))
            connection.execute(
                delete(samples).where(samples.c.at < before, samples.c.run_id.in_(of))
            )
