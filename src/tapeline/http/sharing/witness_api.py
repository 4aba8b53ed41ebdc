"""This server as a witness of others: https://c2sp.org/tlog-witness, and what it has seen."""

from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.responses import PlainTextResponse, Response

from tapeline.accounts.limits import network_of
from tapeline.errors import Invalid
from tapeline.http.core.answers import Done, Text
from tapeline.http.core.endpoint import BodyCall, Call, QueryCall, address_of
from tapeline.http.wire import body
from tapeline.tape.proof import notes
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.witnessing import logs, submissions
from tapeline.tape.witnessing.refusing import OtherSize
from tapeline.tape.witnessing.two_histories import Evidence

MOST_SIZES = 1_000


class LogKeys(msgspec.Struct):
    log: str
    """The name of the log, as its heads have it."""
    keys: list[Key]
    """Every key of the log, each after the one before it."""


class LogQuery(msgspec.Struct):
    log: str = ""
    key: str = ""
    """Instead of the name of the log: a public key of it, in hex."""
    sizes: Annotated[str, msgspec.Meta(max_length=17 * MOST_SIZES)] = ""
    """Sizes of heads that are wanted, with commas between them."""


class WitnessView(msgspec.Struct):
    log: str
    size: int
    """Of the newest head that this server signed; 0 if there is none."""
    seen_at: float | None
    heads: list[str]
    """The newest head and those of the wanted sizes, as the log signed them."""
    two_histories: Evidence | None
    """Two heads that the log signed and that cannot be of one history."""
    unproven_at: float | None
    """When the log showed a head without a proof that it extends the newest one."""


async def add_checkpoint(call: Call) -> Text:
    """Sign a head of a log that this server witnesses."""
    call.services.witness.pace.admit(network_of(address_of(call.request)))
    async with body.in_time(call.services.settings.body_seconds):
        said = body.limited(call.request, submissions.LARGEST)
        content = b"".join([chunk async for chunk in said])
    try:
        return PlainTextResponse(await call.services.witness.add(content))
    except OtherSize as problem:
        return _size(problem.size)


async def add_log_keys(call: BodyCall[LogKeys]) -> Done:
    """Accept a new key of a log, confirmed by the one before it."""
    call.services.witness.pace.admit(network_of(address_of(call.request)))
    await call.services.witness.add_keys(call.body.log, call.body.keys)
    return Done()


def show_log(connection: Connection, call: QueryCall[LogQuery]) -> WitnessView:
    """What this server has seen of a log that it witnesses."""
    wanted, sizes = call.query, _sizes(call.query.sizes)
    known = logs.of_key(connection, wanted.key) if wanted.key else logs.find(connection, wanted.log)
    heads = logs.heads(connection, known.origin, sorted({*sizes, known.size}))
    by_kind = {one.kind: one for one in logs.refused(connection, known.origin)}
    two, unproven = by_kind.get(logs.TWO_HISTORIES), by_kind.get(logs.UNPROVEN)
    return WitnessView(
        known.origin,
        known.size,
        known.seen_at,
        [notes.written(one) for one in heads],
        two and two.evidence,
        unproven and unproven.at,
    )


def _size(size: int) -> Response:
    return Response(f"{size}\n", 409, media_type="text/x.tlog.size")


def _sizes(text: str) -> list[int]:
    wanted = text.split(",") if text else []
    if len(wanted) > MOST_SIZES or not all(_is_size(one) for one in wanted):
        raise Invalid("Sizes are whole numbers with commas between them.", field="sizes")
    return [int(one) for one in wanted]


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 17
