"""Writes a tape as a file that can be checked offline: events, links, signatures, one JSON object
per line.

The caller decides what is shown. Hidden parts are replaced by their commitments, so the file proves
as much as the whole tape. `checking` reads it back.
"""

import base64
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec

from tapeline.store.portions import pieces
from tapeline.store.store import Store
from tapeline.tape.backtest_results import result_format, result_pieces
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, seals
from tapeline.tape.proof.checkpoints import Checkpoint

VERSION = 1

_encode = msgspec.json.Encoder().encode


class Shows(msgspec.Struct, frozen=True):
    """Which parts of a tape a reader gets."""

    plain: Callable[[StoredEvent], bool]
    """Whether a plain event is shown: as a whole or not at all."""
    field: Callable[[str, Any], bool]
    """One field of an order or update."""
    orders: bool = True
    """Whether it shows that there are any."""


ALL = Shows(lambda _record: True, lambda _name, _value: True)


class Written(msgspec.Struct):
    """A group in lines, and the results in it whose lists may follow."""

    lines: bytes
    results: list[StoredEvent]


def head(model_id: str, public_key: bytes, key_id: str, seq: int) -> bytes:
    """The first line."""
    return _line(
        tapeline="record",
        version=VERSION,
        model_id=model_id,
        public_key=public_key.hex(),
        key_id=key_id,
        seq=seq,
    )


def groups(records: Iterator[StoredEvent]) -> Iterator[list[StoredEvent]]:
    """Events that were stored together; a last group without a link is left out."""
    group: list[StoredEvent] = []
    for record in records:
        group.append(record)
        if record.link is not None:
            yield group
            group = []


def group_lines(previous: bytes, group: Sequence[StoredEvent], shows: Shows) -> Written:
    rule = _rule(previous, group)
    written = Written(b"", [])
    lines: list[bytes] = []
    place = 0  # which of the group's plain runs: what its blind is made from
    for run in _runs(group, rule):
        if run[0].salt is not None:
            lines.append(_order(run[0], rule, shows))
        else:
            lines.extend(_plain(run, group[-1].nonce, place, rule, shows))
            place += 1
            if all(map(shows.plain, run)):
                results = [one for one in run if one.kind == kinds.BACKTEST_RESULT.number]
                written.results.extend(results)
    last = group[-1]
    lines.append(_line(seq=last.seq, link=(last.link or b"").hex(), rule=rule))
    written.lines = b"".join(lines)
    return written


def checkpoint_line(one: Checkpoint) -> bytes:
    return _line(checkpoint=one)


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


def _rule(previous: bytes, group: Sequence[StoredEvent]) -> int:
    if group[-1].nonce is not None:
        return 3
    return 1 if older_seals.link(previous, group) == group[-1].link else 2


def _runs(group: Sequence[StoredEvent], rule: int) -> list[list[StoredEvent]]:
    """Plain events that share a digest together, each other event alone."""
    runs: list[list[StoredEvent]] = []
    for record in group:
        if rule != 1 and record.salt is None and runs and runs[-1][0].salt is None:
            runs[-1].append(record)
        else:
            runs.append([record])
    return runs


def _plain(
    run: list[StoredEvent], nonce: bytes | None, place: int, rule: int, shows: Shows
) -> Iterator[bytes]:
    blind = None if nonce is None else seals.blind(nonce, place)
    if not all(map(shows.plain, run)):
        frames = [seals.frame(one, one.body) for one in run]
        digest = seals.digest_of_run(frames, nonce, place)
        if rule == 1:
            digest = older_seals.digest(run[0], run[0].body)
        yield _line(seq=run[0].seq, until=run[-1].seq, digest=digest.hex())
        return
    for first, record in zip([True] + [False] * len(run), run, strict=False):
        more = {"blind": blind.hex()} if first and blind is not None else {}
        yield _line(**_known(record), body=msgspec.Raw(record.body), **more)


def _order(record: StoredEvent, rule: int, shows: Shows) -> bytes:
    if not shows.orders:
        digest = sha256(seals.frame(record, seals.content(record))).digest()
        if rule == 1:
            digest = older_seals.digest(record, older_seals.content(record))
        return _line(seq=record.seq, until=record.seq, digest=digest.hex())
    fields = msgspec.json.decode(record.body, type=dict[str, Any])
    salt = record.salt or b""
    own = dict(seals.salts(fields, salt))
    if rule == 1:
        own = {name: older_seals.own_salt(salt, name) for name in fields}
    shown = {name: value for name, value in fields.items() if shows.field(name, value)}
    hidden = [seals.leaf(name, fields[name], own[name]) for name in fields if name not in shown]
    return _line(
        **_known(record),
        fields={
            name: [value, base64.b64encode(own[name]).decode()] for name, value in shown.items()
        },
        # In an order that reveals nothing about them.
        hidden=sorted(one.hex() for one in hidden),
    )


def _known(record: StoredEvent) -> dict[str, Any]:
    return {
        "seq": record.seq,
        "kind": kinds.BY_NUMBER[record.kind].name,
        "time": record.time,
        "received_at": record.received_at,
        "run_id": record.run_id,
        "backtest_id": record.backtest_id,
    }


def _line(**fields: Any) -> bytes:
    return _encode(fields) + b"\n"
