"""Declares a halt and ends it. Both only write what is desired; `carrying_out` does the rest."""

import time

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import Conflict, Missing
from tapeline.ids import new_id
from tapeline.runs.run import DEPLOYED, Run
from tapeline.runs.supervision import desired
from tapeline.store import bulk
from tapeline.store.rows import record
from tapeline.store.tables.core import models, projects
from tapeline.store.tables.runs import runs
from tapeline.store.tables.tape import tapes
from tapeline.store.tables.watch import halted_models, halts
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.halts import halt as records
from tapeline.watch.halts.halt import ELSEWHERE, Halt

NOT_LIVE = {one.number for one in kinds.OF_BACKTESTS | kinds.OF_SERVERS}


class Halted(Conflict):
    """This project is halted: nothing of it starts until somebody resumes it."""


class NotHalted(Missing):
    """Nothing is halted here, so there is nothing to resume."""


def refuse_if_halted(connection: Connection, project_id: str) -> None:
    halt = records.on(connection, project_id)
    if halt is None:
        return
    what = "This project" if halt.project_id else "Everything on this server"
    because = f": {halt.why.rstrip('.')}" if halt.why else ""
    raise Halted(
        f"{what} was halted by {halt.by}{because}. Nothing starts until somebody resumes it."
    )


def declare(connection: Connection, actor: Actor, project_id: str | None, why: str) -> Halt:
    """Stop everything of a project, or everything. A second call while it is in force finds the
    first one: a button that is pressed twice does nothing wrong."""
    _alone(connection, project_id)
    if known := records.own(connection, project_id):
        stop_what_runs(connection, known)
        return known
    made = Halt(id=new_id(), project_id=project_id, why=why, at=time.time(), by=actor.label)
    connection.execute(insert(halts).values(msgspec.structs.asdict(made)))
    stop_what_runs(connection, made)
    _list_those_elsewhere(connection, made)
    scope = f"project:{project_id}" if project_id else "server"
    audit.record(connection, actor, "halted", scope, project_id=project_id, halt=made.id, why=why)
    return made


def resume(connection: Connection, actor: Actor, project_id: str | None) -> Halt:
    """Let models be started again. Nothing starts by itself."""
    _alone(connection, project_id)
    known = records.own(connection, project_id)
    if known is None:
        above = records.on(connection, project_id)
        if above is not None:
            raise Halted("Everything on this server is halted; an operator resumes it.")
        raise NotHalted
    ended = {"resumed_at": time.time(), "resumed_by": actor.label}
    connection.execute(update(halts).where(halts.c.id == known.id).values(**ended))
    scope = f"project:{project_id}" if project_id else "server"
    audit.record(connection, actor, "resumed", scope, project_id=project_id, halt=known.id)
    return msgspec.structs.replace(known, **ended)


def start_again(connection: Connection, halt: Halt) -> int:
    """Everything that ran until the halt, if nobody has started it since, and its project is not
    halted itself. How many there are."""
    still = select(halts.c.project_id).where(
        halts.c.resumed_at.is_(None), halts.c.project_id.is_not(None)
    )
    query = (
        select(runs)
        .join(halted_models, halted_models.c.run_id == runs.c.id)
        .join(models, models.c.id == runs.c.model_id)
        .where(
            halted_models.c.halt_id == halt.id,
            halted_models.c.was_desired,
            models.c.project_id.not_in(still),
        )
    )
    found = [record(Run, row) for row in connection.execute(query)]
    return sum(desired.start_again(connection, run) for run in found)


def stop_what_runs(connection: Connection, halt: Halt) -> None:
    """Again and again while the halt is in force: a run may have been asked for on another server
    at the same moment."""
    of_scope: ColumnElement[bool] = runs.c.kind.in_(DEPLOYED)
    if halt.project_id is not None:
        own = select(models.c.id).where(models.c.project_id == halt.project_id)
        of_scope = and_(of_scope, runs.c.model_id.in_(own))
    going = select(runs.c.model_id, runs.c.id, runs.c.desired).where(
        of_scope, runs.c.ended_at.is_(None)
    )
    found = connection.execute(going).all()
    list_models(
        connection, halt, [(row.model_id, row.id, row.desired == "running") for row in found]
    )
    because = f": {halt.why}" if halt.why else "."
    desired.end_all(connection, of_scope, f"Halted by {halt.by}{because}")


def unenforced(connection: Connection) -> list[Halt]:
    """Halts in force of which something is desired to run all the same. It looks at what runs, not
    at every halt: there may be thousands."""
    covers = or_(halts.c.project_id.is_(None), halts.c.project_id == models.c.project_id)
    query = (
        select(halts)
        .select_from(runs)
        .join(models, models.c.id == runs.c.model_id)
        .join(halts, covers)
        .where(
            runs.c.ended_at.is_(None),
            runs.c.desired == "running",
            runs.c.kind.in_(DEPLOYED),
            halts.c.resumed_at.is_(None),
            halts.c.host.is_(None),
        )
        .distinct()
    )
    return [record(Halt, row) for row in connection.execute(query)]


def _list_those_elsewhere(connection: Connection, halt: Halt) -> None:
    """Models that have reported while they were live, were never deployed here, and have not said
    that they stopped."""
    deployed = select(runs.c.model_id).where(runs.c.kind.in_(DEPLOYED))
    query = (
        select(models.c.id, tapes.c.counts)
        .join(tapes, tapes.c.model_id == models.c.id)
        .where(tapes.c.seq > 0, models.c.id.not_in(deployed))
    )
    if halt.project_id is not None:
        query = query.where(models.c.project_id == halt.project_id)
    found = [row.id for row in connection.execute(query) if _has_been_live(row.counts)]
    lifecycles = channels.lifecycles(connection, found)
    going = [one for one in found if lifecycles.get(one, {}).get("running") is not False]
    list_models(connection, halt, [(one, ELSEWHERE, False) for one in going])


def _has_been_live(counts: bytes) -> bool:
    """Records of backtests, and those that a server made, are of nothing that could be stopped."""
    return bool(msgspec.json.decode(counts, type=dict[int, int]).keys() - NOT_LIVE)


def list_models(connection: Connection, halt: Halt, some: list[tuple[str, str, bool]]) -> None:
    """Models with their runs, and whether these were desired to run. Those listed before stay as
    they are. Few statements, however many: the writer is everybody's."""
    now = time.time()
    rows = [(halt.id, model_id, run_id, now, desired) for model_id, run_id, desired in some]
    columns = ("halt_id", "model_id", "run_id", "since", "was_desired")
    bulk.insert(connection, halted_models, columns, rows, keep=True)


def _alone(connection: Connection, project_id: str | None) -> None:
    """Two people press the button at once, on two servers: the second waits for the first."""
    if project_id is not None:
        query = select(projects.c.id).where(projects.c.id == project_id)
        connection.execute(query.with_for_update(key_share=True))
