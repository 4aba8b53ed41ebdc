"""Deploying: an archive becomes a version, and a version becomes a desired run."""

from functools import partial
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from tapeline import turns
from tapeline.errors import (
    CannotRunModels,
    InvalidManifest,
    MissingField,
    NoSuchVersion,
    NotSupervised,
    OnHold,
)
from tapeline.http.core.answers import Done
from tapeline.http.core.endpoint import BodyCall, Call
from tapeline.http.core.fields import Required
from tapeline.http.core.services import Services
from tapeline.http.view import runs_api
from tapeline.models import arguments, models, plans, uploading, versions
from tapeline.models.archives import archive
from tapeline.models.archives.manifest import Manifest
from tapeline.models.models import Model
from tapeline.models.plans import Use
from tapeline.models.uploading import Archive, Offer, Resolved, Wish
from tapeline.models.versions import Version
from tapeline.runs import waiting_for
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired, schedule
from tapeline.watch.halts import declaring as declaring_halts
from tapeline.watch.incidents import expecting
from tapeline.watch.rules import checking, expectations
from tapeline.watch.rules.invalid import InvalidRule

Stringified = Annotated[
    dict[str, Any] | str, msgspec.Meta(description="A dictionary, or its text as JSON or Python.")
]


class NewVersion(msgspec.Struct, rename="camel"):
    """Fields that can be sent with an archive. Empty text counts as absent."""

    model_id: str | None = None
    project_id: str | None = None
    create_new: bool | None = None
    name: str | None = None
    general_description: str | None = None
    version_description: str | None = None
    type: str | None = None
    plan: str | None = None
    python_version: str | None = None
    schedule: str | None = None


class NewBacktest(NewVersion, rename="camel"):
    backtest_args: Stringified | None = None
    backtest_description: str | None = None


class StoredVersion(msgspec.Struct, rename="camel"):
    """A stored version. Without `versionId` the one that ran last, and for backtests the newest."""

    model_id: Required
    project_id: str | None = None
    version_id: str | None = None
    plan: str | None = None
    type: str | None = None
    schedule: str | None = None


class StoredBacktest(StoredVersion, rename="camel"):
    backtest_args: Stringified | None = None
    backtest_description: str | None = None


class ModelInProject(msgspec.Struct, rename="camel"):
    model_id: Required
    project_id: str | None = None


class Uploaded(msgspec.Struct, rename="camel", kw_only=True):
    status: str = "success"
    project_id: str
    model_id: str
    version_id: str
    version: int
    created_at: float
    timestamp: float


class Deployed(Uploaded, rename="camel", kw_only=True):
    run_id: str


class Backtested(Deployed, rename="camel", kw_only=True):
    backtest_id: str


async def prepare(use: Use, call: BodyCall[NewVersion], *, runs: bool = True) -> Archive:
    """Validate everything, then keep the archive: a refused upload leaves nothing behind."""
    services, attached = call.services, call.attached
    if attached is None:
        raise MissingField(
            "Send the model as a zip file: a multipart/form-data body with a file part `model`.",
            field="model",
        )
    wish = _wish(call.body)
    if isinstance(call.body, NewBacktest):
        _arguments(call.body.backtest_args, None)
    await services.store.read(uploading.check_rights, call.actor, wish)
    needed = await services.archives.begin(partial(archive.in_memory, attached.path))
    async with services.memory.need(turns.sender.get(), needed):
        contents = await services.archives.begin(partial(archive.check, attached.path))
    await _expect(services, contents.manifest)
    found = Archive(attached.sha256, attached.size, contents.manifest, contents.digest)
    await services.store.read(_refuse_early, call, wish, found, use, runs=runs)
    await services.archives.begin(partial(services.blobs.put, attached.sha256, attached.path))
    return found


def _refuse_early(
    connection: Connection,
    call: BodyCall[NewVersion],
    wish: Wish,
    found: Archive,
    use: Use,
    *,
    runs: bool,
) -> None:
    """What would be refused later too, before the archive is kept."""
    resolved = _resolved(connection, call, wish, found, use)
    if use == "live":
        _schedule(resolved.type, call.body.schedule, found.manifest)
        declaring_halts.refuse_if_halted(connection, resolved.project_id)
    if runs:
        require_a_host(connection, call)


