"""Bodies of the events API: one event, in any encoding."""

import types
from collections.abc import Awaitable, Coroutine, Generator, Mapping
from typing import Any, NamedTuple, cast

import msgspec
from starlette.datastructures import Headers
from starlette.types import Message, Receive

from tapeline import nesting
from tapeline.errors import MalformedBody, Missing
from tapeline.http.wire import body
from tapeline.http.wire.body import too_large
from tapeline.settings import Settings
from tapeline.tape.events import kinds, price_bodies
from tapeline.tape.events.bodies import cut
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import Kind

_encode = msgspec.json.Encoder().encode
# Fields of orders are committed to one by one. With sorted keys there is only one way to write a
# body down, so that the chain knows every other for a change.
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode

JSON = b"application/json"
UNLIKE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Errors of decoding a body that does not have the exact shape."""
_NOT_FOLDED: dict[str, Any] = {}


class Moment(NamedTuple):
    """When something happened, according to its sender, and when it was received."""

    at: float
    received_at: float


class Counted:
    """A body that is arriving, and how many bytes of it have arrived."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.size = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self.size += len(message.get("body", b""))
        return message


async def read_content(receive: Receive, most: int, seconds: float) -> bytes:
    """The whole body, within its time."""
    # Nearly every body has already arrived in one piece. A timeout would cost a tenth of the whole
    # request, so the first step is taken by hand, and only a body that is not there gets one.
    first = cast("Coroutine[Any, Any, Message]", receive())
    try:
        waiting_for = first.send(None)
    except StopIteration as at_once:
        message: Message = at_once.value
        content: bytes = message.get("body", b"")
        whole = message["type"] == "http.request" and not message.get("more_body")
        if whole and len(content) <= most:
            return content
        return bytes(await _gathered(_said(message), receive, most, seconds))
    return bytes(await _gathered(_resumed(first, waiting_for), receive, most, seconds))


async def _gathered(
    coming: Awaitable[Message], receive: Receive, most: int, seconds: float
) -> bytearray:
    content, more = bytearray(), True
    async with body.in_time(seconds):
        while more:
            message = await coming
            if message["type"] == "http.disconnect":
                raise MalformedBody("The connection closed before the body was complete.")
            content += message.get("body", b"")
            more = message.get("more_body", False)
            if len(content) > most:
                raise too_large(most)
            if more:
                coming = receive()
    return content


async def _said(message: Message) -> Message:
    return message


@types.coroutine
def _resumed(
    coroutine: Coroutine[Any, Any, Message], waiting_for: Any
) -> Generator[Any, Any, Message]:
    """Continue a coroutine whose first step was taken by hand."""
    try:
        yield waiting_for
    except BaseException:
        coroutine.close()  # cancelled: it must leave its queue
        raise
    message: Message = yield from coroutine
    return message


async def decoded(
    content: bytes, headers: Mapping[bytes, bytes], settings: Settings
) -> tuple[dict[str, Any], bool]:
    """The body as one dictionary, and whether it came over a form."""
    if encoding_of(headers) == JSON:
        return decoded_object(content, settings.max_depth), False
    found = await body.decode(Headers(raw=list(headers.items())), content, settings)
    return found.values, found.lenient


def encoding_of(headers: Mapping[bytes, bytes]) -> bytes:
    declared = headers.get(b"content-type", b"")
    if declared == JSON:  # the usual spelling
        return declared
    return declared.partition(b";")[0].strip().lower()


def event(
    path: str,
    values: Mapping[str, Any],
    moment: Moment,
    tape: int,
    settings: Settings,
    *,
    lenient: bool,
) -> Event:
    """One event of any kind but a backtest's result."""
    kind = kinds.kind_at(path, values)
    if kind is None or kind is kinds.BACKTEST_RESULT:
        raise Missing(f"There is no kind of event at {path}.", field="path")
    fields = kind.read(values, lenient)
    if kind.free:
        _check_free(fields, settings.max_depth)
    elif kind in kinds.LINES:
        fields["line"] = cut(fields["line"], settings.max_line)
    elif kind in kinds.BESIDE:
        fields = price_bodies.dated(fields, *moment, settings.bars_days)
    if kind is kinds.SPOT_LIMIT and "active" in fields:
        kind = kinds.SPOT_STOP  # an older client posts its stop orders to the address of limits
    return Event(
        tape=tape,
        kind=kind,
        fields=fields,
        body=b"" if kind in kinds.BESIDE else _written(kind, fields),
        time=moment.at,
        received_at=moment.received_at,
        backtest_id=fields["backtest_id"] if kind in kinds.OF_BACKTESTS else None,
    )


def _check_free(fields: dict[str, Any], max_depth: int) -> None:
    try:
        content = _encode(fields)
    except RecursionError:
        raise _too_deep(max_depth) from None
    if nesting.is_deeper(content, max_depth):
        raise _too_deep(max_depth)
    body.refuse_nul(fields)


def _written(kind: Kind, fields: dict[str, Any]) -> bytes:
    return (_encode_sorted if kind in kinds.SEALED else _encode)(fields)


def event_of_json(
    path: str, content: bytes, moment: Moment, tape: int, settings: Settings
) -> Event:
    kind = kinds.BY_PATH.get(path)
    # In a body no longer than a line may be, no line has to be cut.
    if kind is not None and kind.exact is not None and len(content) <= settings.max_line:
        try:
            found = kind.exact(content)
        except UNLIKE:
            pass
        else:
            # A line may hold anything. A name may not, and its reader looks at unusual characters.
            if kind is kinds.LOG or _is_usual(content):
                return exact_event(kind, found, moment, tape)
    values = decoded_object(content, settings.max_depth)
    return event(path, values, moment, tape, settings, lenient=False)


def _is_usual(content: bytes) -> bool:
    """Whether no text in it holds a control character, a direction mark or an invisible one. An
    escape may stand for any of them."""
    return content.isascii() and b"\\" not in content and b"\x7f" not in content


def exact_event(kind: Kind, found: msgspec.Struct, moment: Moment, tape: int) -> Event:
    """The event of a body that was checked while it was decoded."""
    fields = _NOT_FOLDED if kind is kinds.LOG else msgspec.structs.asdict(found)
    return Event(tape, kind, fields, _encode(found), moment.at, moment.received_at)


def result_event(header: dict[str, Any], upload: str | None, moment: Moment, tape: int) -> Event:
    return Event(
        tape=tape,
        kind=kinds.BACKTEST_RESULT,
        fields=header,
        body=_encode(header),
        time=moment.at,
        received_at=moment.received_at,
        backtest_id=header["backtest_id"],
        upload=upload,
    )


def decoded_object(content: bytes | msgspec.Raw, max_depth: int) -> dict[str, Any]:
    if not content:
        return {}
    try:
        values = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise MalformedBody(f"The body is not valid JSON: {error}.") from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    if not isinstance(values, dict):
        raise MalformedBody("The body must be a JSON object, such as {}.")
    if nesting.is_deeper(bytes(content), max_depth):
        raise _too_deep(max_depth)
    return values


def _too_deep(max_depth: int) -> MalformedBody:
    return MalformedBody(f"The body is nested deeper than {max_depth} levels.")


def most_bytes(path: str, settings: Settings) -> int:
    """Of one event's body. The columns of many bars may be longer than any other."""
    is_bars = kinds.BY_PATH.get(path) is kinds.BARS
    return max(settings.max_body, price_bodies.BYTES) if is_bars else settings.max_body
