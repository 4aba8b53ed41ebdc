"""The deployment API for space: what a project takes by kind, and how long it keeps each kind."""

from typing import Annotated, cast

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members
from tapeline.http.core.endpoint import BodyCall, Call
from tapeline.tape.retention import policy, usage
from tapeline.tape.retention.policy import Kept
from tapeline.tape.retention.usage import SpaceUsage

Days = Annotated[int, msgspec.Meta(ge=1, le=36_500)]


class RetentionChange(msgspec.Struct, forbid_unknown_fields=True):
    """Days; null keeps a kind for ever, and a kind that is absent stays as it is. Another kind is
    refused: whoever misspells one would believe that it is removed."""

    logs: Days | msgspec.UnsetType | None = msgspec.UNSET
    events: Days | msgspec.UnsetType | None = msgspec.UNSET
    """Generic events."""
    backtests: Days | msgspec.UnsetType | None = msgspec.UNSET
    """Finished ones, with their logs and results."""
    samples: Days | msgspec.UnsetType | None = msgspec.UNSET
    """Memory and processor usage of runs."""


def show_retention(connection: Connection, call: Call) -> SpaceUsage:
    """The space that a project takes by kind of data, and the days that each kind is kept."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    return usage.of_project(connection, project_id, call.services.settings.bars_days)


def change_retention(connection: Connection, call: BodyCall[RetentionChange]) -> SpaceUsage:
    """Set how many days a project keeps a kind of data; for owners and admins."""
    project_id = call.path("project")
    given = msgspec.structs.asdict(call.body)
    changes = {cast(Kept, kind): days for kind, days in given.items() if days is not msgspec.UNSET}
    policy.change(connection, call.actor, project_id, changes)
    return usage.of_project(connection, project_id, call.services.settings.bars_days)
