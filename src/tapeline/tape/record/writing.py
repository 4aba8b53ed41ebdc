"""Writes a tape as a file that can be checked offline: events, links, signatures, one JSON object
per line.

The caller decides what is shown. Hidden parts are replaced by their commitments, so the file proves
as much as the whole tape. `checking` reads it back.
"""

import base64
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Literal

import msgspec

from tapeline.store.portions import pieces
from tapeline.store.store import Store
from tapeline.tape.backtest_results import result_format, result_pieces
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, removed, seals
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.removed import Removed
from tapeline.tape.record.lines import Head, Proof, Proven, Witness

VERSION = 3
TOGETHER = 200
"""Lines encoded at once: more would leave the processor's cache before they are written."""

_NAMES = {kind.number: kind.name for kind in kinds.KINDS}
_RESULT = kinds.BACKTEST_RESULT.number
_encoder = msgspec.json.Encoder()
_values = msgspec.json.Decoder(dict[str, Any]).decode
_texts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Shows(msgspec.Struct, frozen=True):
    """Which parts of a tape a reader gets."""

    plain: Callable[[StoredEvent], bool] | None
    """Whether a plain event is shown: as a whole or not at all. None: every one."""
    field: Callable[[str, Mapping[str, Any]], bool] | None
    """One field of an event that is sealed field by field: its name, and all fields beside it.
    None: every one."""
    orders: bool = True
    """Whether it shows that there are any."""


ALL = Shows(None, None)


class Written(msgspec.Struct):
    """Some groups as lines."""

    pieces: list[bytes | StoredEvent]
    """Lines, and results whose lists may follow in their place."""
    link: bytes
    """Of the last group."""


# The lines of a record: encoded many at once, which costs half as much as one by one, and unknown
# to the garbage collector, which would look through all of them for cycles that cannot be there.
class _Event(msgspec.Struct, gc=False):
    seq: int
    kind: str
    time: float
    received_at: float
    run_id: str | None
    backtest_id: str | None


class _Plain(_Event, gc=False):
    body: msgspec.Raw


class _FirstPlain(_Plain, gc=False):
    blind: str


class _Order(_Event, gc=False):
    fields: dict[str, tuple[Any, bytes]]
    """Each value with its salt, which JSON has in base64."""
    hidden: list[str]


class _Hidden(msgspec.Struct, gc=False):
    seq: int
    until: int
    digest: str


class _Removed(_Hidden, gc=False):
    removed: dict[str, int]
    received_at: float


class _Link(msgspec.Struct, gc=False):
    seq: int
    link: str
    rule: int


class _Signed(msgspec.Struct, gc=False):
    checkpoint: Checkpoint


_Lines = list[_Event | _Hidden | _Link | _Signed | Proven]
NO_PROOFS: Mapping[int, Proof] = {}


def head(
    model_id: str,
    seq: int,
    shows: Shows,
    keys: Sequence[Key],
    witnesses: Sequence[Witness] = (),
) -> bytes:
    """The first line."""
    extent: Literal["all", "part"] = "all" if shows is ALL else "part"
    said = Head("record", VERSION, model_id, seq, extent, [*keys], [*witnesses])
    return _encoder.encode(said) + b"\n"


def written(
    previous: bytes,
    groups: Iterable[Sequence[StoredEvent]],
    shows: Shows,
    signed: Mapping[int, Checkpoint],
    proofs: Mapping[int, Proof] = NO_PROOFS,
) -> Written:
    """Groups that follow a link, with the checkpoints and proofs that stand at their ends."""
    pieces: list[bytes | StoredEvent] = []
    encoded: list[bytes] = []
    lines: _Lines = []
    for group in groups:
        rule, last = _rule(previous, group), removed.last(group[-1])
        results = _write(group, rule, shows, lines)
        previous = _link_of(previous, group)
        lines.append(_Link(last, previous.hex(), rule))
        if results or len(lines) >= TOGETHER:
            encoded.append(_encoder.encode_lines(lines))
            lines = []
        if results:
            pieces += [b"".join(encoded), *results]
            encoded = []
        if last in signed:
            lines.append(_Signed(signed[last]))
        if last in proofs:
            lines.append(Proven(proofs[last]))
    return Written([*pieces, b"".join([*encoded, _encoder.encode_lines(lines)])], previous)


def _write(
    group: Sequence[StoredEvent], rule: int, shows: Shows, lines: _Lines
) -> list[StoredEvent]:
    """Add the lines of a group; return the results in it that are shown."""
    results, last = [], group[-1]
    place = 0  # which of the group's plain runs: what its blind is made from
    for run in _runs(group, rule):
        if run[0].salt is not None:
            lines.append(_order(run[0], rule, shows))
            continue
        if isinstance(run[0], Removed):
            lines.append(_removed(run[0], shows))
        elif shows.plain is None or all(map(shows.plain, run)):
            lines += _plain(run, last.nonce, place)
            results += [one for one in run if one.kind == _RESULT]
        else:
            lines.append(_hidden(run, last.nonce, place, rule))
        place += 1
    return results


