"""Removes what retention lets go, in the background and in small writes."""

from sqlalchemy import Connection, delete, select, tuple_

from tapeline.background import Background, Work
from tapeline.errors import ChangedMeanwhile, Unavailable
from tapeline.logs import Log
from tapeline.store import bulk
from tapeline.store.portions import batches
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.tape import pages, states, tapes
from tapeline.store.upkeep.pace import Pace
from tapeline.tape import tapes as all_tapes
from tapeline.tape.retention import old_backtests, planning, policy
from tapeline.tape.retention.planning import Plan
from tapeline.tape.retention.policy import Ago, Policy

log = Log(__name__)

EVERY, FIRST_AFTER, WITHIN = 3600.0, 60.0, 3600.0  # seconds
FEWEST, MOST = 500, 20_000  # events looked at for one write
BACKTESTS = 20  # deleted in one write
PARAMETERS = 200  # pages in one statement


def start(background: Background, store: Store) -> None:
    """In the background."""

    async def turn() -> None:
        await remove_due(store, store.clock.ago, work)

    work = background.loop(
        "retention", turn, every=EVERY, first_after=FIRST_AFTER, within=WITHIN, once=True
    )


async def remove_due(store: Store, ago: Ago, work: Work | None = None) -> int:
    """Remove everything that is due from all tapes; return how many bytes that freed."""
    freed = 0
    for tape, chosen in (await store.read(_tapes)).items():
        try:
            freed += await _remove(store, tape, chosen, ago, work)
        except Unavailable:
            raise
        except Exception as error:
            if not work:
                raise
            work.note(error, f"tape {tape}")  # the others are looked at anyway
    return freed


async def _remove(store: Store, tape: int, chosen: Policy, ago: Ago, work: Work | None) -> int:
    cutoffs, pace, freed = policy.cutoffs(chosen, ago), Pace(FEWEST, MOST), 0
    cutoffs.pop("samples", None)  # they are not on the tape
    if "backtests" in cutoffs:
        while await pace.step(
            store, old_backtests.delete_some, tape, cutoffs["backtests"], BACKTESTS
        ):
            pass
    try:
        while (plan := await store.read(planning.plan, tape, cutoffs, pace.size)) is not None:
            if not await pace.step(store, carry_out, plan):
                break
            freed += plan.freed
            if work:
                work.beat()
    except ChangedMeanwhile:
        return freed  # its model was deleted
    if freed:
        log.info("retention_removed", tape=tape, bytes=freed)
    return freed


def carry_out(connection: Connection, plan: Plan) -> bool:
    """Whether the plan was still true, and is done now."""
    if not all_tapes.hold(connection, plan.tape, alone=True):
        return False
    here = (states.c.tape == plan.tape, states.c.name == planning.NAME)
    found = connection.scalar(select(states.c.value).where(*here))
    if (None if found is None else bytes(found)) != plan.before:
        return False
    key = tuple_(pages.c.channel, pages.c.first)
    for some in batches(plan.dropped, PARAMETERS):
        connection.execute(delete(pages).where(pages.c.tape == plan.tape, key.in_(some)))
    rows = [(plan.tape, *row) for row in plan.written]
    bulk.insert(connection, pages, ("tape", "channel", "first", "content"), rows)
    progress = (plan.tape, planning.NAME, plan.after)
    columns = ("tape", "name", "value")
    bulk.insert(connection, states, columns, [progress], replace=("value",))
    all_tapes.release_bytes(connection, plan.tape, plan.freed)
    return True


def _tapes(connection: Connection) -> dict[int, Policy]:
    """The tapes of projects that do not keep everything."""
    chosen = policy.of_all(connection)
    query = select(tapes.c.no, models.c.project_id).join(models, models.c.id == tapes.c.model_id)
    found = connection.execute(query.where(models.c.project_id.in_(chosen)))
    return {row.no: chosen[row.project_id] for row in found}
