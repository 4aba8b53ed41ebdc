"""The view API for runs: their desired and actual state, and their resource usage."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members
from tapeline.errors import NotSupervised
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import Call, Page, QueryCall
from tapeline.models import models, versions
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired, sampling
from tapeline.store.backends.database import Database


class ShownRun(msgspec.Struct, kw_only=True):
    run_id: str
    version: int | None
    version_id: str
    kind: str
    """`live`, `backtest` or `screener`."""
    state: str
    """`pending`, `installing`, `running`, `restarting`, `stopping`; then `stopped`, `exited`,
    `crashed` or `failed`."""
    desired: str
    reason: str
    plan: str
    python_version: str
    backtest_id: str | None
    arguments: dict[str, Any] | None
    """The arguments of a backtest."""
    description: str
    schedule: str | None
    next_run_at: float | None
    """When a screener's next run is due."""
    fence: int | None
    restarts: int
    exit_code: int | None
    confinement: str
    """How the run was sandboxed, or that it was not."""
    refused: int
    """Events it sent after a newer instance had taken over."""
    created_at: float
    created_by: str
    started_at: float | None
    ended_at: float | None


class Silent(msgspec.Struct, frozen=True):
    """A run that must end on a host whose server does not run."""

    host: str
    lock_name: str
    seen_at: float | None

    def since(self) -> str:
        if self.seen_at is None:
            return "has not reported since it started the model"
        moment = datetime.fromtimestamp(self.seen_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"has been silent since {moment}"


class RunPage(Page):
    kind: str | None = None
    backtest: str | None = None
    """Only the run of this backtest."""


class CurrentRun(ShownRun, kw_only=True):
    memory: int | None
    """In bytes, as last seen."""
    cpu: float | None
    """In cores, as last seen."""


class DeployedRun(CurrentRun, kw_only=True):
    model_id: str


class Sample(msgspec.Struct):
    at: float
    memory: int
    cpu: float


class Usage(msgspec.Struct):
    items: list[Sample]


def list_runs(connection: Connection, call: QueryCall[RunPage]) -> Listed[ShownRun]:
    """A model's runs, newest first."""
    page = call.query
    model = models.find(connection, call.actor, call.path("model"))
    before = page.before()
    found = desired.of_model(
        connection,
        model.id,
        before=None if before is None else before / 1e6,
        limit=page.limit + 1,
        kind=page.kind,
        backtest_id=page.backtest,
    )
    shown = found[: page.limit]
    following = str(round(shown[-1].created_at * 1e6)) if len(found) > page.limit else None
    numbers = versions.numbers(connection, {one.version_id for one in shown})
    return Listed([_shown(one, numbers) for one in shown], following)


def list_deployed(connection: Connection, call: Call) -> Listed[DeployedRun]:
    """The deployed run of each model in a project, with its latest resource usage."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    found = desired.current_of_project(connection, project_id)
    numbers = versions.numbers(connection, {one.version_id for one in found})
    used = sampling.newest_of(connection, [one.id for one in found if one.ended_at is None])
    items = []
    for one in found:
        memory, cpu = used.get(one.id, (None, None))
        items.append(
            DeployedRun(**_fields(one, numbers), model_id=one.model_id, memory=memory, cpu=cpu)
        )
    return Listed(items)


def show_run(connection: Connection, call: Call) -> CurrentRun:
    """One run, with its latest resource usage."""
    model = models.find(connection, call.actor, call.path("model"))
    return with_usage(connection, desired.get(connection, model.id, call.path("run")))


def show_usage(connection: Connection, call: Call) -> Usage:
    """Memory and processor usage of a run over time, kept for some days."""
    model = models.find(connection, call.actor, call.path("model"))
    run = desired.get(connection, model.id, call.path("run"))
    return Usage([Sample(*one) for one in sampling.of_run(connection, run.id)])


def stop_run(connection: Connection, call: Call) -> Done:
    """Stop one run, for example a backtest that takes too long."""
    model = models.find(connection, call.actor, call.path("model"), right="change_models")
    desired.stop_run(connection, call.actor, model, call.path("run"))
    return Done()


async def admit_unsupervised(call: Call) -> None:
    """A stop that cannot be carried out now must not look like a success."""
    await refuse_if_unsupervised(call, call.path("model"), call.path("run"))


async def refuse_if_unsupervised(call: Call, model_id: str, run_id: str | None = None) -> None:
    runner, store = call.services.runner, call.services.store
    ending = await store.read(desired.ending_on, runner.host_name, model_id, run_id)
    # In a thread: it looks at the disk, which may be what hangs.
    trouble = await asyncio.to_thread(runner.trouble, *ending) if ending else None
    if trouble:
        raise NotSupervised(
            f"The stop is recorded but not carried out: {trouble}. The model may still be running."
            " It is stopped as soon as the supervisor gets on; the server's log says more."
        )
    silent = await store.read(_silent, store.database, runner.host_name, model_id, run_id)
    if silent is not None:
        raise NotSupervised(
            f"The stop is recorded but not carried out: the server of the host {silent.host}, where"
            f" the model runs, is down and {silent.since()}. The model may still be trading. That"
            " server stops it when it is back; to stop it now, run on its machine: tapeline stop"
            f" --here {silent.lock_name}"
        )


def _silent(
    connection: Connection, database: Database, here: str, model_id: str, run_id: str | None
) -> Silent | None:
    for run, host in desired.ending_elsewhere(connection, here, model_id, run_id).items():
        if not database.is_claimed(connection, host):
            found = desired.get(connection, model_id, run)
            return Silent(host, found.lock_name, sampling.last_seen(connection, run))
    return None


def current(connection: Connection, model_id: str) -> CurrentRun | None:
    """The deployed run of a model; None if it never had one."""
    run = desired.current(connection, model_id)
    return None if run is None else with_usage(connection, run)


def with_usage(connection: Connection, run: Run) -> CurrentRun:
    numbers = versions.numbers(connection, {run.version_id})
    used = sampling.newest(connection, run.id) if run.ended_at is None else None
    memory, cpu = used or (None, None)
    return CurrentRun(**_fields(run, numbers), memory=memory, cpu=cpu)


def _shown(run: Run, numbers: dict[str, int]) -> ShownRun:
    return ShownRun(**_fields(run, numbers))


def _fields(run: Run, numbers: dict[str, int]) -> dict[str, Any]:
    known = msgspec.structs.asdict(run)
    kept = {name: known[name] for name in ShownRun.__struct_fields__ if name in known}
    return kept | {
        "run_id": run.id,
        "version": numbers.get(run.version_id),
        "next_run_at": run.due_at if run.state == "pending" else None,
    }
