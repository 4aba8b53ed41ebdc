"""Records what people want to run. Nothing is started here: the supervisor finds it and acts."""

import time
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, or_, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import OPERATOR, Actor
from tapeline.errors import NoSuchRun, RunHasEnded
from tapeline.ids import new_id
from tapeline.models.models import Model
from tapeline.models.plans import Plan
from tapeline.models.versions import Version
from tapeline.runs.run import DEPLOYED, Run
from tapeline.runs.supervision import schedule as schedules
from tapeline.store.backends import common_time
from tapeline.store.rows import record
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs
from tapeline.store.tables.tape import backtests
from tapeline.tape.tapes import open_tape

A_MOMENT = 1e-5  # seconds; a float of today's epoch still tells them apart


def go_live(
    connection: Connection,
    actor: Actor,
    model: Model,
    version: Version,
    plan: Plan,
    python_version: str,
    *,
    schedule: str | None,
) -> Run:
    """Run this version from now on, instead of the model's current run."""
    now = _moment(connection, model.id)
    made = Run(
        kind="live" if schedule is None else "screener",
        schedule=schedule,
        due_at=None
        if schedule is None
        else schedules.next_after(schedule, common_time.now(connection)),
        **_common(actor, model, version, plan, python_version, now),
    )
    # Queued runs never start; the running one goes on until this one is ready.
    end_all(
        connection,
        and_(runs.c.model_id == model.id, runs.c.kind.in_(DEPLOYED), runs.c.fence.is_(None)),
        f"Run {made.id} took its place before it started.",
    )
    _insert(connection, made)
    audit.record(
        connection,
        actor,
        "model_deployed",
        f"model:{model.id}",
        project_id=model.project_id,
        run=made.id,
        version=version.number,
    )
    return made


def backtest(
    connection: Connection,
    actor: Actor,
    model: Model,
    version: Version,
    plan: Plan,
    python_version: str,
    *,
    arguments: dict[str, Any],
    description: str,
) -> Run:
    """Queue one run of this version with these arguments."""
    now = _moment(connection, model.id)
    made = Run(
        kind="backtest",
        backtest_id=new_id(),
        arguments=arguments,
        description=description,
        **_common(actor, model, version, plan, python_version, now),
    )
    _insert(connection, made)
    # It is listed among the model's backtests from now on, long before its first line.
    connection.execute(
        insert(backtests).values(
            tape=open_tape(connection, model.id),
            id=made.backtest_id,
            created_at=now,
            description=description or None,
        )
    )
    return made


def stop(connection: Connection, actor: Actor, model: Model) -> None:
    """Stop the deployed run of a model. Its backtests go on."""
    end_all(
        connection,
        and_(runs.c.model_id == model.id, runs.c.kind.in_(DEPLOYED)),
        f"Stopped by {actor.label}.",
    )
    audit.record(
        connection, actor, "model_stopped", f"model:{model.id}", project_id=model.project_id
    )


def stop_here(connection: Connection, lock_name: str, why: str) -> bool:
    """Record that a model or a backtest was stopped on its machine, while the store did not take
    it. False if that was recorded before, or it is unknown here."""
    which = or_(
        and_(runs.c.model_id == lock_name, runs.c.kind.in_(DEPLOYED)),
        and_(runs.c.id == lock_name, runs.c.kind.not_in(DEPLOYED)),
    )
    owner = select(models).join(runs, runs.c.model_id == models.c.id).where(which)
    model = connection.execute(owner).first()
    if model is None or not end_all(connection, which, f"Stopped on the machine itself: {why}"):
        return False
    is_model = model.id == lock_name
    audit.record(
        connection,
        OPERATOR,
        "model_stopped" if is_model else "run_stopped",
        f"{'model' if is_model else 'run'}:{lock_name}",
        project_id=model.project_id,
        model=model.id,
        why=why,
    )
    return True


def stop_on(connection: Connection, host: str, why: str) -> bool:
    """Record that everything was stopped on this host, and let others have what it never started.
    Whether that changed anything."""
    of_host = (runs.c.host == host, runs.c.ended_at.is_(None), runs.c.desired == "running")
    begun = connection.execute(select(runs).where(*of_host, runs.c.launches > 0)).all()
    for row in begun:
        stop_here(connection, record(Run, row).lock_name, why)
    never = update(runs).where(*of_host, runs.c.launches == 0).values(host=None, state="pending")
    given_back = connection.execute(never).rowcount
    return bool(begun) or given_back > 0