prepare_live = partial(prepare, "live")
prepare_backtest = partial(prepare, "backtesting")
prepare_upload = partial(prepare, "backtesting", runs=False)


def deploy(connection: Connection, call: BodyCall[NewVersion]) -> Deployed:
    """Upload a version of a model and run it live, replacing the current run."""
    require_a_host(connection, call)
    model, version, resolved = _store(connection, call, "live")
    declaring_halts.refuse_if_halted(connection, model.project_id)
    run = desired.go_live(
        connection,
        call.actor,
        model,
        version,
        resolved.plan,
        resolved.python_version,
        schedule=_schedule(resolved.type, call.body.schedule, version.manifest),
    )
    _watch(connection, call, model, version)
    return Deployed(**_said(model, version, run.created_at), run_id=run.id)


def backtest(connection: Connection, call: BodyCall[NewBacktest]) -> Backtested:
    """Upload a version of a model and run its backtest."""
    require_a_host(connection, call)
    model, version, resolved = _store(connection, call, "backtesting")
    run = desired.backtest(
        connection,
        call.actor,
        model,
        version,
        resolved.plan,
        resolved.python_version,
        arguments=_arguments(call.body.backtest_args, version.manifest),
        description=call.body.backtest_description or "",
    )
    return _backtested(model, version, run)


def upload(connection: Connection, call: BodyCall[NewVersion]) -> Uploaded:
    """Upload a version of a model without running it."""
    model, version, _ = _store(connection, call, "backtesting")
    return Uploaded(**_said(model, version, version.created_at))


def run_model(connection: Connection, call: BodyCall[StoredVersion]) -> Deployed:
    """Run a stored version live: the one that ran last, or another, which is also a rollback."""
    require_a_host(connection, call)
    model = _model(connection, call)
    declaring_halts.refuse_if_halted(connection, model.project_id)
    last = desired.current(connection, model.id)
    version = _version(connection, call, model, last.version_id if last else None)
    plan, python = _choice(connection, call, version, "live")
    wanted = models.checked_type(call.body.type or model.type)
    when = _schedule(wanted, call.body.schedule, version.manifest, last.schedule if last else None)
    model = models.change(
        connection, call.actor, model, type=wanted, plan=plan.name, python_version=python
    )
    run = desired.go_live(connection, call.actor, model, version, plan, python, schedule=when)
    _watch(connection, call, model, version)
    return Deployed(**_said(model, version, run.created_at), run_id=run.id)


def backtest_uploaded(connection: Connection, call: BodyCall[StoredBacktest]) -> Backtested:
    """Run the backtest of a stored version."""
    require_a_host(connection, call)
    model = _model(connection, call)
    version = _version(connection, call, model, None)
    plan, python = _choice(connection, call, version, "backtesting")
    run = desired.backtest(
        connection,
        call.actor,
        model,
        version,
        plan,
        python,
        arguments=_arguments(call.body.backtest_args, version.manifest),
        description=call.body.backtest_description or "",
    )
    return _backtested(model, version, run)


def backtest_uploaded_model(connection: Connection, call: BodyCall[StoredBacktest]) -> Backtested:
    """Run the backtest of a stored version (another spelling of the same route)."""
    return backtest_uploaded(connection, call)


def kill_model(connection: Connection, call: BodyCall[ModelInProject]) -> Done:
    """Stop a model's live run, if there is one."""
    model = models.find(
        connection, call.actor, call.body.model_id, call.body.project_id or None, "change_models"
    )
    desired.stop(connection, call.actor, model)
    return Done()


async def admit_unsupervised(call: BodyCall[ModelInProject]) -> None:
    """A stop that cannot be carried out now must not look like a success."""
    await runs_api.refuse_if_unsupervised(call, call.body.model_id)


def _store(
    connection: Connection, call: BodyCall[NewVersion], use: Use
) -> tuple[Model, Version, Resolved]:
    found: Archive = call.prepared
    wish = _wish(call.body)
    # Again, in the transaction that acts: the model or a right may be gone by now.
    resolved = _resolved(connection, call, wish, found, use)
    live = plans.offered(call.services.settings, "live")
    model, version = uploading.store(
        connection, call.actor, wish, resolved, found, remembered_plan=resolved.plan.name in live
    )
    return model, version, resolved


