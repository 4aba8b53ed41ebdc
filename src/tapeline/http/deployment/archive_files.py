"""Archives as downloads and to read in: where they are, in threads that tenants share in turns."""

import re
from collections.abc import AsyncGenerator, Callable, Generator
from functools import partial
from typing import TypeVar

from starlette.responses import Response

from tapeline.errors import NoSuchVersion
from tapeline.http.core import long_answers
from tapeline.http.core.endpoint import Call
from tapeline.http.core.long_answers import MayRead
from tapeline.store.blobs import CHUNK, Blob

T = TypeVar("T")
NO_STORE = {"Cache-Control": "no-store"}
ZIP = "application/zip"

Chunks = Generator[bytes, None, None]


async def find(call: Call, archive: str) -> Blob:
    return await in_thread(call, partial(call.services.blobs.find, archive))


async def in_thread(call: Call, act: Callable[[], T]) -> T:
    try:
        return await call.services.store.computers.begin(act)
    except FileNotFoundError as error:
        raise NoSuchVersion(str(error)) from None


async def download_whole(call: Call, archive: str, name: str, may_read: MayRead) -> Response:
    blob = await find(call, archive)
    return download(call, _chunks(blob), blob.size, may_read, ZIP, name)


def download(
    call: Call, chunks: Chunks, size: int, may_read: MayRead, media: str, name: str
) -> Response:
    """Its length tells the client whether the download is complete."""
    plain = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-") or "file"
    headers = NO_STORE | {
        "Content-Length": str(size),
        "Content-Disposition": f'attachment; filename="{plain}"',
    }
    return long_answers.download(call.services, _pieces(call, chunks), may_read, media, headers)


async def _pieces(call: Call, chunks: Chunks) -> AsyncGenerator[bytes, None]:
    """A client may leave while a thread reads the next one: the file closes with the last that
    uses it, and waiting for that thread here would hold up the event loop."""
    while piece := await in_thread(call, partial(next, chunks, b"")):
        yield piece


def _chunks(blob: Blob) -> Chunks:
    with blob.open() as stream:
        while chunk := stream.read(CHUNK):
            yield chunk
