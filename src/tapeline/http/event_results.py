"""Backtest results on their way in: small ones in memory, large ones by way of another process."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.types import Receive, Scope

from tapeline.errors import Invalid
from tapeline.http import body
from tapeline.http.event_bodies import decoded, encoding_of, in_time, read_content
from tapeline.http.multipart import Parts, read_parts, text_of
from tapeline.settings import Settings
from tapeline.tape.preparing import LISTS
from tapeline.tape.staging import SMALL, Stage

IN_FILES = LISTS[:2]


async def take(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, stage: Stage
) -> dict[str, Any]:
    """Check a result and stage its pieces; the header of the event that will make them visible."""
    settings = stage.staging.settings
    length = headers.get(b"content-length", b"")
    if not (length.isdigit() and len(length) < 10 and int(length) <= SMALL):
        return await _take_large(scope, headers, receive, stage)
    content = await read_content(receive, settings.max_large_body, settings.body_seconds)
    if encoding_of(headers) == b"application/json":
        return await stage.take(content)
    values, lenient = await decoded(content, headers, settings)
    files = {key: _as_bytes(value, key) for key, value in _taken(values).items()}
    return await stage.take_parts(None, values, files, lenient=lenient)


async def _take_large(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, stage: Stage
) -> dict[str, Any]:
    settings = stage.staging.settings
    with tempfile.TemporaryDirectory(dir=stage.staging.spool) as name:
        async with in_time(settings.body_seconds):
            fields, lenient = await _spool(scope, headers, receive, settings, Path(name))
        return await stage.take_folder(Path(name), fields, lenient=lenient)


async def _spool(
    scope: Scope,
    headers: Mapping[bytes, bytes],
    receive: Receive,
    settings: Settings,
    folder: Path,
) -> tuple[dict[str, Any], bool]:
    encoding = encoding_of(headers)
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
