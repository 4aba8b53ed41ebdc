"""The witnesses of this server's log: where each stands, and the signatures they gave."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, RowMapping, delete, select, update

from tapeline.store import upsert
from tapeline.store.tables.roots import head_trees
from tapeline.store.tables.witnesses import cosignatures, witnesses
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.roots import trees
from tapeline.tape.witnessing import pins
from tapeline.tape.witnessing.asking import Cosignature
from tapeline.tape.witnessing.two_histories import Evidence


class Witness(NamedTuple):
    address: str
    name: str
    keys: list[Key]
    added_at: float
    log: str | None
    size: int
    """Of the newest head of that log that it is known to have signed."""
    signed_at: float | None
    problem: str | None
    problem_at: float | None
    evidence: Evidence | None


class Head(NamedTuple):
    """Of our log."""

    log: str
    entry: int
    note: str
    at: float

    @property
    def size(self) -> int:
        return self.entry + 1


def add(connection: Connection, address: str, name: str, keys: Sequence[Key], at: float) -> bool:
    """False if it is there already."""
    row = {"address": address, "name": name, "added_at": at, "size": 0}
    return upsert.claim(connection, witnesses, **row, pinned=pins.written(keys))


def remove(connection: Connection, address: str) -> bool:
    """Its signatures stay in records."""
    return connection.execute(_of(delete(witnesses), address)).rowcount == 1


def every(connection: Connection) -> list[Witness]:
    rows = connection.execute(select(witnesses).order_by(witnesses.c.added_at))
    return [_witness(row) for row in rows.mappings()]


def waiting(connection: Connection) -> tuple[Head | None, list[Witness]]:
    """The newest head of the log, and the witnesses that have not signed it."""
    newest = newest_head(connection)
    if newest is None:
        return None, []
    mine = select(cosignatures.c.name).where(
        cosignatures.c.log == newest.log, cosignatures.c.entry == newest.entry
    )
    signed = set(connection.scalars(mine))
    return newest, [one for one in every(connection) if one.name not in signed]


def newest_head(connection: Connection) -> Head | None:
    row = connection.execute(
        select(head_trees.c.log, head_trees.c.entry, head_trees.c.note, head_trees.c.at)
        .where(head_trees.c.log == trees.log_id(connection))
        .order_by(head_trees.c.entry.desc())
        .limit(1)
    ).first()
    return None if row is None else Head(*row)


def store(connection: Connection, one: Witness, head: Head, signed: Cosignature) -> None:
    row = {**signed._asdict(), "public_key": signed.public_key.hex()}
    upsert.claim(connection, cosignatures, log=head.log, entry=head.entry, **row)
    _set(
        connection, one.address, log=head.log, size=head.size, signed_at=float(signed.at),
        problem=None, problem_at=None,
    )  # fmt: skip


def note_problem(
    connection: Connection, address: str, problem: str, at: float, evidence: Evidence | None
) -> None:
    _set(connection, address, problem=problem, problem_at=at)
    if evidence is not None:  # the first stays
        kept = _of(update(witnesses), address).where(witnesses.c.evidence.is_(None))
        connection.execute(kept.values(evidence=msgspec.json.encode(evidence).decode()))


def add_keys(connection: Connection, one: Witness, keys: Sequence[Key]) -> None:
    _set(connection, one.address, pinned=pins.written(keys))


def _set(connection: Connection, address: str, **values: Any) -> None:
    connection.execute(_of(update(witnesses), address).values(**values))


def _of(statement: Any, address: str) -> Any:
    return statement.where(witnesses.c.address == address)


def _witness(row: RowMapping) -> Witness:
    values = {name: row[name] for name in Witness._fields if name != "keys"}
    found = row["evidence"]
    evidence = None if found is None else msgspec.json.decode(found, type=Evidence)
    return Witness(**{**values, "keys": pins.read(row["pinned"]), "evidence": evidence})
