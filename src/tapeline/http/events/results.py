"""Receives backtest results: small ones in memory, large ones in another process."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope

from tapeline.errors import Invalid
from tapeline.http.events.bodies import decoded, encoding_of, read_content
from tapeline.http.wire import spooling
from tapeline.http.wire.body import in_time, too_large
from tapeline.http.wire.multipart import Parts, text_of
from tapeline.settings import Settings
from tapeline.tape.backtest_results.preparing import LISTS
from tapeline.tape.backtest_results.staging import SMALL, Stage
from tapeline.tape.spool import Room

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
    with stage.staging.rooms.room(stage.owner) as room:
        async with in_time(settings.body_seconds):
            fields, lenient = await _spool(Request(scope, receive), headers, settings, room)
        return await stage.take_folder(room.folder, fields, lenient=lenient)


async def _spool(
    request: Request, headers: Mapping[bytes, bytes], settings: Settings, room: Room
) -> tuple[dict[str, Any], bool]:
    encoding, most = encoding_of(headers), settings.max_large_body
    if encoding == b"application/json":
        await spooling.spool(request, most, room, "body")
        return {}, False
    if encoding == b"multipart/form-data":
        parts = await spooling.gather_parts(request, settings, room, files=IN_FILES, most=most)
        try:
            return await _spooled_parts(parts, room, settings.max_body), True
        finally:
            await parts.close()
    content = await read_content(request.receive, settings.max_body, settings.body_seconds)
    values, lenient = await decoded(content, headers, settings)
    for key, value in _taken(values).items():
        room.grow(len(value))
        (room.folder / key).write_bytes(_as_bytes(value, key))
    return values, lenient


async def _spooled_parts(parts: Parts, room: Room, most: int) -> dict[str, Any]:
    """The short fields; the long lists are already files, and an empty file is not a list."""
    values = parts.texts()
    for name, part in parts.files().items():
        assert isinstance(part.file, spooling.SpooledFile)
        if name not in IN_FILES:
            if part.file.size > most:
                raise too_large(most)
            values[name] = await text_of(part)
        elif len(parts.form.getlist(name)) > 1:
            raise Invalid(f"`{name}` must be one JSON list.", field=name)
        elif part.file.size:
            part.file.path.rename(room.folder / name)
    return values


def _taken(values: dict[str, Any]) -> dict[str, Any]:
    """The long lists among the short fields. In a form, an empty text is not a list."""
    found = {key: values.pop(key) for key in IN_FILES if key in values}
    return {key: value for key, value in found.items() if value != ""}


def _as_bytes(value: Any, key: str) -> bytes:
    if not isinstance(value, str):
        raise Invalid(f"`{key}` must be one JSON list.", field=key)
    return value.encode()
