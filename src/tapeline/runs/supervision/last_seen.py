"""When a run was last known to be alive, if its shim could not record its end.

It was killed with its shim, or its machine is gone. Somebody looks seconds or days later: the run
ended then, not now.
"""

import asyncio
import time

from sqlalchemy import Connection, func, select

from tapeline.runs.engines.engine import Engine
from tapeline.runs.run import Run
from tapeline.store.store import Store
from tapeline.store.tables.runs import samples


async def find(store: Store, engine: Engine, run: Run) -> float:
    """Of a launch on this host that is gone. Its samples say less: its control group outlives it,
    and is sampled when the server is back."""
    found = await asyncio.to_thread(lambda: engine.look([run], closely=True))
    if error := found.unknown.get(run.id):
        raise error
    here = found.of[run.id].last_seen
    return await store.read(of, run) if here is None else min(time.time(), here)


def of(connection: Connection, run: Run, seen: float | None = None) -> float:
    """The latest of when its host was seen, of its samples, and of its start."""
    sampled = connection.scalar(select(func.max(samples.c.at)).where(samples.c.run_id == run.id))
    known = [one for one in (seen, sampled, run.started_at) if one is not None]
    now = time.time()
    return min(now, max(known)) if known else now
