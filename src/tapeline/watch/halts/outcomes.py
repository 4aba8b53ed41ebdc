"""What a halt has come to, model by model: stopped, by which proof, or why that is not known."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, select

from tapeline.runs import silent_hosts
from tapeline.runs.run import Run
from tapeline.runs.silent_hosts import Silence
from tapeline.store.backends.database import Database
from tapeline.store.rows import record
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import runs
from tapeline.watch.halts import halt as records
from tapeline.watch.halts.halt import ELSEWHERE, Halt, HaltedModel

State = Literal["stopped", "stopping", "unknown"]

RUNS_ELSEWHERE = (
    "It runs elsewhere and only reports: it is told to halt with the answer to its next event, and"
    " has not said that it stopped."
)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    model_id: str
    model: str
    project_id: str
    run_id: str | None
    """Null for a model that runs elsewhere and only reports."""
    host: str | None
    state: State
    """`stopped`: known, with `proof`. `stopping`: it has its seconds to clean up, or its end is
    being looked at. `unknown`: it is not known to be stopped, and `why` says why."""
    stopped_at: float | None
    how: str | None
    proof: dict[str, Any] | None
    """What the kernel of its machine said: its lock is free, no process is left; its key is
    refused."""
    why: str | None


def of(
    connection: Connection, database: Database, here: str, halt: Halt, project_id: str | None
) -> list[Outcome]:
    """Of the models of one project, or of all. Those that are not known to be stopped first."""
    query = select(models.c.id, models.c.name, models.c.project_id)
    rows = records.rows_of(connection, halt.id)
    named = {
        row.id: row
        for row in connection.execute(query.where(models.c.id.in_({one.model_id for one in rows})))
        if project_id in (None, row.project_id)
    }
    rows = [one for one in rows if one.model_id in named]
    going = _runs(connection, rows)
    blocked = silent_hosts.blocked(connection, database, here, list(going.values()))
    said = {run_id: one.sentence(going[run_id]) for run_id, one in blocked.items()}
    unproven = [going[one.run_id] for one in rows if _waits_for_proof(one, going.get(one.run_id))]
    silent = silent_hosts.silent(connection, database, here, unproven)
    said |= {one.id: _nobody_looked(silent[one.host]) for one in unproven if one.host in silent}
    found = [
        _outcome(one, named[one.model_id], going.get(one.run_id), said.get(one.run_id))
        for one in rows
    ]
    places: dict[State, int] = {"unknown": 0, "stopping": 1, "stopped": 2}
    return sorted(found, key=lambda one: (places[one.state], one.model, one.model_id))


def _waits_for_proof(row: HaltedModel, run: Run | None) -> bool:
    return row.stopped_at is None and run is not None and run.ended_at is not None


def _nobody_looked(silence: Silence) -> str:
    return (
        f"Its end is recorded, but nobody has looked whether a process of it is left: its host"
        f" {silence.host} {silence.since()}. It is looked at when that host is back."
    )


def _outcome(row: HaltedModel, model: Any, run: Run | None, trouble: str | None) -> Outcome:
    state, why = _state(row, trouble)
    return Outcome(
        model_id=row.model_id,
        model=model.name,
        project_id=model.project_id,
        run_id=row.run_id or None,
        host=run.host if run else None,
        state=state,
        stopped_at=row.stopped_at,
        how=row.how,
        proof=row.proof,
        why=why,
    )


def _state(row: HaltedModel, trouble: str | None) -> tuple[State, str | None]:
    if row.stopped_at is not None:
        return "stopped", None
    if row.run_id == ELSEWHERE:
        return "unknown", RUNS_ELSEWHERE
    return ("stopping", None) if trouble is None else ("unknown", trouble)


def _runs(connection: Connection, rows: Sequence[HaltedModel]) -> Mapping[str, Run]:
    wanted = {one.run_id for one in rows} - {ELSEWHERE}
    query = select(runs).where(runs.c.id.in_(wanted))
    return {row.id: record(Run, row) for row in connection.execute(query)}
