"""Decodes bodies in three encodings to one dictionary, within limits. Forms are read leniently."""

import asyncio
import types
import typing
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import msgspec
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from tapeline import nesting
from tapeline.errors import (
    Invalid,
    MalformedBody,
    MissingField,
    TooLarge,
    TooSlow,
    UnknownEncoding,
)
from tapeline.http.wire.forms import fields_of
from tapeline.http.wire.multipart import gathered, read_parts, text_of
from tapeline.http.wire.validation_errors import explain
from tapeline.settings import Settings

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True)
class Body:
    values: dict[str, Any]
    lenient: bool
    """Whether numbers and booleans are also read from text, because form values are text."""

    def canonical(self) -> bytes:
        """Equal for equal content, whatever the multipart boundary was."""
        return msgspec.json.encode(self.values, order="deterministic")


async def read(request: Request, settings: Settings, most: int) -> Body:
    """At most so many bytes, and never more than the setting for all bodies."""
    stream = limited(request, min(most, settings.max_body))
    async with in_time(settings.body_seconds):
        found = await _read(request.headers, stream, settings)
    refuse_nul(found.values)
    return found


async def decode(headers: Headers, content: bytes, settings: Settings) -> Body:
    """The same for a body that has already arrived. Its readers decide about NUL."""

    async def stream() -> AsyncGenerator[bytes, None]:
        yield content

    return await _read(headers, stream(), settings)


def convert(body: Body, wanted: type[T]) -> T:
    """The body as the record a handler works with, or an error that names the field."""
    values = _without_empty(body.values, wanted)
    if not body.lenient:
        values = _with_numbers(values, wanted)
    try:
        return msgspec.convert(values, wanted, strict=not body.lenient)
    except msgspec.ValidationError as error:
        raise explain(error) from None


@asynccontextmanager
async def in_time(seconds: float) -> AsyncIterator[None]:
    """A client that sends slowly, or goes away, must not keep us waiting."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TooSlow(f"The body did not arrive within {seconds:g} seconds.") from None
    except ClientDisconnect:
        raise MalformedBody("The connection closed before the body was complete.") from None


async def limited(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise too_large(most)
        yield chunk


def too_large(most: int) -> TooLarge:
    return TooLarge(f"The body is larger than {most:,} bytes, the most this address accepts.")


async def _read(headers: Headers, stream: AsyncGenerator[bytes, None], settings: Settings) -> Body:
    encoding = headers.get("content-type", "").partition(";")[0].strip().lower()
    if encoding == "multipart/form-data":
        return Body(await _multipart(headers, stream, settings), lenient=True)
    content = b"".join([chunk async for chunk in stream])
    if encoding == "application/json":
        return Body(_json(content, settings.max_depth), lenient=False)
    if encoding == "application/x-www-form-urlencoded":
        return Body(_form(content, settings.max_parts), lenient=True)
    if content:
        raise UnknownEncoding
    return Body({}, lenient=False)


def _json(content: bytes, max_depth: int) -> dict[str, Any]:
    if not content:
        return {}
    try:
        values = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedBody(f"The body is not valid JSON: {error}.") from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    if not isinstance(values, dict):
        raise MalformedBody("The body must be a JSON object, such as {}.")
    if nesting.is_deeper(content, max_depth):
        raise _too_deep(max_depth)
    return values


def _form(content: bytes, max_parts: int) -> dict[str, Any]:
    try:
        return gathered(fields_of(content, max_parts))
    except UnicodeDecodeError:
        raise MalformedBody("The form is not valid UTF-8.") from None
    except ValueError:
        raise MalformedBody(f"The form has more than {max_parts:,} fields.") from None


async def _multipart(
    headers: Headers, stream: AsyncGenerator[bytes, None], settings: Settings
) -> dict[str, Any]:
    parts = await read_parts(headers, stream, settings)
    try:
        files = {name: await text_of(part) for name, part in parts.files().items()}
        return parts.texts() | files
    finally:
        await parts.close()


def refuse_nul(values: dict[str, Any]) -> None:
    """PostgreSQL has no texts with it."""
    if not nesting.has_nul(msgspec.json.encode(values)):
        return
    for name, value in values.items():
        if nesting.has_nul(msgspec.json.encode({name: value})):
            raise Invalid("Texts must not contain the character NUL.", field=name or None)


def _too_deep(max_depth: int) -> MalformedBody:
    return MalformedBody(f"The body is nested deeper than {max_depth} levels.")


def _without_empty(values: dict[str, Any], wanted: type[T]) -> dict[str, Any]:
    """An empty string for a required text counts as missing."""
    for field in msgspec.structs.fields(wanted):
        if field.required and _plain(field.type) is str and values.get(field.encode_name) == "":
            raise MissingField(f"`{field.encode_name}` is required.", field=field.encode_name)
    return values


def _with_numbers(values: dict[str, Any], wanted: type[T]) -> dict[str, Any]:
    """In JSON, numeric text is accepted as a number; no other wrong type is."""
    changed = {}
    for name in _number_fields(wanted) & values.keys():
        if isinstance(values[name], str):
            try:
                changed[name] = msgspec.convert(values[name].strip(), int | float, strict=False)
            except msgspec.ValidationError:
                continue  # convert() names the field
    return values | changed if changed else values


def _plain(kind: Any) -> Any:
    """The type without its annotations."""
    return typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind


@cache
def _number_fields(wanted: type[msgspec.Struct]) -> frozenset[str]:
    def is_number(kind: Any) -> bool:
        if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
            kinds = set(typing.get_args(kind)) - {types.NoneType}
            return bool(kinds) and all(map(is_number, kinds))
        return _plain(kind) in {int, float}

    fields = msgspec.structs.fields(wanted)
    return frozenset(field.encode_name for field in fields if is_number(field.type))
