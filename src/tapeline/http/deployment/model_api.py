"""The parts of models that are not on their tapes: versions, secrets, status, plans, Pythons."""

import msgspec
from sqlalchemy import Connection

from tapeline.http.core.answers import Anything, Done, Listed
from tapeline.http.core.endpoint import BodyCall, Call, Page, QueryCall
from tapeline.http.core.fields import Description, Name, Required
from tapeline.http.deployment.projects_api import ListedModel, listed_model
from tapeline.http.deployment.uploads_api import ModelInProject
from tapeline.http.view import runs_api
from tapeline.http.view.runs_api import CurrentRun
from tapeline.http.view.tape_api import EMPTY_LIFECYCLE
from tapeline.models import models, plans, secrets, versions
from tapeline.models.models import Model
from tapeline.models.secrets import Secret
from tapeline.models.texts import checked_description, checked_name
from tapeline.models.versions import Version
from tapeline.tape.reading import channels


class PlanUse(msgspec.Struct):
    type: str = "live"


class ModelChange(msgspec.Struct):
    name: Name | None = None
    general_description: Description | None = None


class PlanSize(msgspec.Struct):
    cpu: int
    """In thousandths of a core."""
    ram: int
    """In MB."""


class VersionPage(Page):
    content: str | None = None
    """Only versions of the files with this digest."""


class ShownVersion(msgspec.Struct, kw_only=True):
    version: int
    version_id: str
    description: str
    python_version: str
    plan: str
    size: int
    """Of the archive, in bytes."""
    created_at: float
    created_by: str
    content: str | None
    """The digest of the files in it: two versions of the same files have the same one."""
    backtest_args: Anything | None
    """The default arguments of a backtest, from its manifest."""


class ShownPython(msgspec.Struct):
    version: str
    release: str
    source: str


class SecretValue(msgspec.Struct):
    value: Required


class ModelStatus(msgspec.Struct, kw_only=True):
    status: str = "success"
    lifecycle: Anything
    run: CurrentRun | None
    """Null when there never was one."""


class OneOfModels(msgspec.Struct, rename="camel"):
    id: str
    model_id: str
    project_id: str
    name: str
    type: models.ModelType
    lifecycle: Anything


class ModelStatuses(msgspec.Struct, kw_only=True):
    status: str = "success"
    models: list[OneOfModels]


def list_plans(_connection: Connection, call: BodyCall[PlanUse]) -> dict[str, PlanSize]:
    """List the plans for live runs, or for backtests."""
    offered = plans.offered(call.services.settings, plans.checked_use(call.body.type))
    return {name: PlanSize(plan.cpu_milli, plan.memory_mb) for name, plan in offered.items()}


def list_pythons(connection: Connection, call: Call) -> Listed[ShownPython]:
    """List the versions of Python that models can run on, newest first."""
    found = call.services.pythons_of_all(connection)
    return Listed([ShownPython(one.version, one.release, one.source) for one in found])


def model_status(connection: Connection, call: BodyCall[ModelInProject]) -> ModelStatus:
    """Show a model's lifecycle and its live run."""
    model = models.find(connection, call.actor, call.body.model_id, call.body.project_id or None)
    return ModelStatus(
        lifecycle=EMPTY_LIFECYCLE | channels.lifecycles(connection, [model.id]).get(model.id, {}),
        run=runs_api.current(connection, call.services, model.id),
    )


def model_statuses(connection: Connection, call: Call) -> ModelStatuses:
    """Show the lifecycle of every model in your projects."""
    own = models.of_user(connection, call.actor.user_id())
    found = channels.lifecycles(connection, [one.id for one in own])
    return ModelStatuses(
        models=[
            OneOfModels(
                one.id, one.id, one.project_id, one.name, one.type,
                EMPTY_LIFECYCLE | found.get(one.id, {}),
            )
            for one in own
        ]
    )  # fmt: skip


def change_model(connection: Connection, call: BodyCall[ModelChange]) -> ListedModel:
    """Change a model's name or description."""
    said, changes = call.body, {}
    if said.name is not None:
        changes["name"] = checked_name(said.name)
    if said.general_description is not None:
        changes["description"] = checked_description(said.general_description)
    return listed_model(models.change(connection, call.actor, _own(connection, call), **changes))


def list_versions(connection: Connection, call: QueryCall[VersionPage]) -> Listed[ShownVersion]:
    """A model's versions, newest first."""
    page = call.query
    model = models.find(connection, call.actor, call.path("model"))
    found = versions.of_model(
        connection, model.id, before=page.before(), content=page.content, limit=page.limit + 1
    )
    shown = found[: page.limit]
    following = str(shown[-1].number) if len(found) > page.limit else None
    return Listed([_shown_version(one) for one in shown], following)


def list_secrets(connection: Connection, call: Call) -> Listed[Secret]:
    """The names of a model's secrets; only runs receive their values."""
    return Listed(secrets.names(connection, _own(connection, call).id))


def show_secret(connection: Connection, call: Call) -> Secret:
    """Whether a model has a secret, and when it was set."""
    return secrets.get(connection, _own(connection, call).id, call.path("secret"))


def put_secret(connection: Connection, call: BodyCall[SecretValue]) -> Secret:
    """Set a secret: an environment variable of the model's next runs."""
    model, cipher = _own(connection, call), call.services.cipher
    return secrets.put(connection, call.actor, cipher, model, call.path("secret"), call.body.value)


def delete_secret(connection: Connection, call: Call) -> Done:
    """Delete a secret; a run that has it keeps it until it ends."""
    secrets.remove(connection, call.actor, _own(connection, call), call.path("secret"))
    return Done()


def _own(connection: Connection, call: Call) -> Model:
    return models.find(connection, call.actor, call.path("model"), right="change_models")


def _shown_version(one: Version) -> ShownVersion:
    return ShownVersion(
        version=one.number,
        version_id=one.id,
        description=one.description,
        python_version=one.python_version,
        plan=one.plan,
        size=one.size,
        created_at=one.created_at,
        created_by=one.created_by,
        content=one.content,
        backtest_args=one.manifest.backtest_args,
    )
