"""Many events in one request: all of them, or an error that names the first bad one."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Literal

import msgspec
from starlette.requests import Request

from tapeline.errors import Invalid, MalformedBody, Problem, TooLarge, UnknownEncoding
from tapeline.fair_line import Owner
from tapeline.http.events import bodies
from tapeline.http.events.bodies import JSON, UNLIKE, Moment, encoding_of, exact_event
from tapeline.http.prices.pushed import Amount
from tapeline.http.wire.body import too_large
from tapeline.http.wire.spooling import Content
from tapeline.tape.backtest_results.staging import Stage
from tapeline.tape.batches import MOST, PASSING, Item, split, split_apart
from tapeline.tape.events.event import Event
from tapeline.tape.events.exact_bodies import Line
from tapeline.tape.events.kinds import BACKTEST_RESULT, BY_PATH, KINDS, LOG
from tapeline.tape.fair_budget import FairBudget
from tapeline.tape.spool import Room

NDJSON = b"application/x-ndjson"
# Bytes that are decoded, and split, in one go: other requests wait some milliseconds.
SMALL, LARGE = 1_000_000, 8_000_000
DECODED = 5  # times the size of a batch that its events take in memory
ENCODINGS = "Send a batch as application/json or application/x-ndjson."
BREATH = 250_000  # bytes between two yields to other requests; an item counts as 500 more


class _LineItem(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    path: Literal["/v1/live/log", "/v1/model/log"]
    body: Line
    time: None = None


_VITAL = [f"/{kind.name}".encode() for kind in KINDS if kind.is_vital] + [b"\\u", b"\\/"]
_line_items = msgspec.json.Decoder(list[_LineItem])


def file_name(headers: Mapping[bytes, bytes]) -> str:
    """The name tells the splitting process which format it is."""
    return "lines" if encoding_of(headers) == NDJSON else "body"


def is_surely_not_vital(content: Content) -> bool:
    """Whether it contains no order, update, cash or lifecycle, found without parsing, so that a
    flood over its quota costs little. An escape could hide such a name, so it counts as one."""
    return len(content) <= LARGE and not any(content.find(word) >= 0 for word in _VITAL)


@asynccontextmanager
async def turn(
    budget: FairBudget, request: Request, owner: Owner, size: int
) -> AsyncGenerator[None, None]:
    """Wait until it is this batch's turn."""
    if size > PASSING:
        await request.is_disconnected()  # reads on, so that we notice a client that gives up
    async with budget.reserve(owner, size) as waited:
        if waited and await request.is_disconnected():
            # It will send the batch again, and without an Idempotency-Key it would be there twice.
            raise MalformedBody("The connection closed before it was this batch's turn.")
        yield


def in_memory(content: Content) -> int:
    """Bytes that its events take until they are stored."""
    return DECODED * len(content) if len(content) > PASSING else 0


async def parted(
    content: Content, headers: Mapping[bytes, bytes], stage: Stage, room: Room
) -> list[Item]:
    """The items of a batch that is so large that another process splits it; it is also a file in
    the room. Empty for any other."""
    if len(content) <= LARGE:
        return []
    if encoding_of(headers) not in (JSON, NDJSON):
        raise UnknownEncoding(ENCODINGS)
    return await split_apart(stage.staging.helpers, room.folder, stage.owner)


async def read(
    content: Content,
    headers: Mapping[bytes, bytes],
    moment: Moment,
    stage: Stage,
    parts: list[Item],
) -> list[Event]:
    """`parts` are the items of a large batch."""
    encoding = encoding_of(headers)
    if encoding == JSON and len(content) <= SMALL:
        lines = _only_lines(content, moment, stage)
        if lines is not None:
            return lines
    found: list[Event] = []
    view, taken, amount = memoryview(content), 0, Amount()
    for index, item in enumerate(parts or _items(content, encoding)):
        taken += 500 + item.stop - item.start
        if taken > BREATH:
            await asyncio.sleep(0)
            taken = 0
        try:
            found.append(await _event(item, view[item.start : item.stop], moment, stage))
        except Problem as problem:
            if not isinstance(problem, Invalid | TooLarge):
                raise  # a problem of the store, not of the item
            raise Invalid(f"Item {index}: {problem.message}", field=problem.field) from None
        amount.add(found[-1])
    return found


def _only_lines(content: Content, moment: Moment, stage: Stage) -> list[Event] | None:
    """The events of a batch of log lines only, as most are: many times faster than one by one. None
    for any other batch, and if any line has not the exact shape."""
    tape, longest = stage.tape, stage.staging.settings.max_line
    try:
        items = _line_items.decode(content)
    except UNLIKE:
        return None
    if len(items) > MOST:
        return None
    found: list[Event] = []
    for item in items:
        if len(item.body.line) * 4 > longest:
            return None
        found.append(exact_event(LOG, item.body, moment, tape))
    return found


def _items(content: Content, encoding: bytes) -> list[Item]:
    if encoding not in (JSON, NDJSON):
        raise UnknownEncoding(ENCODINGS)
    if len(content) > LARGE:  # whitespace only
        return []
    return split(bytes(content), by_lines=encoding == NDJSON)


async def _event(item: Item, content: memoryview, moment: Moment, stage: Stage) -> Event:
    if item.error:
        raise Invalid(item.error, field=item.field)
    settings = stage.staging.settings
    moment = moment if item.time is None else Moment(item.time, moment.received_at)
    if BY_PATH[item.path] is BACKTEST_RESULT:
        header = await stage.take(content)
        return bodies.result_event(header, stage.newest, moment, stage.tape)
    if len(content) > (most := bodies.most_bytes(item.path, settings)):
        raise too_large(most)
    return bodies.event_of_json(item.path, bytes(content), moment, stage.tape, settings)
