"""Backtest results on their way in: small ones in memory, large ones by way of another process."""

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.types import Receive, Scope

from tapeline.errors import Invalid, Problem
from tapeline.http import body
from tapeline.http.event_bodies import decoded, encoding_of, in_time, read_content
from tapeline.http.multipart import Parts, read_parts, text_of
from tapeline.http.services import Services
from tapeline.ids import new_id
from tapeline.tape import uploads
from tapeline.tape.preparing import LISTS, Piece, prepare_apart, prepare_here, read_pieces

SMALL = 256 * 1024
STAGED_AT_ONCE = 1_000_000  # bytes in one write: others' events must not wait for a whole result
IN_FILES = LISTS[:2]


class Stage:
    """Pieces of results, written in portions; nobody sees them until their event is on the tape."""

    def __init__(self, services: Services, tape: int) -> None:
        self.services = services
        self.tape = tape
        self._uploads: list[str] = []

    @property
    def newest(self) -> str:
        return self._uploads[-1]

    async def put(self, pieces: Iterable[Piece]) -> None:
        upload, portion, size = new_id(), [], 0
        self._uploads.append(upload)
        for piece in pieces:
            portion.append(piece)
            size += len(piece.content)
            if size >= STAGED_AT_ONCE:
                await self.services.store.write(uploads.stage, upload, portion)
                portion, size = [], 0
        if portion:
            await self.services.store.write(uploads.stage, upload, portion)

    def keep(self) -> None:
        """Their events are stored."""
        if self._uploads:
            self.services.reporter.wake()
        self._uploads.clear()

    async def discard(self) -> None:
        """What was staged for events that are not stored, or were stored already."""
        for upload in self._uploads:
            with suppress(Problem):  # a store that is down has told the client already
                await self.services.store.write(uploads.discard, self.tape, upload)
        self._uploads.clear()


async def take(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, stage: Stage
) -> dict[str, Any]:
    """Check a result and stage its pieces; the header of the event that will make them visible."""
    settings = stage.services.settings
    length = headers.get(b"content-length", b"")
    if not (length.isdigit() and len(length) < 10 and int(length) <= SMALL):
        return await _take_large(scope, headers, receive, stage)
    content = await read_content(receive, settings.max_large_body, settings.body_seconds)
    if encoding_of(headers) == b"application/json":
        return await prepared(stage, content)
    values, lenient = await decoded(content, headers, settings)
    files = {key: _as_bytes(value, key) for key, value in _taken(values).items()}
    header, pieces = prepare_here(
        None, values, files, lenient=lenient, max_depth=settings.max_depth
    )
    await stage.put(pieces)
    return header


async def prepared(stage: Stage, content: bytes | memoryview) -> dict[str, Any]:
    """The same for a body of JSON that is here already."""
    depth = stage.services.settings.max_depth
    if len(content) <= SMALL:
        header, pieces = prepare_here(bytes(content), {}, {}, lenient=False, max_depth=depth)
        await stage.put(pieces)
        return header
    with tempfile.TemporaryDirectory(dir=stage.services.spool) as name:
        # Up to 100 MB: not on the event loop.
        await anyio.to_thread.run_sync((Path(name) / "body").write_bytes, content)
        return await _prepared_apart(Path(name), {}, stage, lenient=False)


async def _take_large(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, stage: Stage
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=stage.services.spool) as name:
        async with in_time(stage.services.settings.body_seconds):
            fields, lenient = await _spool(scope, headers, receive, stage.services, Path(name))
        return await _prepared_apart(Path(name), fields, stage, lenient=lenient)


async def _prepared_apart(
    folder: Path, fields: dict[str, Any], stage: Stage, *, lenient: bool
) -> dict[str, Any]:
    depth = stage.services.settings.max_depth
    helpers = stage.services.helpers
    header = await prepare_apart(helpers, folder, fields, lenient=lenient, max_depth=depth)
    with (folder / "pieces").open("rb") as packed:
        await stage.put(read_pieces(packed))
    return header


async def _spool(
    scope: Scope,
    headers: Mapping[bytes, bytes],
    receive: Receive,
    services: Services,
    folder: Path,
) -> tuple[dict[str, Any], bool]:
    encoding, settings = encoding_of(headers), services.settings
    if encoding == b"application/json":
        with (folder / "body").open("wb") as file:
            async for chunk in body.limited(Request(scope, receive), settings.max_large_body):
                file.write(chunk)
        return {}, False
    if encoding == b"multipart/form-data":
        request = Request(scope, receive)
        stream = body.limited(request, settings.max_large_body)
        parts = await read_parts(request.headers, stream, settings)
        try:
            values, lenient = await _spool_parts(parts, folder), True
        finally:
            await parts.close()
    else:
        content = await read_content(receive, settings.max_body, settings.body_seconds)
        values, lenient = await decoded(content, headers, settings)
    for key, value in _taken(values).items():
        (folder / key).write_bytes(_as_bytes(value, key))
    return values, lenient


async def _spool_parts(parts: Parts, folder: Path) -> dict[str, Any]:
    """The short parts; the long lists go to files."""
    values = parts.texts()
    for name, part in parts.files().items():
        if name in IN_FILES:
            with (folder / name).open("wb") as file:
                await anyio.to_thread.run_sync(shutil.copyfileobj, part.file, file)
        else:
            values[name] = await text_of(part)
    return values


def _taken(values: dict[str, Any]) -> dict[str, Any]:
    """The long lists that came among the short fields. Over forms an empty text is no list."""
    found = {key: values.pop(key) for key in IN_FILES if key in values}
    return {key: value for key, value in found.items() if value != ""}


def _as_bytes(value: Any, key: str) -> bytes:
    if not isinstance(value, str):
        raise Invalid(f"`{key}` must be one JSON list.", field=key)
    return value.encode()
