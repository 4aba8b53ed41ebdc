"""What people want to run. Written in the transaction of whoever wants it; nothing starts here."""

import time
from typing import Any

from sqlalchemy import Connection, insert, select, update

from tapeline.accounts.actor import Actor
from tapeline.ids import new_id
from tapeline.models.models import Model
from tapeline.models.plans import Plan
from tapeline.models.versions import Version
from tapeline.runs.run import Kind, Run
from tapeline.store.rows import record
from tapeline.store.run_tables import runs


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
    """Desire this version live; whatever else of the model is live is not desired any more."""
    stop(connection, actor, model)
    kind: Kind = "live" if schedule is None else "screener"
    return _desire(connection, actor, version, plan, python_version, kind, schedule=schedule)


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
    assert version.model_id == model.id
    return _desire(
        connection,
        actor,
        version,
        plan,
        python_version,
        "backtest",
        arguments=arguments,
        description=description,
        backtest_id=new_id(),
    )


def stop(connection: Connection, actor: Actor, model: Model) -> None:
    """Nothing of the model is desired live any more. Backtests go on."""
    connection.execute(
        update(runs)
        .where(runs.c.model_id == model.id, runs.c.kind != "backtest", runs.c.ended_at.is_(None))
        .values(desired="stopped", reason=f"stopped by {actor.label}")
    )


def current(connection: Connection, model_id: str) -> Run | None:
    """The newest run that is not a backtest."""
    row = connection.execute(
        select(runs)
        .where(runs.c.model_id == model_id, runs.c.kind != "backtest")
        .order_by(runs.c.created_at.desc(), runs.c.id)
        .limit(1)
    ).first()
    return None if row is None else record(Run, row)


def _desire(
    connection: Connection,
    actor: Actor,
    version: Version,
    plan: Plan,
    python_version: str,
    kind: Kind,
    **more: Any,
) -> Run:
    row = {
        "id": new_id(),
        "model_id": version.model_id,
        "version_id": version.id,
        "kind": kind,
        "state": "pending",
        "desired": "running",
        "reason": "",
        "plan": plan.name,
        "memory_mb": plan.memory_mb,
        "cpu_milli": plan.cpu_milli,
        "python_version": python_version,
        "description": "",
        "launches": 0,
        "restarts": 0,
        "confinement": "",
        "journal": 0,
        "refused": 0,
        "created_at": time.time(),
        "created_by": actor.label,
    } | more
    connection.execute(insert(runs).values(row))
    stored = connection.execute(select(runs).where(runs.c.id == row["id"])).one()
    return record(Run, stored)