def stop_run(connection: Connection, actor: Actor, model: Model, run_id: str) -> None:
    """End one run, such as a backtest that takes too long."""
    if get(connection, model.id, run_id).ended_at is not None:
        raise RunHasEnded
    end_all(connection, runs.c.id == run_id, f"Stopped by {actor.label}.")
    audit.record(
        connection,
        actor,
        "run_stopped",
        f"run:{run_id}",
        project_id=model.project_id,
        model=model.id,
    )


def replace(connection: Connection, run: Run, successor: Run) -> None:
    """Its successor is ready: this one ends."""
    end_all(connection, runs.c.id == run.id, f"Run {successor.id} took its place.")


def next_of_schedule(connection: Connection, ended: Run, now: float) -> None:
    """The run for the next tick. Missed ticks are not made up for."""
    if ended.schedule is None or ended.desired == "stopped":
        return
    newer = select(runs.c.id).where(
        runs.c.model_id == ended.model_id,
        runs.c.kind.in_(DEPLOYED),
        runs.c.ended_at.is_(None),
        runs.c.id != ended.id,
    )
    if connection.execute(newer).first() is not None:
        return  # a newer deployment has its own schedule
    _insert(connection, _again(connection, ended, schedules.next_after(ended.schedule, now)))


def succeed(connection: Connection, run: Run, why: str = "") -> str:
    """Run the same again, on any host that takes it; what runs now goes on until that is ready.
    A newer run that is desired already is enough. The run that goes on."""
    newer = _newer(connection, run, runs.c.ended_at.is_(None), runs.c.desired == "running")
    if newer is not None:
        return newer
    made = msgspec.structs.replace(_again(connection, run, None), reason=why)
    _insert(connection, made)
    return made.id


def test_again(connection: Connection, run: Run, why: str) -> str:
    """Queue a backtest whose run ended without a result, with the same arguments and the same id.
    The new run."""
    kept = {name: getattr(run, name) for name in ("backtest_id", "arguments", "description")}
    made = msgspec.structs.replace(_again(connection, run, None), reason=why, **kept)
    _insert(connection, made)
    return made.id


def starts_of(connection: Connection, run: Run) -> int:
    """How many runs a backtest has had."""
    query = select(func.count()).where(
        runs.c.model_id == run.model_id, runs.c.backtest_id == run.backtest_id
    )
    return connection.execute(query).scalar_one()


def start_again(connection: Connection, run: Run) -> bool:
    """Run again what was stopped, at the next tick of its schedule if it has one. False if the
    model was started meanwhile."""
    if _newer(connection, run) is not None:
        return False
    due_at = None if run.schedule is None else schedules.next_after(run.schedule, time.time())
    _insert(connection, _again(connection, run, due_at))
    return True


def _newer(connection: Connection, run: Run, *also: ColumnElement[bool]) -> str | None:
    """The newest run of the model that is newer, and of which this holds too."""
    newer = select(runs.c.id).where(
        runs.c.model_id == run.model_id,
        runs.c.kind.in_(DEPLOYED),
        runs.c.created_at > run.created_at,
        *also,
    )
    found: str | None = connection.scalar(newer.order_by(runs.c.created_at.desc()).limit(1))
    return found


def _again(connection: Connection, run: Run, due_at: float | None) -> Run:
    kept = {
        name: getattr(run, name)
        for name in ("model_id", "version_id", "kind", "plan", "memory_mb", "cpu_milli",
                     "python_version", "schedule", "created_by")
    }  # fmt: skip
    return Run(
        id=new_id(),
        state="pending",
        desired="running",
        reason="",
        due_at=due_at,
        created_at=_moment(connection, run.model_id),
        **kept,
    )


def work_out_schedules(connection: Connection, now: float, *, earlier_only: bool) -> None:
    """Give each queued run of a schedule the next tick by the clock as it is now."""
    waiting = select(runs.c.id, runs.c.schedule, runs.c.due_at).where(
        runs.c.schedule.is_not(None),
        runs.c.state == "pending",
        runs.c.fence.is_(None),
        runs.c.ended_at.is_(None),
    )
    for run in connection.execute(waiting.with_for_update()).all():
        due_at = schedules.next_after(run.schedule, now)
        if due_at < run.due_at or not earlier_only:
            connection.execute(update(runs).where(runs.c.id == run.id).values(due_at=due_at))