async def _expect(services: Services, manifest: Manifest) -> None:
    """Refuse a version whose expectations nobody could watch."""
    expected = expectations.read(manifest.expectations)
    try:
        await checking.require(services.rules.sources.heavy, expected, services.store.clock.now())
    except InvalidRule as error:
        raise InvalidManifest(f"`expectations` in platform.json: {error.message}") from None


def _watch(connection: Connection, call: Call, model: Model, version: Version) -> None:
    """The version's own expectations become rules with it."""
    expected = version.manifest.expectations
    expecting.apply(connection, call.actor, model.project_id, model.id, expected)


def _wish(said: NewVersion) -> Wish:
    return Wish(
        model_id=said.model_id or None,
        project_id=said.project_id or None,
        create_new=bool(said.create_new),
        name=said.name or None,
        general_description=said.general_description or None,
        version_description=said.version_description or "",
        type=said.type or None,
        plan=said.plan or None,
        python_version=said.python_version or None,
    )


def require_a_host(connection: Connection, call: Call) -> None:
    """Before a run is recorded that nobody can start: this host, or another, takes runs."""
    runner, database = call.services.runner, call.services.store.database
    try:
        runner.require()
    except (CannotRunModels, NotSupervised, OnHold):
        if not waiting_for.others_take(connection, database, runner.host_name):
            raise


def _resolved(connection: Connection, call: Call, wish: Wish, found: Archive, use: Use) -> Resolved:
    return uploading.resolve(connection, call.actor, wish, found, _offer(connection, call, use))


def _offer(connection: Connection, call: Call, use: Use) -> Offer:
    """The plans of this server, and the Pythons of all hosts."""
    pythons = [one.version for one in call.services.pythons_of_all(connection)]
    services = call.services
    return Offer(plans.offered(services.settings, use), pythons, services.quotas.archives)


def _model(connection: Connection, call: BodyCall[StoredVersion]) -> Model:
    said = call.body
    return models.find(
        connection, call.actor, said.model_id, said.project_id or None, "change_models"
    )


def _version(
    connection: Connection, call: BodyCall[StoredVersion], model: Model, usual: str | None
) -> Version:
    """The version that the request names, else the usual one, else the newest."""
    if wanted := call.body.version_id or usual:
        return versions.get(connection, model.id, wanted)
    newest = versions.newest(connection, model.id)
    if newest is None:
        raise NoSuchVersion("Nothing has been uploaded for this model yet.")
    return newest


def _choice(
    connection: Connection, call: BodyCall[StoredVersion], version: Version, use: Use
) -> tuple[plans.Plan, str]:
    offer = _offer(connection, call, use)
    plan = plans.chosen(offer.plans, call.body.plan or version.plan)
    return plan, uploading.checked_python(offer.pythons, version.python_version)


def _schedule(
    kind: str, said: str | None, manifest: Manifest, last: str | None = None
) -> str | None:
    if kind != "screener":
        return None
    text = said or manifest.schedule or last
    if not text:
        raise MissingField(
            "`schedule` is required for a screener: a cron expression in UTC, such as"
            " `30 14 * * 1-5`, in the request or as `screener.schedule` in platform.json.",
            field="schedule",
        )
    return schedule.checked(text)


def _arguments(said: dict[str, Any] | str | None, manifest: Manifest | None) -> dict[str, Any]:
    if isinstance(said, dict):
        return arguments.checked(said)
    if said:
        return arguments.read(said)
    return (manifest.backtest_args if manifest else None) or {}


def _said(model: Model, version: Version, timestamp: float) -> dict[str, Any]:
    return {
        "project_id": model.project_id,
        "model_id": model.id,
        "version_id": version.id,
        "version": version.number,
        "created_at": version.created_at,
        "timestamp": timestamp,
    }


def _backtested(model: Model, version: Version, run: Run) -> Backtested:
    assert run.backtest_id is not None
    said = _said(model, version, run.created_at)
    return Backtested(**said, run_id=run.id, backtest_id=run.backtest_id)