async def lists_of(store: Store, tape: int, result: StoredEvent) -> AsyncIterator[bytes]:
    """The long lists of a result, piece by piece, if it is the current result of its backtest."""
    upload = await store.read(result_pieces.current, tape, result.seq, result.backtest_id)
    if upload is None:
        return
    for name in await store.read(result_pieces.names, upload):
        async for number, piece in pieces(partial(_piece, store, upload, name)):
            yield list_line(result.seq, name, number, *piece)
    await store.read(result_pieces.require, upload)


async def _piece(store: Store, upload: str, name: str, number: int) -> tuple[int, bytes] | None:
    return await store.read(result_pieces.piece, upload, name, number)


def list_line(seq: int, name: str, piece: int, first: int, items: bytes) -> bytes:
    """A piece of a long list of a result."""
    return _line(seq=seq, list=name, piece=piece, first=first, **on_one_line(items))


def on_one_line(items: bytes) -> dict[str, Any]:
    """Older pieces were kept and sealed with the whitespace they came with: then that is included
    too, so that they can be checked."""
    compact = result_format.compacted(items)
    if compact == items:
        return {"items": msgspec.Raw(items)}
    return {"items": msgspec.Raw(compact), "sealed": base64.b64encode(items).decode()}


def _link_of(previous: bytes, group: Sequence[StoredEvent]) -> bytes:
    """A group that was removed completely has none, because it follows from the digests."""
    return group[-1].link or seals.link(previous, group, [one.body for one in group])


def _rule(previous: bytes, group: Sequence[StoredEvent]) -> int:
    if group[-1].nonce is not None or group[-1].kind == removed.KIND:
        return 3
    if any(one.salt is not None and len(one.salt) > older_seals.SALT_BYTES for one in group):
        return 2
    return 1 if older_seals.link(previous, group) == group[-1].link else 2


def _runs(group: Sequence[StoredEvent], rule: int) -> list[Sequence[StoredEvent]]:
    """Plain events that share a digest together, each other event alone."""
    if rule == 1:
        return [[one] for one in group]
    runs: list[Sequence[StoredEvent]] = []
    start = 0  # of the plain events that were not taken yet
    for place in [at for at, one in enumerate(group) if one.salt is not None or not one.kind]:
        if start < place:
            runs.append(group[start:place])
        runs.append(group[place : place + 1])
        start = place + 1
    if start < len(group):
        runs.append(group[start:])
    return runs


def _plain(run: Sequence[StoredEvent], nonce: bytes | None, place: int) -> Iterable[_Plain]:
    lines = [
        _Plain(
            one.seq, _NAMES[one.kind], one.time, one.received_at, one.run_id, one.backtest_id,
            msgspec.Raw(one.body),
        )
        for one in run
    ]  # fmt: skip
    if nonce is not None:
        first = lines[0]
        lines[0] = _FirstPlain(
            first.seq, first.kind, first.time, first.received_at, first.run_id, first.backtest_id,
            first.body, seals.blind(nonce, place).hex(),
        )  # fmt: skip
    return lines


def _hidden(run: Sequence[StoredEvent], nonce: bytes | None, place: int, rule: int) -> _Hidden:
    if rule == 1:
        digest = older_seals.digest(run[0], run[0].body)
    else:
        digest = seals.digest_of_run(seals.frames(run), nonce, place)
    return _Hidden(run[0].seq, run[-1].seq, digest.hex())


def _removed(span: Removed, shows: Shows) -> _Removed:
    """Links do not tell of which kinds hidden events are."""
    counts = {_NAMES[kind]: count for kind, count in span.counts.items()}
    if shows.plain is not None:
        counts = {"hidden": sum(counts.values())}
    return _Removed(span.seq, span.until, span.body.hex(), counts, span.received_at)


def _order(record: StoredEvent, rule: int, shows: Shows) -> _Order | _Hidden:
    if not shows.orders:
        digest = sha256(seals.frame(record, seals.content(record))).digest()
        if rule == 1:
            digest = older_seals.digest(record, older_seals.content(record))
        return _Hidden(record.seq, record.seq, digest.hex())
    shown, hidden = _fields(record, rule, shows)
    return _Order(
        record.seq, _NAMES[record.kind], record.time, record.received_at, record.run_id,
        record.backtest_id, shown,
        # In an order that reveals nothing about them.
        sorted([one.hex() for one in hidden]),
    )  # fmt: skip


def _fields(
    record: StoredEvent, rule: int, shows: Shows
) -> tuple[dict[str, tuple[Any, bytes]], list[bytes]]:
    """The shown fields with their salts, and the leaves of the others. Where every field is shown,
    nobody has to look at the values, so they stay the text that they are."""
    fields = (_texts if shows.field is None else _values)(record.body)
    salt = record.salt or b""
    if rule == 1:
        opened = {name: (fields[name], older_seals.own_salt(salt, name)) for name in fields}
    else:
        opened = {name: (fields[name], own) for name, own in seals.salts(fields, salt)}
    if shows.field is None:
        return opened, []
    shown = {name: opened[name] for name in fields if shows.field(name, fields)}
    return shown, [seals.leaf(name, *opened[name]) for name in fields if name not in shown]


def _line(**fields: Any) -> bytes:
    return _encoder.encode(fields) + b"\n"
