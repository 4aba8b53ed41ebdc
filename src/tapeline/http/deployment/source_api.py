"""The source of a version, file by file, for members who may change the model.

A link never leads here, and neither does the role of a viewer: source is as private as the archive.
"""

import posixpath
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline import turns
from tapeline.accounts.actor import Actor
from tapeline.http.core.answers import Gives, Listed
from tapeline.http.core.endpoint import Call, QueryCall
from tapeline.http.deployment import archive_files
from tapeline.http.deployment.archive_files import NO_STORE, in_thread
from tapeline.models import models, versions
from tapeline.models.archives import archive, sources
from tapeline.models.archives.sources import SourceFile, SourceText
from tapeline.models.versions import Version
from tapeline.store.blobs import Blob

ANY = "application/octet-stream"

FileList = Annotated[Response, Gives(Listed[SourceFile])]
FileText = Annotated[Response, Gives(SourceText)]
AnyFile = Annotated[Response, Gives(str, ANY)]


class OneFile(msgspec.Struct):
    path: str = ""
    """Inside `model/`; the main script when it is left out."""


async def list_files(call: Call) -> FileList:
    """The files of a version with their hashes, by path; for members who may change the model."""
    version = await call.services.store.read(_version, call, call.actor)
    found = call.services.sources.find(version.archive)
    if found is None:
        async with _reading(call, version) as file:
            found = await in_thread(call, partial(sources.listed, file))
        call.services.sources.put(version.archive, found)
    return _json(Listed(found))


async def show_file(call: QueryCall[OneFile]) -> FileText:
    """One file of a version as text; for members who may change the model."""
    version = await call.services.store.read(_version, call, call.actor)
    async with _reading(call, version) as file:
        return _json(await in_thread(call, partial(sources.text, file, _path(call, version))))


async def download_file(call: QueryCall[OneFile]) -> AnyFile:
    """Download one file of a version; for members who may change the model."""
    version = await call.services.store.read(_version, call, call.actor)
    path = _path(call, version)
    async with _reading(call, version) as file:
        member = await in_thread(call, partial(sources.find, file, path))

    def may_read(connection: Connection) -> Version:
        return _version(connection, call, call.identified(connection))

    chunks, name = sources.chunks(file, member), PurePosixPath(path).name
    return archive_files.download(call, chunks, member.size, may_read, ANY, name)


@asynccontextmanager
async def _reading(call: Call, version: Version) -> AsyncIterator[Blob]:
    """The archive, in memory that was reserved for reading its directory."""
    file = await archive_files.find(call, version.archive)
    needed = await in_thread(call, partial(archive.in_memory, file))
    async with call.services.memory.need(turns.sender.get(), needed):
        yield file


def _version(connection: Connection, call: Call, actor: Actor) -> Version:
    model = models.find(connection, actor, call.path("model"), right="change_models")
    return versions.get(connection, model.id, call.path("version"))


def _path(call: QueryCall[OneFile], version: Version) -> str:
    manifest = version.manifest
    main = posixpath.join(manifest.working_directory, manifest.main_script)
    return call.query.path or posixpath.normpath(main)


def _json(answer: object) -> Response:
    content = msgspec.json.encode(answer)
    return Response(content, media_type="application/json", headers=NO_STORE)
