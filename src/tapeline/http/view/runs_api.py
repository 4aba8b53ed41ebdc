"""The view API for runs: their desired and actual state, and their resource usage."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members
from tapeline.errors import NotSupervised
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import Call, Page, QueryCall
from tapeline.http.core.services import Services
from tapeline.models import models, versions
from tapeline.runs import silent_hosts, waiting_for
from tapeline.runs.run import Run
from tapeline.runs.silent_hosts import Blocked
from tapeline.runs.supervision import desired
from tapeline.runs.upkeep import sampling

UNREACHABLE = "unreachable"


class ShownRun(msgspec.Struct, kw_only=True):
    run_id: str
    version: int | None
    version_id: str
    kind: str
    """`live`, `backtest` or `screener`."""
    state: str
    """`pending`, `installing`, `running`, `restarting`, `stopping`; then `stopped`, `exited`,
    `crashed` or `failed`. `unreachable` while the server of its host is silent: nobody knows."""
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
    host: str | None = None
    """The host that runs it, by the name that `tapeline hosts` lists."""
    trouble: str | None = None
    """Why nobody knows whether it runs, or what it waits for, and what to do."""
    silent_host: str | None = None
    """The host to which it belongs, or the run before it, and whose server is down."""
    silent_since: float | None = None
    """When that server was last heard of."""
    hold: str | None = None
    """Why it does not run here, while this server is on hold."""


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
    items = [ShownRun(**fields) for fields in _fields(connection, call.services, shown)]
    return Listed(items, following)


def list_deployed(connection: Connection, call: Call) -> Listed[DeployedRun]:
    """The deployed run of each model in a project, with its latest resource usage."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    found = desired.current_of_project(connection, project_id)
    used = sampling.newest_of(connection, [one.id for one in found if one.ended_at is None])
    items = []
    for one, fields in zip(found, _fields(connection, call.services, found), strict=True):
        memory, cpu = (None, None) if fields["hold"] else used.get(one.id, (None, None))
        items.append(DeployedRun(**fields, model_id=one.model_id, memory=memory, cpu=cpu))
    return Listed(items)


def show_run(connection: Connection, call: Call) -> CurrentRun:
    """One run, with its latest resource usage."""
    model = models.find(connection, call.actor, call.path("model"))
    run = desired.get(connection, model.id, call.path("run"))
    return _with_usage(connection, call.services, run)


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
    found = await store.read(desired.ending, model_id, run_id)
    # Its own, and those of nodes: their server is the one that leads, which alone has trouble.
    ending = [one.id for one in found if one.host == runner.host_name or one.lease_until]
    # In a thread: it looks at the disk, which may be what hangs.
    trouble = await asyncio.to_thread(runner.trouble, *ending) if ending else None
    if trouble:
        raise NotSupervised(
            f"The stop is recorded but not carried out: {trouble}. The model may still be running."
            " It is stopped as soon as the supervisor gets on; the server's log says more."
        )
    down = await store.read(_down, call.services, model_id, run_id)
    if down is not None:
        silence = down.silence
        raise NotSupervised(
            f"The stop is recorded but not carried out: the server of host {silence.host}, where"
            f" the model runs, does not answer and {silence.since()}. The model may still be"
            " trading. That server stops it when it is back; to stop it now, run on its machine:"
            f" tapeline stop --here {down.run.lock_name}"
        )
    if unwell := await store.read(_unwell, call.services, model_id, run_id):
        raise NotSupervised(f"The stop is recorded but not carried out. {unwell}")


def _down(
    connection: Connection, services: Services, model_id: str, run_id: str | None
) -> Blocked | None:
    """A run that must end on a host whose server does not run."""
    found = desired.ending(connection, model_id, run_id)
    return next(iter(_blocked(connection, services, found).values()), None)


def left_running(connection: Connection, services: Services, found: list[Run]) -> str | None:
    """Of runs whose models were deleted: what nobody can end now."""
    there = [one for one in _blocked(connection, services, found).values() if one.run in found]
    if not there:
        return None
    said = "; ".join(
        f"{one.run.model_id} on host {one.silence.host}, which does not answer and"
        f" {one.silence.since()} (tapeline stop --here {one.run.lock_name})"
        for one in there
    )
    return (
        f"These may still be trading: {said}. Each ends when its host is back; to end it now, run"
        " that command on its machine."
    )


def _unwell(
    connection: Connection, services: Services, model_id: str, run_id: str | None
) -> str | None:
    """A run that must end on another host, which can do nothing now. This one was just asked."""
    store, here = services.store, services.runner.host_name
    found = [one for one in desired.ending(connection, model_id, run_id) if one.host != here]
    waits = waiting_for.reasons(connection, store.database, here, found)
    return next(iter(waits.values()), None)


def _blocked(connection: Connection, services: Services, found: list[Run]) -> dict[str, Blocked]:
    store, here = services.store, services.runner.host_name
    return silent_hosts.blocked(connection, store.database, here, found)


def current(connection: Connection, services: Services, model_id: str) -> CurrentRun | None:
    """The deployed run of a model; None if it never had one."""
    run = desired.current(connection, model_id)
    return None if run is None else _with_usage(connection, services, run)


def _with_usage(connection: Connection, services: Services, run: Run) -> CurrentRun:
    (fields,) = _fields(connection, services, [run])
    is_known = run.ended_at is None and not fields["hold"]
    used = sampling.newest(connection, run.id) if is_known else None
    memory, cpu = used or (None, None)
    return CurrentRun(**fields, memory=memory, cpu=cpu)


def _fields(
    connection: Connection, services: Services, found: list[Run]
) -> Iterator[dict[str, Any]]:
    """Of each run, what is shown of it."""
    numbers = versions.numbers(connection, {one.version_id for one in found})
    blocked = _blocked(connection, services, found)
    waits = waiting_for.reasons(
        connection, services.store.database, services.runner.host_name, found
    )
    ends = waiting_for.ends(connection, found)
    hold = services.runner.hold() if any(one.ended_at is None for one in found) else None
    # The rows of a copy say what its original did when it was copied.
    is_copy = hold is not None and services.runner.is_untouched_copy()
    for run in found:
        known, why = msgspec.structs.asdict(run), blocked.get(run.id)
        kept = {name: known[name] for name in ShownRun.__struct_fields__ if name in known}
        is_held = hold is not None and _is_held(services, run)
        yield kept | {
            "run_id": run.id,
            "state": "pending" if is_held and is_copy else _state(run, why),
            "reason": ends.get(run.id, run.reason),
            "version": numbers.get(run.version_id),
            "next_run_at": run.due_at if run.state == "pending" else None,
            "trouble": why.sentence(run) if why else waits.get(run.id),
            "silent_host": why and why.silence.host,
            "silent_since": why and why.silence.seen_at,
            "hold": hold.sentence() if hold is not None and is_held else None,
        }


def _state(run: Run, why: Blocked | None) -> str:
    """That it is to stop is known without its host; that it runs is not."""
    is_lost = why is not None and why.run.id == run.id and run.is_launched
    return UNREACHABLE if is_lost and run.state in ("running", "restarting") else run.state


def _is_held(services: Services, run: Run) -> bool:
    """Another host may still start a run that has none."""
    store, here = services.store, services.runner.host_name
    may_be_ours = run.host == here or (run.host is None and store.database.file is not None)
    return run.ended_at is None and run.desired == "running" and may_be_ours
