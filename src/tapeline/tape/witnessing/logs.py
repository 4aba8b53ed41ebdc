"""The logs that this server witnesses: what it knows of each, and how it moves forward."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from tapeline.errors import MalformedBody
from tapeline.store import upsert
from tapeline.store.tables.witnesses import refusals, witnessed_heads, witnessed_logs
from tapeline.tape.proof import merkle, notes
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.notes import Note
from tapeline.tape.witnessing import pins, two_histories
from tapeline.tape.witnessing.refusing import DoesNotExtend, NotTheLogsKey, OtherSize, UnknownLog
from tapeline.tape.witnessing.submissions import Submission
from tapeline.tape.witnessing.two_histories import Evidence

TWO_HISTORIES, UNPROVEN = "two_histories", "unproven"


class Log(NamedTuple):
    origin: str
    address: str
    keys: list[Key]
    allowed_at: float
    is_allowed: bool
    size: int
    root: bytes
    seen_at: float | None


class Refused(NamedTuple):
    """A head that was not signed."""

    kind: str
    size: int
    at: float
    evidence: Evidence


def allow(
    connection: Connection, origin: str, address: str, keys: Sequence[Key], at: float
) -> None:
    """Witness a log from now on. If it is known, its keys must follow from those that are, and it
    has to go on from the last head that was signed."""
    try:
        known = find(connection, origin)
    except UnknownLog:
        row = {"origin": origin, "address": address, "allowed_at": at, "is_allowed": True}
        row |= {"pinned": pins.written(keys), "size": 0, "root": merkle.EMPTY}
        connection.execute(insert(witnessed_logs), row)
        return
    pinned = pins.extended(known.keys, keys)
    if not {one.public_key for one in pinned} & {one.public_key for one in keys}:
        raise NotTheLogsKey
    _set(connection, origin, address=address, pinned=pins.written(pinned), is_allowed=True)


def forbid(connection: Connection, origin: str) -> None:
    """Sign nothing more of it. What it has shown stays: anyone may ask for evidence later."""
    _set(connection, origin, is_allowed=False)


def every(connection: Connection) -> list[Log]:
    rows = connection.execute(select(witnessed_logs).order_by(witnessed_logs.c.allowed_at))
    return [_log(row) for row in rows.mappings()]


def find(connection: Connection, origin: str) -> Log:
    mine = select(witnessed_logs).where(witnessed_logs.c.origin == origin)
    row = connection.execute(mine).mappings().first()
    if row is None:
        raise UnknownLog
    return _log(row)


def of_key(connection: Connection, public_key: str) -> Log:
    """The log that has this key."""
    for one in every(connection):
        if public_key in {key.public_key for key in one.keys}:
            return one
    raise UnknownLog


def examine(connection: Connection, said: Submission) -> Log:
    """The log as it is known, if its head may be signed; raises otherwise."""
    known = find(connection, said.note.origin)
    if not known.is_allowed:
        raise UnknownLog
    if not two_histories.is_signed_by(said.note, pins.current(known.keys)):
        raise NotTheLogsKey
    if said.old > said.note.size:
        raise MalformedBody("The head is smaller than the one that it should extend.")
    is_other = said.note.size == known.size and said.note.root != known.root
    if said.old != known.size or is_other:
        raise OtherSize.of(known.size)
    if not merkle.extends(known.size, known.root, said.note.size, said.note.root, said.proof):
        raise DoesNotExtend
    return known


def remember(connection: Connection, known: Log, note: Note, at: float) -> bool:
    """Move a log forward; False if another request or server has moved it since it was read."""
    row = {"origin": note.origin, "size": note.size, "root": note.root, "at": at}
    stands = (
        update(witnessed_logs)
        .where(
            witnessed_logs.c.origin == known.origin,
            witnessed_logs.c.size == known.size,
            witnessed_logs.c.root == known.root,
        )
        .values(size=note.size, root=note.root, seen_at=at)
    )
    if connection.execute(stands).rowcount != 1:
        return False
    upsert.claim(connection, witnessed_heads, **row, note=notes.written(note))
    passed = (refusals.c.origin == known.origin) & (refusals.c.kind == UNPROVEN)
    connection.execute(delete(refusals).where(passed))
    return True


def shown_by(connection: Connection, said: Submission, at: float) -> Refused | None:
    """What a refused head shows of its log, which has signed it; None if nothing."""
    note, known = said.note, find(connection, said.note.origin)
    before = _seen(connection, note.origin, min(note.size, known.size))
    if before is None:
        return None
    proof = said.proof if before.size < note.size else []
    evidence = Evidence(notes.written(before), notes.written(note), [one.hex() for one in proof])
    if two_histories.contradict(before, note, proof):
        return Refused(TWO_HISTORIES, note.size, at, evidence)
    is_next = note.size > known.size and said.old == known.size
    return Refused(UNPROVEN, note.size, at, evidence) if is_next else None


def keep(connection: Connection, origin: str, one: Refused) -> None:
    """The first evidence of two histories stays; of heads without a proof, the newest does."""
    row = {"origin": origin, **one._asdict()}
    row["evidence"] = msgspec.json.encode(one.evidence).decode()
    new = upsert.insert(connection, refusals).values(**row)
    where = ["origin", "kind"]
    connection.execute(
        new.on_conflict_do_nothing()
        if one.kind == TWO_HISTORIES
        else new.on_conflict_do_update(index_elements=where, set_=row)
    )


def add_keys(connection: Connection, origin: str, offered: Sequence[Key]) -> None:
    """Accept the keys that follow from those that are known."""
    known = find(connection, origin)
    pinned = pins.extended(known.keys, offered)
    if pinned != known.keys:
        # Of two that offer different successors at once, the first one wins.
        changed = _set(connection, origin, pins.written(known.keys), pinned=pins.written(pinned))
        if not changed:
            raise NotTheLogsKey


def heads(connection: Connection, origin: str, sizes: Sequence[int]) -> list[Note]:
    rows = connection.scalars(
        select(witnessed_heads.c.note)
        .where(witnessed_heads.c.origin == origin, witnessed_heads.c.size.in_(sizes))
        .order_by(witnessed_heads.c.size)
    )
    return [notes.parse(one) for one in rows]


def refused(connection: Connection, origin: str) -> list[Refused]:
    rows = connection.execute(
        select(refusals).where(refusals.c.origin == origin).order_by(refusals.c.kind)
    )
    return [
        Refused(row.kind, row.size, row.at, msgspec.json.decode(row.evidence, type=Evidence))
        for row in rows
    ]


def _seen(connection: Connection, origin: str, size: int) -> Note | None:
    return next(iter(heads(connection, origin, [size])), None)


def _set(connection: Connection, origin: str, before: str | None = None, **values: Any) -> bool:
    """Change a log, if its keys are still these."""
    row = update(witnessed_logs).where(witnessed_logs.c.origin == origin)
    if before is not None:
        row = row.where(witnessed_logs.c.pinned == before)
    return connection.execute(row.values(**values)).rowcount == 1


def _log(row: RowMapping) -> Log:
    values = {name: row[name] for name in Log._fields if name != "keys"}
    return Log(**{**values, "keys": pins.read(row["pinned"]), "root": bytes(row["root"])})
