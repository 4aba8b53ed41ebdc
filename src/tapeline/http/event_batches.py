"""Many events in one request: all of them, or an error that names the first bad one."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tapeline.errors import Invalid, MalformedBody, Problem, TooLarge, UnknownEncoding
from tapeline.http import event_bodies
from tapeline.http.event_bodies import Line, Moment, decoded_object, encoding_of, is_plain
from tapeline.http.event_results import Stage, prepared
from tapeline.settings import Settings
from tapeline.tape.clock import read_time
from tapeline.tape.event import Event
from tapeline.tape.kinds import BACKTEST_RESULT, BY_PATH
from tapeline.tape.values import number

MOST = 10_000
BREATH = 500  # items between two chances for everybody else
SMALL = 256 * 1024  # bytes: decoded in one go, everybody else waits a few milliseconds


class _LineItem(msgspec.Struct):
    path: Literal["/v1/live/log", "/v1/model/log"]
    body: Line
    time: None = None


_line_items = msgspec.json.Decoder(list[_LineItem])

_encode = msgspec.json.Encoder().encode


async def read(
    content: bytes, headers: Mapping[bytes, bytes], moment: Moment, stage: Stage
) -> list[Event]:
    encoding = encoding_of(headers)
    if encoding == b"application/json" and len(content) <= SMALL:
        lines = _only_lines(content, stage.services.settings.max_depth)
        if lines is not None:
            return [event_bodies.line_event(one, moment, stage.tape) for one in lines]
    raws = _items(content, encoding)
    if len(raws) > MOST:
        raise TooLarge(f"A batch has at most {MOST:,} events.")
    found: list[Event] = []
    for index, raw in enumerate(raws):
        if index % BREATH == BREATH - 1:
            await asyncio.sleep(0)
        try:
            found.append(await _event(raw, moment, stage))
        except Problem as problem:
            if not isinstance(problem, Invalid | TooLarge):
                raise  # the store's trouble, not the item's
            raise Invalid(f"Item {index}: {problem.message}", field=problem.field) from None
    return found


def _only_lines(content: bytes, max_depth: int) -> list[Line] | None:
    """The lines of a batch that ships logs and nothing else, as most do: many times quicker than
    one by one. None for any other batch, and for one in which anything at all is odd."""
    try:
        items = _line_items.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    # Two brackets an item and one around them all: with few more, nothing ignored is too deep.
    brackets = content.count(b"{") + content.count(b"[")
    if len(items) > MOST or brackets > 2 * len(items) + max_depth:
        return None
    lines = [item.body for item in items]
    return lines if all(is_plain(line) for line in lines) else None


async def _event(raw: bytes | msgspec.Raw, moment: Moment, stage: Stage) -> Event:
    settings = stage.services.settings
    path, values, own = _item(raw, settings)
    moment = moment if own is None else Moment(own, moment.received_at)
    if BY_PATH[path] is not BACKTEST_RESULT:
        return event_bodies.event(path, values, moment, stage.tape, settings, lenient=False)
    header = await prepared(stage, _encode(values))
    return event_bodies.result_event(header, stage.newest, moment, stage.tape)


def _item(raw: bytes | msgspec.Raw, settings: Settings) -> tuple[str, dict[str, Any], float | None]:
    item = decoded_object(raw, settings.max_depth + 1)
    path, values, at = item.get("path"), item.get("body"), item.get("time")
    if not isinstance(path, str) or path not in BY_PATH:
        raise Invalid("`path` must be the address of an event.", field="path")
    if not isinstance(values, dict):
        raise Invalid("`body` must be an object.", field="body")
    if at is None:
        return path, values, None
    return path, values, read_time(at if isinstance(at, str) else repr(number(at, "time")))


def _items(content: bytes, encoding: bytes) -> list[Any]:
    if encoding == b"application/x-ndjson":
        return [line for line in content.split(b"\n") if line.strip()]
    if encoding != b"application/json":
        raise UnknownEncoding("Send a batch as application/json or application/x-ndjson.")
    try:
        return msgspec.json.decode(content, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBody(f"The batch is not a JSON array: {error}.") from None
