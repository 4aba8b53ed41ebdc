"""Bodies that are too large for memory, on their way from the wire to disk."""

import hashlib
import io
import mmap
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from typing import Any

import anyio.to_thread
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from tapeline.errors import TooLarge
from tapeline.http.wire import body
from tapeline.http.wire.guarded_protocol import hold, release
from tapeline.http.wire.multipart import Attachment, Parts, WholeMultipart, read_parts
from tapeline.settings import Settings
from tapeline.tape.spool import Room, unavailable

SMALL = 256 * 1024
"""Bytes of a body that stay in memory."""
MOST_FILES = 16  # in one body: each takes a descriptor

Content = bytearray | mmap.mmap


class SpooledFile(io.FileIO):
    """A file that computes its hash while it is written, and stops at a limit."""

    def __init__(self, room: Room, name: str, most: int) -> None:
        self.path = room.folder / name
        try:
            super().__init__(self.path, "w+")
        except OSError as error:
            raise unavailable(error) from error
        self.size = 0
        self._room = room
        self._most = most
        self._hash = hashlib.sha256()

    def write(self, content: Any, /) -> int:
        self.size += len(content)
        if self.size > self._most:
            raise TooLarge(f"The file is larger than {self._most:,} bytes.")
        self._room.grow(len(content))
        self._hash.update(content)
        left = memoryview(content)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            raise unavailable(error) from error
        return len(content)

    def mapped(self) -> mmap.mmap:
        """Its content, memory-mapped."""
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def attachment(self) -> Attachment:
        return Attachment(self.path, self._hash.hexdigest(), self.size)


async def gather(request: Request, most: int, room: Room, name: str) -> Content:
    """The whole body: in memory if it is small, else mapped from the file of that name."""
    content, chunks = bytearray(), body.limited(request, most)
    async for chunk in chunks:
        content += chunk
        if len(content) > SMALL:
            await _write(request, content, chunks, file := SpooledFile(room, name, most))
            return file.mapped()
    return content


async def spool(request: Request, most: int, room: Room, name: str) -> None:
    """The whole body, into the file of that name."""
    chunks = body.limited(request, most)
    await _write(request, b"", chunks, SpooledFile(room, name, most))


async def _write(
    request: Request, begun: bytes | bytearray, rest: AsyncIterator[bytes], file: SpooledFile
) -> None:
    with file:
        if begun:
            await anyio.to_thread.run_sync(file.write, begun)
            release(request.scope, len(begun))
        async for chunk in rest:
            await anyio.to_thread.run_sync(file.write, chunk)
            release(request.scope, len(chunk))


async def gather_parts(
    request: Request, settings: Settings, room: Room, *, files: tuple[str, ...], most: int
) -> Parts:
    """A multipart body: its texts in memory, its files in the room."""
    stream = _released(request, most + settings.max_body)
    make = partial(_Spooling, request=request, room=room, names=files, most=most)
    return await read_parts(request.headers, stream, settings, make)


async def _released(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    async for chunk in body.limited(request, most):
        yield chunk
        release(request.scope, len(chunk))


class _Spooling(WholeMultipart):
    """Keeps files in our own folder instead of the system's temporary one."""

    def __init__(
        self,
        *args: Any,
        request: Request,
        room: Room,
        names: tuple[str, ...],
        most: int,
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self._request = request
        self._room = room
        self._names = names
        """Parts that are files even when they have no file name."""
        self._most = most
        self._texts = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        part, waiting = self._current_part, self._file_parts_to_write
        if part.file is not None:
            # One write for data that arrived together, however many pieces the parser makes.
            if not waiting or waiting[-1][0] is not part:
                waiting.append((part, bytearray()))  # type: ignore[arg-type]
            waiting[-1][1].extend(data[start:end])  # type: ignore[attr-defined]
            return
        self._texts += end - start
        hold(self._request.scope, end - start)
        if self._texts > self.max_part_size:  # in total: they are in memory
            raise TooLarge(f"The texts are larger than {self.max_part_size:,} bytes.")
        super().on_part_data(data, start, end)

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        part = self._current_part
        if part.file is not None:
            part.file.file.close()
        elif part.field_name not in self._names:
            return
        if len(self._files_to_close_on_error) > MOST_FILES:
            raise MultiPartException(f"it has more than {MOST_FILES} files")
        spooled = SpooledFile(self._room, str(len(self.items)), self._most)
        self._files_to_close_on_error.append(spooled)  # type: ignore[arg-type]
        part.file = UploadFile(file=spooled, size=0, filename="spooled")
