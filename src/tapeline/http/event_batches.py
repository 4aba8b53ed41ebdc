"""Many events in one request: all of them, or an error that names the first bad one."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from tapeline.errors import Invalid, MalformedBody, Problem, TooLarge, UnknownEncoding
from tapeline.http import event_bodies
from tapeline.http.event_bodies import Moment, decoded_object, encoding_of
from tapeline.http.event_results import Stage, prepared
from tapeline.settings import Settings
from tapeline.tape.clock import read_time
from tapeline.tape.event import Event
from tapeline.tape.kinds import BACKTEST_RESULT, BY_PATH
from tapeline.tape.values import number

MOST = 10_000
BREATH = 500  # items between two chances for everybody else

_encode = msgspec.json.Encoder().encode


async def read(
    content: bytes, headers: Mapping[bytes, bytes], moment: Moment, stage: Stage
) -> list[Event]:
    raws = _items(content, encoding_of(headers))
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
