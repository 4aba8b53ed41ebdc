"""Downloads of archives, of versions and of starter models."""

from contextlib import suppress

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.errors import NoSuchStarter, NoSuchVersion, Unidentified
from tapeline.http.core import auth, senders
from tapeline.http.core.answers import Done, Zip
from tapeline.http.core.endpoint import Access, BodyCall, Call
from tapeline.http.core.fields import Required
from tapeline.http.deployment import archive_files
from tapeline.models import models, published, starters, versions
from tapeline.models.published import Published
from tapeline.models.versions import Version


class StarterModel(msgspec.Struct, rename="camel"):
    short_name: str
    path: str
    url: str
    exchange: str
    model_type: str


class NewStarter(msgspec.Struct):
    name: Required
    version_id: str | None = None
    """The newest version when it is left out."""


class ShownStarter(msgspec.Struct, kw_only=True):
    name: str
    model_id: str
    version_id: str
    published_at: float
    published_by: str


async def download_version(call: Call) -> Zip:
    """Download a version's archive as it was uploaded; for members who may change the model."""

    def find(connection: Connection) -> tuple[str, Version]:
        actor = call.identified(connection)
        model = models.find(connection, actor, call.path("model"), right="change_models")
        return model.name, versions.get(connection, model.id, call.path("version"))

    name, version = await call.services.store.read(find)
    named = f"{name}-v{version.number}.zip"
    return await archive_files.download_whole(call, version.archive, named, find)


async def list_starters(call: Call) -> list[StarterModel]:
    """List starter models; signed-in callers also see those published on this server."""
    own = [(one.name, one.path, one.type) for one in starters.listed()]
    if await _is_known(call):
        found = await call.services.store.read(published.everyone)
        own += [(one.name, f"published/{one.name}", one.type) for one in found]
    return [
        StarterModel(name, path, call.link(f"/model/starter-models/{name}.zip"), "", kind)
        for name, path, kind in own
    ]


async def download_starter(call: Call) -> Zip:
    """Download a starter model as an archive that can be deployed unchanged."""
    name = call.path("starter")
    if any(one.name == name for one in starters.listed()):
        return Response(starters.packed(name), media_type=archive_files.ZIP)
    if not await _is_known(call):
        raise NoSuchStarter

    def find(connection: Connection) -> Published:
        auth.identify(call.request, call.services, Access.ACCOUNT)(connection)
        return published.find(connection, name)

    found = await call.services.store.read(find)
    return await archive_files.download_whole(call, found.archive, f"{name}.zip", find)


def publish_starter(connection: Connection, call: BodyCall[NewStarter]) -> ShownStarter:
    """Publish a version of this model as a starter model for every account of this server."""
    model = models.find(connection, call.actor, call.path("model"), right="change_models")
    if call.body.version_id:
        version = versions.get(connection, model.id, call.body.version_id)
    else:
        newest = versions.newest(connection, model.id)
        if newest is None:
            raise NoSuchVersion("Nothing has been uploaded for this model yet.")
        version = newest
    return _shown(published.publish(connection, call.actor, model, version, call.body.name))


def withdraw_starter(connection: Connection, call: Call) -> Done:
    """Withdraw a starter model from the list."""
    model = models.find(connection, call.actor, call.path("model"), right="change_models")
    published.withdraw(connection, call.actor, model, call.path("starter"))
    return Done()


async def _is_known(call: Call) -> bool:
    """Whether the caller is signed in, which Tapeline's own starter models do not need. What they
    read then is in their tenant's turn."""
    with suppress(Unidentified):
        identify = auth.identify(call.request, call.services, Access.ACCOUNT)
        await call.services.store.read(identify)
        await senders.join_tenant(call.request, call.services, Access.ACCOUNT, identify)
        return True
    return False


def _shown(one: Published) -> ShownStarter:
    return ShownStarter(
        name=one.name,
        model_id=one.model_id,
        version_id=one.version_id,
        published_at=one.published_at,
        published_by=one.published_by,
    )
