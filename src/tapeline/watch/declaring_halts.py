"""Declares a halt and ends it. Both only write what is desired; `carrying_out` does the rest."""

import time

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, insert, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import Conflict, Missing
from tapeline.ids import new_id
from tapeline.runs.run import DEPLOYED, Run
from tapeline.runs.supervision import desired
from tapeline.store import upsert
from tapeline.store.rows import record
from tapeline.store.tables.core import models, projects
from tapeline.store.tables.runs import runs
from tapeline.store.tables.tape import tapes
from tapeline.store.tables.watch import halted_models, halts
from tapeline.tape.reading import channels
from tapeline.watch import halt as records
from tapeline.watch.halt import ELSEWHERE, Halt


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
    of_scope = halts.c.project_id.is_not_distinct_from(project_id)
    connection.execute(update(halts).where(of_scope, halts.c.resumed_at.is_(None)).values(**ended))
    scope = f"project:{project_id}" if project_id else "server"
    audit.record(connection, actor, "resumed", scope, project_id=project_id, halt=known.id)
    return msgspec.structs.replace(known, **ended)


def start_again(connection: Connection, halt: Halt) -> int:
    """Everything that ran until the halt, if nobody has started it since. How many there are."""
    stopped = select(runs).join(halted_models, halted_models.c.run_id == runs.c.id)
    query = stopped.where(halted_models.c.halt_id == halt.id, halted_models.c.was_desired)
    found = [record(Run, row) for row in connection.execute(query)]
    return sum(desired.start_again(connection, run) for run in found)


def stop_what_runs(connection: Connection, halt: Halt) -> bool:
    """Whether anything was desired to run. Again and again while the halt is in force: a run may
    have been asked for on another server at the same moment."""
    of_scope: ColumnElement[bool] = runs.c.kind.in_(DEPLOYED)
    if halt.project_id is not None:
        own = select(models.c.id).where(models.c.project_id == halt.project_id)
        of_scope = and_(of_scope, runs.c.model_id.in_(own))
    going = select(runs.c.model_id, runs.c.id, runs.c.desired).where(
        of_scope, runs.c.ended_at.is_(None)
    )
    for row in connection.execute(going).all():
        _list(connection, halt, row.model_id, row.id, was_desired=row.desired == "running")
    because = f": {halt.why}" if halt.why else "."
    return desired.end_all(connection, of_scope, f"Halted by {halt.by}{because}")


def is_anything_left(connection: Connection, halt: Halt) -> bool:
    """Whether something of a halted scope is desired to run."""
    query = (
        select(runs.c.id)
        .join(models, models.c.id == runs.c.model_id)
        .where(runs.c.ended_at.is_(None), runs.c.desired == "running", runs.c.kind.in_(DEPLOYED))
        .limit(1)
    )
    if halt.project_id is not None:
        query = query.where(models.c.project_id == halt.project_id)
    return connection.execute(query).first() is not None


def _list_those_elsewhere(connection: Connection, halt: Halt) -> None:
    """Models that have reported, were never deployed here, and have not said that they stopped."""
    deployed = select(runs.c.model_id).where(runs.c.kind.in_(DEPLOYED))
    query = (
        select(models.c.id)
        .join(tapes, tapes.c.model_id == models.c.id)
        .where(tapes.c.seq > 0, models.c.id.not_in(deployed))
    )
    if halt.project_id is not None:
        query = query.where(models.c.project_id == halt.project_id)
    found = list(connection.scalars(query))
    lifecycles = channels.lifecycles(connection, found)
    for model_id in found:
        if lifecycles.get(model_id, {}).get("running") is not False:
            _list(connection, halt, model_id, ELSEWHERE, was_desired=False)


def _list(
    connection: Connection, halt: Halt, model_id: str, run_id: str, *, was_desired: bool
) -> None:
    upsert.claim(
        connection,
        halted_models,
        halt_id=halt.id,
        model_id=model_id,
        run_id=run_id,
        since=time.time(),
        was_desired=was_desired,
    )


def _alone(connection: Connection, project_id: str | None) -> None:
    """Two people press the button at once, on two servers: the second waits for the first."""
    if project_id is not None:
        query = select(projects.c.id).where(projects.c.id == project_id)
        connection.execute(query.with_for_update(key_share=True))
