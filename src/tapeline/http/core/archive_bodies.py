"""A body with an archive in it: texts in memory, the file on disk, and nothing left behind."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.datastructures import UploadFile
from starlette.requests import Request

from tapeline.errors import Invalid, TooLarge
from tapeline.fair_line import Owner
from tapeline.http.core.services import Services
from tapeline.http.wire import body, spooling
from tapeline.http.wire.body import Body, in_time
from tapeline.http.wire.multipart import Attachment
from tapeline.settings import Settings

FILE_NAMES = ("model", "file")


@asynccontextmanager
async def received(
    request: Request, services: Services, owner: Owner, most: int
) -> AsyncIterator[tuple[Body, Attachment | None]]:
    """The texts and the file of a request, in any order. The file is deleted with the request.
    `most` is the limit of a body without a file."""
    settings = services.settings
    encoding = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if encoding != "multipart/form-data":
        yield await body.read(request, settings, most), None
        return
    _refuse_announced(request, settings)
    with services.staging.rooms.room(owner) as room:
        async with in_time(settings.upload_seconds):
            parts = await spooling.gather_parts(
                request, settings, room, files=FILE_NAMES, most=settings.max_archive
            )
        try:
            values = parts.texts()
            body.refuse_nul(values)
            yield Body(values, lenient=True), _chosen(parts.files())
        finally:
            await parts.close()


def _refuse_announced(request: Request, settings: Settings) -> None:
    """Refuse by Content-Length, before a body that is too large is sent."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > settings.max_archive + settings.max_body:
        raise TooLarge(f"The archive is larger than {settings.max_archive:,} bytes.", field="model")


def _chosen(files: Mapping[str, UploadFile]) -> Attachment | None:
    named = [files[name] for name in FILE_NAMES if name in files]
    if not named and len(files) > 1:
        raise Invalid("Several files came; name the model's archive `model`.", field="model")
    found = next(iter(named or files.values()), None)
    if found is None:
        return None
    assert isinstance(found.file, spooling.SpooledFile)
    return found.file.attachment()
