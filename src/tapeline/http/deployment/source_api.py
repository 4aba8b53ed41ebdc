"""The source of a version, file by file, for members who may change the model.

A link never leads here, and neither does the role of a viewer: source is as private as the archive.
"""

import posixpath
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeVar

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.accounts.actor import Actor
from tapeline.errors import NoSuchVersion
from tapeline.fair_line import Owner
from tapeline.http.core import long_answers
from tapeline.http.core.answers import Gives, Listed
from tapeline.http.core.endpoint import Call, QueryCall
from tapeline.models import models, versions
from tapeline.models.archives import archive, sources
from tapeline.models.archives.sources import SourceFile, SourceText
from tapeline.models.archives.zips import Member
from tapeline.models.versions import Version

T = TypeVar("T")
ANY = "application/octet-stream"
NO_STORE = {"Cache-Control": "no-store"}

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
            found = await _in_thread(call, partial(sources.listed, file))
        call.services.sources.put(version.archive, found)
    return _json(Listed(found))


async def show_file(call: QueryCall[OneFile]) -> FileText:
    """One file of a version as text; for members who may change the model."""
    version = await call.services.store.read(_version, call, call.actor)
    async with _reading(call, version) as file:
        return _json(await _in_thread(call, partial(sources.text, file, _path(call, version))))


async def download_file(call: QueryCall[OneFile]) -> AnyFile:
    """Download one file of a version; for members who may change the model."""
    version = await call.services.store.read(_version, call, call.actor)
    path = _path(call, version)
    async with _reading(call, version) as file:
        member = await _in_thread(call, partial(sources.find, file, path))
    name = re.sub(r"[^\w.-]+", "-", PurePosixPath(path).name, flags=re.ASCII).strip("-") or "file"
    headers = NO_STORE | {
        "Content-Length": str(member.size),
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return long_answers.download(
        call.services,
        Owner(call.path("model")),
        _pieces(call, version, member),
        lambda connection: _version(connection, call, call.identified(connection)),
        ANY,
        headers,
    )


async def _pieces(call: Call, version: Version, member: Member) -> AsyncGenerator[bytes, None]:
    async with _archive(call, version) as file:
        with closing(sources.chunks(file, member)) as chunks:
            while piece := await _in_thread(call, partial(next, chunks, b"")):
                yield piece


@asynccontextmanager
async def _reading(call: Call, version: Version) -> AsyncIterator[Path]:
    """The archive as a file, in memory that was reserved for reading its directory."""
    async with _archive(call, version) as file:
        needed = await _in_thread(call, partial(archive.in_memory, file))
        async with call.services.memory.need(Owner(call.path("model")), needed):
            yield file


@asynccontextmanager
async def _archive(call: Call, version: Version) -> AsyncIterator[Path]:
    """The archive as a file: the blob itself, or a copy of one in object storage."""
    blobs, spool = call.services.blobs, call.services.staging.spool
    with ExitStack() as until_read:
        try:
            file = await _in_thread(call, partial(blobs.file, version.archive))
            if file is None:
                folder = until_read.enter_context(tempfile.TemporaryDirectory(dir=spool))
                file = Path(folder) / "archive.zip"
                await _in_thread(call, partial(blobs.fetch, version.archive, file))
        except FileNotFoundError as error:
            raise NoSuchVersion(str(error)) from None
        yield file


async def _in_thread(call: Call, act: Callable[[], T]) -> T:
    """By the threads that compute, which tenants share in turns."""
    return await call.services.store.computers.begin(act)


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
