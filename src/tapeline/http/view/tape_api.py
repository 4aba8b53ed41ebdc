"""The view API for tapes: the events of models, and the state folded from them."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from tapeline.http.core.answers import Anything, Listed
from tapeline.http.core.endpoint import Call, Page, QueryCall
from tapeline.http.view import runs_api
from tapeline.http.view.answers import ScreenerResult, ShownEvent, ShownLine
from tapeline.http.view.runs_api import CurrentRun
from tapeline.models import models, versions
from tapeline.results.pnl.overview import Lifecycle, NewestVersion, lifecycle_of
from tapeline.tape import tapes
from tapeline.tape.append.quotas import ModelUsage
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import checkpoints
from tapeline.tape.proof.removed import Removed
from tapeline.tape.reading import channels, line_search
from tapeline.tape.roots import proofs

_NAMES = {kind.number: kind.name for kind in kinds.KINDS}
_encoder = msgspec.json.Encoder()

EMPTY_LIFECYCLE = dict.fromkeys(("message", "start_at", "end_at", "running"))


class ShownModel(msgspec.Struct, kw_only=True):
    id: str
    project_id: str
    name: str
    type: models.ModelType
    general_description: str
    lifecycle: Lifecycle
    symbols: list[str]
    exchanges: list[str]
    plan: str | None = None
    python_version: str | None = None
    version: NewestVersion | None = None
    run: CurrentRun | None = None
    """Null when there never was one."""
    counts: dict[str, int]
    """How many events of each kind are on the tape."""
    usage: ModelUsage


class LineFilter(msgspec.Struct):
    type: str | None = None
    q: str | None = None
    """A text that the line shows; colours and other codes of terminals do not count."""


class LinePage(Page):
    type: str | None = None
    q: str | None = None
    """A text that the line shows or the event contains; colours and other codes of terminals do not
    count."""
    after: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | None = None
    """Tail: only lines that arrived after this `seq`, oldest first."""
    at: Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)] | None = None
    """Epoch seconds: only lines that arrived before this time; with `after`, only later ones."""


class Screener(msgspec.Struct):
    result: dict[str, Anything | None] | None
    time: float | None
    received_at: float | None


class Seals(msgspec.Struct):
    """The chain over a tape and the signatures under it."""

    model_id: str
    seq: int
    link: str
    public_key: str
    """Ed25519, hex."""
    key_id: str
    stamped: int
    """Up to which event an outside authority has confirmed the time; 0 without time stamps."""
    stamped_at: float | None
    items: list[checkpoints.Checkpoint]
    next: str | None = None


class ExportedLine(msgspec.Struct, gc=False):
    """One event in the export of a whole tape."""

    seq: int
    kind: str
    time: float
    received_at: float
    run_id: str | None
    backtest_id: str | None
    body: msgspec.Raw
    salt: bytes | None
    """In base64."""
    link: str | None
    nonce: str | None


class RemovedLine(msgspec.Struct):
    """Events that retention removed, in their place."""

    seq: int
    until: int
    received_at: float
    """Of the last of them."""
    removed: dict[str, int]
    digest: str
    ends_group: bool
    link: str | None
    nonce: str | None


def show_model(connection: Connection, call: Call) -> ShownModel:
    """One model with its lifecycle, symbols, exchanges and counts."""
    found = reading(connection, call)
    model = models.get(connection, call.actor, found.project_id, found.model_id)
    return ShownModel(
        id=model.id,
        project_id=model.project_id,
        name=model.name,
        type=model.type,
        general_description=model.description,
        lifecycle=lifecycle_of(channels.state(connection, found.tape, "lifecycle") or {}),
        symbols=channels.used_names(connection, found.tape, "symbol"),
        exchanges=channels.used_names(connection, found.tape, "exchange"),
        plan=model.plan,
        python_version=model.python_version,
        version=_newest_version(connection, model.id),
        run=runs_api.current(connection, call.services, model.id),
        counts=kinds.by_name(found.counts),
        usage=call.services.quotas.usage(found.tape, found.model_id, found.bytes),
    )


def _newest_version(connection: Connection, model_id: str) -> NewestVersion | None:
    newest = versions.newest(connection, model_id)
    if newest is None:
        return None
    return NewestVersion(
        newest.number,
        newest.id,
        newest.description,
        newest.python_version,
        newest.created_at,
    )


def list_logs(connection: Connection, call: QueryCall[LinePage]) -> Listed[ShownLine]:
    """Lines of the live log, newest first; `after` tails it."""
    return lines(connection, call, kinds.LOG.channel)


def list_events(connection: Connection, call: QueryCall[LinePage]) -> Listed[ShownEvent]:
    """Generic events, newest first."""
    return lines(connection, call, kinds.EVENT.channel)


def show_screener(connection: Connection, call: Call) -> Screener:
    """The latest screener result."""
    latest = channels.state(connection, reading(connection, call).tape, "screener") or {}
    return Screener(latest.get("result"), latest.get("time"), latest.get("received_at"))


def screener_history(connection: Connection, call: QueryCall[LinePage]) -> Listed[ScreenerResult]:
    """All screener results, newest first."""
    return lines(connection, call, kinds.SCREENER_RESULT.channel)


def show_seals(connection: Connection, call: QueryCall[Page]) -> Seals:
    """The chain's head and the signed checkpoints, newest first."""
    found, page = reading(connection, call), call.query
    signer = call.services.inbox.appender.signer
    if found.tape:
        call.services.inbox.appender.sign_head(connection, found.tape)
        found = reading(connection, call)  # another server may have moved it before the lock
    items, following = checkpoints.listed(
        connection, found.tape, before=page.before(), limit=page.limit
    )
    stamped, stamped_at = proofs.newest(connection, found.tape, found.seq) or (0, None)
    return Seals(
        found.model_id,
        found.seq,
        found.link.hex(),
        signer.public_key.hex(),
        signer.key_id,
        stamped,
        stamped_at,
        items,
        None if following is None else str(following),
    )


