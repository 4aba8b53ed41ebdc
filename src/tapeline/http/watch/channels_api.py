"""Channels: where messages about incidents go, of a project or of the installation. What an address
holds is never shown again."""

from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members, tenants
from tapeline.errors import Forbidden, NoSuchProject
from tapeline.fair_line import Owner
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import BodyCall, Call
from tapeline.models import onboarding, projects
from tapeline.watch.sending import services
from tapeline.watch.sending.jobs import Outcome
from tapeline.watch.telling import channels
from tapeline.watch.telling.channels import Channel, NoSuchChannel

Unset = msgspec.UnsetType
ChannelName = Annotated[
    str, msgspec.Meta(extra_json_schema={"maxLength": channels.LONGEST_NAME, "pattern": r"\S"})
]
Address = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": services.LONGEST})]


class NewChannel(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: ChannelName
    address: Address
    """Of Apprise, such as `mailtos://…`, or `https://…` for a signed webhook."""
    quiet: dict[str, Any] | None = None
    """Hours in which only what is critical is sent: zone, days, from, to."""
    digest: dict[str, Any] | None = None
    """`{"every": "hour"}` or `{"every": "day", "at": "08:00", "zone": "Europe/Berlin"}`."""


class ChannelChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Fields that are not sent stay unchanged."""

    name: ChannelName | Unset = msgspec.UNSET
    address: Address | Unset = msgspec.UNSET
    quiet: dict[str, Any] | Unset | None = msgspec.UNSET
    digest: dict[str, Any] | Unset | None = msgspec.UNSET
    rotate_secret: bool = False
    """Whether a webhook gets a new secret, which the answer shows."""


class ShownChannel(msgspec.Struct, kw_only=True):
    channel_id: str
    project_id: str | None
    """Null: of the installation."""
    name: str
    kind: str
    """`webhook` or `apprise`."""
    shown: str
    """What may be seen of its address."""
    quiet: dict[str, Any] | None
    digest: dict[str, Any] | None
    created_at: float
    created_by: str
    tested_at: float | None
    test_result: str | None
    failing_since: float | None
    """Since when messages do not arrive; null while they do."""
    last_error: str | None


class ChannelWithSecret(ShownChannel, kw_only=True):
    secret: str | None
    """What signs the messages of a webhook. It is shown only now."""


class Tested(msgspec.Struct, kw_only=True):
    arrived: bool
    """Whether the service accepted the message."""
    status: int | None
    """What it answered: a status of HTTP or of SMTP."""
    message: str


def list_channels(connection: Connection, call: Call) -> Listed[ShownChannel]:
    """The channels of a project."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "see")
    return _listed(connection, project_id)


def list_server_channels(connection: Connection, _: Call) -> Listed[ShownChannel]:
    """The channels of the installation, which its own rules use."""
    return _listed(connection, None)


async def check_new(call: BodyCall[NewChannel]) -> channels.Address:
    """Whether messages could go there, before anything is stored."""
    owner = await call.services.store.read(_owner_of_project, call)
    return await call.services.telling.check(call.body.address, owner)


async def check_new_of_server(call: BodyCall[NewChannel]) -> channels.Address:
    return await call.services.telling.check(call.body.address, Owner("server"))


def add_channel(connection: Connection, call: BodyCall[NewChannel]) -> ChannelWithSecret:
    """Make a channel of a project."""
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "change_models")
    return _added(connection, call, project_id)


def add_server_channel(connection: Connection, call: BodyCall[NewChannel]) -> ChannelWithSecret:
    """Make a channel of the installation."""
    return _added(connection, call, None)


async def check_change(call: BodyCall[ChannelChange]) -> channels.Address | None:
    def owner(connection: Connection) -> Owner:
        return _owner(connection, _permitted(connection, call, "change_models"))

    found = await call.services.store.read(owner)
    if call.body.address is msgspec.UNSET:
        return None
    return await call.services.telling.check(call.body.address, found)


def change_channel(connection: Connection, call: BodyCall[ChannelChange]) -> ChannelWithSecret:
    """Change a channel's name, address, quiet hours or digests, or the secret of a webhook."""
    said, channel = call.body, _permitted(connection, call, "change_models")
    held = {"quiet": said.quiet, "digest": said.digest}
    changed, secret = channels.change(
        connection,
        call.actor,
        call.services.cipher,
        channel,
        name=None if said.name is msgspec.UNSET else said.name,
        address=call.prepared,
        rotate_secret=said.rotate_secret,
        **{name: value for name, value in held.items() if value is not msgspec.UNSET},
    )
    return ChannelWithSecret(**_fields(changed), secret=secret)


def delete_channel(connection: Connection, call: Call) -> Done:
    """Delete a channel, with what it was still to be told."""
    channels.remove(connection, call.actor, _permitted(connection, call, "change_models"))
    return Done()


async def send_test(call: Call) -> Outcome:
    """Send a message now. It is counted first."""
    services = call.services

    def begin(connection: Connection) -> tuple[Channel, str]:
        found = _permitted(connection, call, "change_models")
        channels.begin_test(connection, call.actor, found)
        if found.project_id is None:
            return found, ""
        return found, projects.get(connection, call.actor, found.project_id).name

    channel, project = await services.store.write(begin)
    return await services.telling.test(channel, project)


def note_test(connection: Connection, call: Call) -> Tested:
    """Send a message to a channel, and say whether the service accepted it."""
    outcome: Outcome = call.prepared
    channel = _permitted(connection, call, "change_models")
    channels.end_test(connection, channel, arrived=outcome.arrived, message=outcome.message)
    return Tested(arrived=outcome.arrived, status=outcome.status, message=outcome.message)


def _listed(connection: Connection, project_id: str | None) -> Listed[ShownChannel]:
    found = channels.of_scope(connection, project_id)
    return Listed([ShownChannel(**_fields(one)) for one in found])


def _added(
    connection: Connection, call: BodyCall[NewChannel], project_id: str | None
) -> ChannelWithSecret:
    made, secret = channels.create(
        connection,
        call.actor,
        call.services.cipher,
        project_id,
        call.body.name,
        call.prepared,
        quiet=call.body.quiet,
        digest=call.body.digest,
    )
    return ChannelWithSecret(**_fields(made), secret=secret)


def _owner_of_project(connection: Connection, call: Call) -> Owner:
    project_id = call.path("project")
    members.require(connection, call.actor, project_id, "change_models")
    return Owner(tenants.of_project(connection, project_id), project_id)


def _owner(connection: Connection, channel: Channel) -> Owner:
    if channel.project_id is None:
        return Owner("server")
    return Owner(tenants.of_project(connection, channel.project_id), channel.project_id)


def _permitted(connection: Connection, call: Call, right: members.Right) -> Channel:
    """The channel, if the caller may; to everybody else it does not exist."""
    found = channels.find(connection, call.path("channel"))
    if found.project_id is None:
        try:
            onboarding.require_operator(connection, call.actor)
        except Forbidden:
            raise NoSuchChannel from None
        return found
    try:
        members.require(connection, call.actor, found.project_id, right)
    except NoSuchProject:
        raise NoSuchChannel from None
    return found


def _fields(channel: Channel) -> dict[str, Any]:
    found = msgspec.structs.asdict(channel)
    return {"channel_id": found.pop("id"), **found}
