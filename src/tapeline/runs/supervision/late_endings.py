"""What is left of a run that was lost with its host, when that host is back: its end, its output.

Its record says when it was last seen. Its shim knows better: what it printed, when it ended, or
that it went on until now. All of that is stored before its files there are removed.
"""

import asyncio

from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine
from tapeline.runs.journals import late
from tapeline.runs.supervision.collector import Collector
from tapeline.store.store import Store


async def are_stored(
    store: Store, engine: Engine, collector: Collector, host: str, run_id: str
) -> bool:
    """Whether nothing is left there that is not stored; otherwise, it has to be asked again. Of
    nearly every run the end is known."""
    run = await store.read(run_records.find, run_id)
    if run is None or run.host != host or not late.may_have_more(run):
        return True
    found = await asyncio.to_thread(lambda: engine.look([run], closely=True))
    if error := found.unknown.get(run.id):
        raise error
    sight = found.of.get(run.id)
    if sight is not None and sight.alive:
        # Killed, because another may have its place by now.
        await asyncio.to_thread(lambda: engine.stop(run, now=True))
        return False
    await collector.collect_late(run.id, None if sight is None else sight.last_seen)
    return True