def ending(connection: Connection, model_id: str, run_id: str | None = None) -> list[Run]:
    """Runs that must end and may still be alive: of a model, or one run of it."""
    query = select(runs).where(*_ending(model_id, run_id))
    return [record(Run, row) for row in connection.execute(query)]


def _ending(model_id: str, run_id: str | None) -> tuple[ColumnElement[bool], ...]:
    return (
        runs.c.id == run_id if run_id else runs.c.kind.in_(DEPLOYED),
        runs.c.model_id == model_id,
        runs.c.desired == "stopped",
        runs.c.fence.is_not(None),
        runs.c.ended_at.is_(None),
    )


def current(connection: Connection, model_id: str) -> Run | None:
    """The deployed run of a model: the newest that is alive, else the newest of all."""
    query = select(runs).where(runs.c.model_id == model_id, runs.c.kind.in_(DEPLOYED))
    row = connection.execute(query.order_by(*_most_current()).limit(1)).first()
    return None if row is None else record(Run, row)


def current_of_project(connection: Connection, project_id: str) -> list[Run]:
    """The same for every model of a project, in one query."""
    place = func.row_number().over(partition_by=runs.c.model_id, order_by=_most_current())
    placed = (
        select(runs.c.id, place.label("place"))
        .join(models, models.c.id == runs.c.model_id)
        .where(models.c.project_id == project_id, runs.c.kind.in_(DEPLOYED))
        .subquery()
    )
    query = select(runs).join(placed, placed.c.id == runs.c.id).where(placed.c.place == 1)
    return [record(Run, row) for row in connection.execute(query)]


def get(connection: Connection, model_id: str, run_id: str) -> Run:
    row = connection.execute(
        select(runs).where(runs.c.id == run_id, runs.c.model_id == model_id)
    ).first()
    if row is None:
        raise NoSuchRun
    return record(Run, row)


def of_model(
    connection: Connection,
    model_id: str,
    *,
    before: float | None,
    limit: int,
    kind: str | None = None,
    backtest_id: str | None = None,
) -> list[Run]:
    """The newest first."""
    query = select(runs).where(runs.c.model_id == model_id)
    if kind is not None:
        query = query.where(runs.c.kind == kind)
    if backtest_id is not None:
        query = query.where(runs.c.backtest_id == backtest_id)
    if before is not None:
        query = query.where(runs.c.created_at < before)
    rows = connection.execute(query.order_by(runs.c.created_at.desc()).limit(limit))
    return [record(Run, row) for row in rows]


def _moment(connection: Connection, model_id: str) -> float:
    """Now, but after the model's other runs: of two runs the newer counts, even if the clock was
    set back in between."""
    newest = select(func.max(runs.c.created_at)).where(runs.c.model_id == model_id)
    return max(time.time(), (connection.scalar(newest) or 0.0) + A_MOMENT)


def _most_current() -> tuple[Any, ...]:
    # A newer deployment that is being prepared, or could not be, does not count yet.
    return (
        or_(runs.c.ended_at.is_not(None), runs.c.fence.is_(None)),
        runs.c.ended_at.is_not(None),
        runs.c.created_at.desc(),
        runs.c.id.desc(),
    )


def _common(
    actor: Actor, model: Model, version: Version, plan: Plan, python_version: str, now: float
) -> dict[str, Any]:
    return {
        "id": new_id(),
        "model_id": model.id,
        "version_id": version.id,
        "state": "pending",
        "desired": "running",
        "reason": "",
        "plan": plan.name,
        "memory_mb": plan.memory_mb,
        "cpu_milli": plan.cpu_milli,
        "python_version": python_version,
        "created_at": now,
        "created_by": actor.label,
    }


def _insert(connection: Connection, made: Run) -> None:
    connection.execute(insert(runs).values(msgspec.structs.asdict(made)))


def end_all(connection: Connection, which: ColumnElement[bool], reason: str) -> bool:
    """Stop these. Whether any of them was desired to run until now. A host that has one may be
    down: that it is to stop is shown without it."""
    seen = case((runs.c.host.is_not(None), "stopping"), else_=runs.c.state)
    changed = connection.execute(
        update(runs)
        .where(which, runs.c.ended_at.is_(None), runs.c.desired == "running")
        .values(desired="stopped", reason=reason, state=seen)
    )
    return changed.rowcount > 0
