"""The newest deployed run of each model: what is desired of it, and what became of it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.runs.run import DEPLOYED, Run
from tapeline.store.backends import common_time
from tapeline.store.portions import batches
from tapeline.store.rows import record
from tapeline.store.tables.runs import runs
from tapeline.watch.facts.fact import Fact, Gathering

PARAMETERS = 500  # of one statement: SQLite takes a bounded number


def gather(gathering: Gathering) -> Mapping[str, Run]:
    found: dict[str, Run] = {}
    for some in batches([one.id for one in gathering.wanted if one.kind == "model"], PARAMETERS):
        place = func.row_number().over(
            partition_by=runs.c.model_id, order_by=[runs.c.created_at.desc(), runs.c.id.desc()]
        )
        placed = (
            select(runs, place.label("place"))
            .where(runs.c.model_id.in_(some), runs.c.kind.in_(DEPLOYED))
            .subquery()
        )
        rows = gathering.connection.execute(select(placed).where(placed.c.place == 1))
        found |= {row.model_id: _run(gathering.connection, row) for row in rows}
    return found


def _run(connection: Connection, row: Any) -> Run:
    """Whatever lasts since its beginning or its end counts by the clock as it is set now."""
    run, put_right = record(Run, row), common_time.put_right
    return msgspec.structs.replace(
        run,
        created_at=put_right(connection, run.created_at),
        ended_at=None if run.ended_at is None else put_right(connection, run.ended_at),
    )


DEPLOYED_RUN = Fact(name="deployed_run", gather=gather, changed_by=frozenset({"runs"}))
