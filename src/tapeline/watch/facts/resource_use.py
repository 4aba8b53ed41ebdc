"""What a model's run uses of what its plan allows, as last sampled."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import func, select

from tapeline.runs.run import DEPLOYED
from tapeline.store.portions import batches
from tapeline.store.tables.runs import runs, samples
from tapeline.watch.facts.fact import Fact, Gathering

EVERY = 15.0  # seconds: as often as samples are taken
PARAMETERS = 500  # of one statement: SQLite takes a bounded number
MB = 1024 * 1024


class Use(msgspec.Struct, frozen=True):
    at: float
    memory: int
    """Bytes."""
    allowed_memory: int
    disk: int | None
    """Bytes; None where nobody counted."""
    allowed_disk: int | None


def gather(gathering: Gathering) -> Mapping[str, Use]:
    found: dict[str, Use] = {}
    for some in batches([one.id for one in gathering.wanted if one.kind == "model"], PARAMETERS):
        last = (
            select(samples.c.run_id, func.max(samples.c.at).label("at"))
            .join(runs, runs.c.id == samples.c.run_id)
            .where(runs.c.model_id.in_(some), runs.c.kind.in_(DEPLOYED), runs.c.ended_at.is_(None))
            .group_by(samples.c.run_id)
            .subquery()
        )
        query = (
            select(runs.c.model_id, runs.c.memory_mb, samples)
            .join(samples, samples.c.run_id == runs.c.id)
            .join(last, (last.c.run_id == samples.c.run_id) & (last.c.at == samples.c.at))
        )
        for row in gathering.connection.execute(query):
            allowed = row.memory_mb * MB
            found[row.model_id] = Use(row.at, row.memory, allowed, row.disk, row.disk_limit)
    return found


RESOURCE_USE = Fact(name="resource_use", gather=gather, changed_by=frozenset({"runs"}), every=EVERY)