def shown(record: StoredEvent) -> Anything:
    """A record as readers see it: its body's keys at the top level, ours over them."""
    fields = msgspec.json.decode(record.body, type=Anything)
    ours = {"time": record.time, "received_at": record.received_at, "seq": record.seq}
    return {**fields, **ours, **({"run_id": record.run_id} if record.run_id else {})}


def exported(records: Sequence[StoredEvent]) -> bytes:
    """Records as lines of the whole tape: bodies byte for byte, so that they can be checked."""
    return _encoder.encode_lines([_exported(one) for one in records])


def _exported(one: StoredEvent) -> ExportedLine | RemovedLine:
    link = None if one.link is None else one.link.hex()
    nonce = None if one.nonce is None else one.nonce.hex()
    if isinstance(one, Removed):
        counts = kinds.by_name(one.counts)
        return RemovedLine(
            one.seq, one.until, one.received_at, counts, one.body.hex(), one.ends_group, link, nonce
        )
    return ExportedLine(
        one.seq, _NAMES[one.kind], one.time, one.received_at, one.run_id, one.backtest_id,
        msgspec.Raw(one.body), one.salt, link, nonce,
    )  # fmt: skip


def reading(connection: Connection, call: Call) -> tapes.Reading:
    return tapes.reading(connection, call.actor, call.path("model"))


def lines(connection: Connection, call: QueryCall[LinePage], channel: int) -> Listed[Any]:
    page = call.query
    tape = reading(connection, call).tape
    search, before = line_search.search(page.type, page.q), page.before()
    reached = None if page.at is None else channels.reached(connection, tape, channel, page.at)
    if page.after is not None:
        # A tail continues with `cursor` too, from where its last page ended.
        after = max(page.after, before or 0, (reached or 1) - 1)
        found = channels.after(connection, tape, channel, after=after, limit=page.limit, **search)
    else:
        if reached is not None:
            before = reached if before is None else min(before, reached)
        found = channels.newest(
            connection, tape, channel, before=before, limit=page.limit, **search
        )
    return listed([shown(record) for record in found.records], found.next)


def listed(items: list[Any], following: int | None) -> Listed[Any]:
    return Listed(items, None if following is None else str(following))
