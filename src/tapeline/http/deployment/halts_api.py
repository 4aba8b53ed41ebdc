"""Halting and resuming a project, or everything, and what that has come to."""

from typing import Annotated

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members, plain_names
from tapeline.errors import Invalid
from tapeline.http.core.endpoint import BodyCall, Call
from tapeline.http.deployment.uploads_api import require_a_host
from tapeline.watch.halts import declaring, outcomes
from tapeline.watch.halts import halt as records
from tapeline.watch.halts.halt import Halt
from tapeline.watch.halts.outcomes import Outcome

LONGEST_WHY = 1000

Why = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST_WHY})]


class NewHalt(msgspec.Struct):
    why: Why = ""
    """For everybody who sees it, and for the tapes of the models."""


class Resuming(msgspec.Struct):
    start: bool = False
    """Whether to start again what ran until the halt. Otherwise nothing starts by itself."""


class ShownHalt(msgspec.Struct, kw_only=True):
    halt_id: str
    project_id: str | None
    """Null if everything on this server is halted."""
    in_force: bool
    at: float
    by: str
    why: str
    resumed_at: float | None
    resumed_by: str | None
    stopped: int
    stopping: int
    unknown: int
    """Models that are not known to be stopped."""
    models: list[Outcome]
    """Those first that are not known to be stopped."""


class LastHalt(msgspec.Struct):
    halt: ShownHalt | None
    """The one in force, else the last one; null if there never was one."""


class Resumed(msgspec.Struct, kw_only=True):
    status: str = "success"
    halt_id: str
    started: int
    """Models that start again."""


def halt_project(connection: Connection, call: BodyCall[NewHalt]) -> ShownHalt:
    """Stop every model of a project, and keep it from starting until somebody resumes."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "change_models")
    made = declaring.declare(connection, call.actor, project_id, _why(call.body))
    return _shown(connection, call, made, project_id)


def resume_project(connection: Connection, call: BodyCall[Resuming]) -> Resumed:
    """Let the models of a halted project be started again."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "change_models")
    return _resumed(connection, call, project_id)


def show_halt_of_project(connection: Connection, call: Call) -> LastHalt:
    """What the halt of a project has come to, model by model."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    return _last(connection, call, project_id)


def halt_all(connection: Connection, call: BodyCall[NewHalt]) -> ShownHalt:
    """Stop every model on this installation, until an operator resumes."""
    return _shown(
        connection, call, declaring.declare(connection, call.actor, None, _why(call.body)), None
    )


def resume_all(connection: Connection, call: BodyCall[Resuming]) -> Resumed:
    """Let models be started again, after everything was halted."""
    return _resumed(connection, call, None)


def show_halt(connection: Connection, call: Call) -> LastHalt:
    """What the halt of everything has come to, model by model."""
    return _last(connection, call, None)


async def at_once(call: Call) -> None:
    """Models that run elsewhere are told with the answer to their next event. A server that shares
    the database tells them up to a second later."""
    await call.services.halts.look_at_once()


def _why(said: NewHalt) -> str:
    if len(said.why) > LONGEST_WHY:
        raise Invalid(f"`why` may have {LONGEST_WHY:,} characters.", field="why")
    why = said.why.strip()
    plain_names.require(why, "why")
    return why


def _resumed(connection: Connection, call: BodyCall[Resuming], project_id: str | None) -> Resumed:
    ended = declaring.resume(connection, call.actor, project_id)
    if not call.body.start:
        return Resumed(halt_id=ended.id, started=0)
    if project_id is not None:
        declaring.refuse_if_halted(connection, project_id)  # with everything
    require_a_host(connection, call)
    return Resumed(halt_id=ended.id, started=declaring.start_again(connection, ended))


def _last(connection: Connection, call: Call, project_id: str | None) -> LastHalt:
    found = records.newest(connection, project_id)
    return LastHalt(None if found is None else _shown(connection, call, found, project_id))


def _shown(connection: Connection, call: Call, halt: Halt, project_id: str | None) -> ShownHalt:
    store, here = call.services.store, call.services.runner.host_name
    found = outcomes.of(connection, store.database, here, halt, project_id)
    counted = [one.state for one in found]
    return ShownHalt(
        halt_id=halt.id,
        project_id=halt.project_id,
        in_force=halt.resumed_at is None,
        at=halt.at,
        by=halt.by,
        why=halt.why,
        resumed_at=halt.resumed_at,
        resumed_by=halt.resumed_by,
        stopped=counted.count("stopped"),
        stopping=counted.count("stopping"),
        unknown=counted.count("unknown"),
        models=found,
    )
