"""A body with an archive in it: texts in memory, the file on disk, and nothing left behind."""

import hashlib
import io
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request

from tapeline.errors import Invalid, StoreUnavailable, TooLarge
from tapeline.http import body
from tapeline.http.body import Body
from tapeline.http.event_bodies import in_time
from tapeline.http.multipart import Attachment, Parts, WholeMultipart, read_parts
from tapeline.http.services import Services
from tapeline.logs import Log
from tapeline.settings import Settings

log = Log(__name__)

FILE_NAMES = ("model", "file")


@asynccontextmanager
async def received(
    request: Request, services: Services
) -> AsyncIterator[tuple[Body, Attachment | None]]:
    """The texts and the file of a request, whatever their order. The file goes with the request."""
    settings = services.settings
    encoding = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if encoding != "multipart/form-data":
        async with in_time(settings.body_seconds):
            said = await body.read(request, settings)
        yield said, None
        return
    _refuse_announced(request, settings)
    with tempfile.TemporaryDirectory(
        dir=services.staging.spool, ignore_cleanup_errors=True
    ) as name:
        async with in_time(settings.upload_seconds):
            parts = await _read(request, settings, Path(name))
        try:
            values = parts.texts()
            body.check_depth(values, 2)
            yield Body(values, lenient=True), _chosen(parts.files())
        finally:
            await parts.close()


class _Spooled(io.FileIO):
    """A file that knows its hash when it is written, and that stops at a limit."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(path, "w+")
        self.path = path
        self.size = 0
        self._most = most
        self._hash = hashlib.sha256()

    def write(self, content: Any, /) -> int:
        self.size += len(content)
        if self.size > self._most:
            raise _too_large(self._most)
        self._hash.update(content)
        left = memoryview(content)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            log.error("archive_not_spooled", reason=error.strerror)
            raise StoreUnavailable from error
        return len(content)

    def attachment(self) -> Attachment:
        return Attachment(self.path, self._hash.hexdigest(), self.size)


class _Spooling(WholeMultipart):
    """Keeps files in our own folder instead of wherever the system has its temporary ones."""

    def __init__(self, *args: Any, folder: Path, most: int, **more: Any) -> None:
        super().__init__(*args, **more)
        self._folder = folder
        self._most = most
        self._texts = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._current_part.file is None:
            self._texts += end - start
            if self._texts > self.max_part_size:  # all of them together: they are in memory
                raise TooLarge(f"The texts are larger than {self.max_part_size:,} bytes.")
        super().on_part_data(data, start, end)

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        part = self._current_part
        if part.file is not None:
            part.file.file.close()
        elif part.field_name not in FILE_NAMES:  # these are files even when they have no file name
            return
        spooled = _Spooled(self._folder / str(len(self.items)), self._most)
        self._files_to_close_on_error.append(spooled)  # type: ignore[arg-type]
        part.file = UploadFile(file=spooled, size=0, filename="archive")


async def _read(request: Request, settings: Settings, folder: Path) -> Parts:
    stream = body.limited(request, settings.max_archive + settings.max_body)
    make = partial(_Spooling, folder=folder, most=settings.max_archive)
    return await read_parts(request.headers, stream, settings, make)


def _refuse_announced(request: Request, settings: Settings) -> None:
    """Whoever says that too much is coming need not send it."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > settings.max_archive + settings.max_body:
        raise _too_large(settings.max_archive)


def _chosen(files: Mapping[str, UploadFile]) -> Attachment | None:
    named = [files[name] for name in FILE_NAMES if name in files]
    if not named and len(files) > 1:
        raise Invalid("Several files came; name the model's archive `model`.", field="model")
    found = next(iter(named or files.values()), None)
    if found is None:
        return None
    assert isinstance(found.file, _Spooled)
    return found.file.attachment()


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The archive is larger than {most:,} bytes.", field="model")
