"""The trees of heads and the log of their roots, as they are stored.

A tree has a leaf for each tape. Its leaves are kept in parts of 256, so that the path of one tape
costs the same however many there are. The log has an entry for each tree and only grows.
"""

import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, delete, func, insert, select, update

from tapeline.ids import new_id
from tapeline.store import facts
from tapeline.store.tables.core import models
from tapeline.store.tables.roots import head_leaves, head_trees, stamps
from tapeline.store.tables.tape import tapes
from tapeline.store.tables.witnesses import cosignatures
from tapeline.tape.proof import merkle
from tapeline.tape.proof.log_entries import entry_data, head_data

LOG = "log of roots"  # the fact that names it
PART = 256  # leaves; a power of two, so that each part is a subtree

_leaf = struct.Struct(">QQ32s")


class Leaf(NamedTuple):
    """Of one tape."""

    tape: int
    seq: int
    hash: bytes


class Entry(NamedTuple):
    """A tree, as the log has it."""

    log: str
    entry: int
    at: float
    size: int
    root: bytes


def log_id(connection: Connection) -> str | None:
    return facts.get(connection, LOG)


def ensure_log(connection: Connection) -> str:
    """The log, made if there is none."""
    facts.claim(connection, LOG, new_id())
    log = log_id(connection)
    assert log is not None
    return log


def begin_anew(connection: Connection) -> None:
    """Start another log in a copy. The original, or this server after the backup was made, may have
    signed later heads of the one so far: to continue it would show two histories. Its heads and
    their proofs stay in records."""
    if log_id(connection) is not None:
        facts.put(connection, LOG, new_id())


def begin(connection: Connection) -> tuple[str, int]:
    """The log, made if there is none, and the number of its next entry."""
    log = ensure_log(connection)
    entry = connection.scalar(select(func.count()).where(head_trees.c.log == log)) or 0
    # Leaves of a tree that a crash left without its entry.
    connection.execute(
        delete(head_leaves).where(head_leaves.c.log == log, head_leaves.c.entry >= entry)
    )
    return log, entry


def some_heads(connection: Connection, after: int, limit: int) -> list[Leaf]:
    """Leaves of the tapes with the next numbers."""
    rows = connection.execute(
        select(tapes.c.no, tapes.c.model_id, tapes.c.seq, tapes.c.link)
        .join(models, models.c.id == tapes.c.model_id)
        .where(tapes.c.no > after, tapes.c.seq > 0)
        .order_by(tapes.c.no)
        .limit(limit)
    )
    return [
        Leaf(row.no, row.seq, merkle.leaf_hash(head_data(row.model_id, row.seq, bytes(row.link))))
        for row in rows
    ]


def store_parts(
    connection: Connection, log: str, entry: int, first: int, parts: Sequence[Sequence[Leaf]]
) -> None:
    rows = [
        {
            "log": log,
            "entry": entry,
            "part": number,
            "first": leaves[0].tape,
            "leaves": b"".join(_leaf.pack(*one) for one in leaves),
        }
        for number, leaves in enumerate(parts, first)
    ]
    connection.execute(insert(head_leaves), rows)


def complete(connection: Connection, made: Entry, parts: bytes, note: str) -> None:
    """Append a tree to the log. Its leaves are there already."""
    row = {**made._asdict(), "parts": parts, "note": note, "has_leaves": True}
    connection.execute(insert(head_trees), row)


def log_tree(connection: Connection, log: str, more: Entry | None = None) -> merkle.Tree:
    """Over all entries of a log, and one that is about to be added."""
    columns = (head_trees.c.size, head_trees.c.root, head_trees.c.at)
    rows = connection.execute(
        select(*columns).where(head_trees.c.log == log).order_by(head_trees.c.entry)
    )
    said = [entry_data(row.size, bytes(row.root), row.at) for row in rows]
    if more is not None:
        said.append(entry_data(more.size, more.root, more.at))
    return merkle.Tree([merkle.leaf_hash(one) for one in said])


def newest_at(connection: Connection) -> float | None:
    log = log_id(connection)
    query = select(func.max(head_trees.c.at)).where(head_trees.c.log == log)
    found: float | None = connection.scalar(query)
    return found


def newest_without(connection: Connection, authority: str) -> tuple[str, int, str] | None:
    """Log, entry and note of the newest tree, unless this authority has stamped it."""
    newest = connection.execute(
        select(head_trees.c.log, head_trees.c.entry, head_trees.c.note)
        .where(head_trees.c.log == log_id(connection))
        .order_by(head_trees.c.entry.desc())
        .limit(1)
    ).first()
    if newest is None:
        return None
    mine = select(stamps.c.at).where(
        stamps.c.log == newest.log,
        stamps.c.entry == newest.entry,
        stamps.c.authority == authority,
    )
    is_stamped = connection.execute(mine).first() is not None
    return None if is_stamped else (newest.log, newest.entry, newest.note)


def store_stamp(
    connection: Connection, log: str, entry: int, authority: str, response: bytes, at: float
) -> None:
    row = {"log": log, "entry": entry, "authority": authority, "response": response, "at": at}
    connection.execute(insert(stamps), row)


def leaf_of(connection: Connection, log: str, entry: int, tape: int) -> tuple[int, Leaf] | None:
    """The place of a tape among the leaves of a tree, and its leaf."""
    found = _part_of(connection, log, entry, tape)
    if found is None:
        return None
    number, leaves = found
    for place, one in enumerate(leaves):
        if one.tape == tape:
            return number * PART + place, one
    return None


def path_of(connection: Connection, made: Entry, tape: int) -> list[bytes]:
    """From the leaf of a tape to the root of its tree."""
    found = _part_of(connection, made.log, made.entry, tape)
    assert found is not None, "the caller has found its leaf"
    number, leaves = found
    place = next(place for place, one in enumerate(leaves) if one.tape == tape)
    below = merkle.Tree([one.hash for one in leaves]).path(place, len(leaves))
    return [*below, *_tree_of_parts(connection, made).path(number, -(-made.size // PART))]


def thin(connection: Connection, before: float, most: int) -> int:
    """Of the trees of each older day, keep the leaves of one: the first that most others confirmed,
    which are authorities and witnesses."""
    old = (
        select(head_trees.c.log, head_trees.c.entry, head_trees.c.at)
        .where(head_trees.c.has_leaves, head_trees.c.at < before)
        .order_by(head_trees.c.log, head_trees.c.entry)
    )
    confirmed = confirmations(connection)
    kept: dict[tuple[str, float], int] = {}
    rows = connection.execute(old).all()
    for row in rows:
        day = (row.log, row.at // 86_400)
        current = kept.get(day)
        if current is None or confirmed[row.log, row.entry] > confirmed[row.log, current]:
            kept[day] = row.entry
    drop = [row for row in rows if kept[row.log, row.at // 86_400] != row.entry][:most]
    for row in drop:
        for table in (head_leaves, stamps, cosignatures):
            connection.execute(
                delete(table).where(table.c.log == row.log, table.c.entry == row.entry)
            )
        connection.execute(
            update(head_trees)
            .where(head_trees.c.log == row.log, head_trees.c.entry == row.entry)
            .values(has_leaves=False)
        )
    return len(drop)


def confirmations(
    connection: Connection, known_by: float | None = None
) -> Counter[tuple[str, int]]:
    """By log and entry: 2 if it was both stamped and signed by a witness, 1 if only one of them;
    all of them, or those by a moment."""
    return Counter(
        (row.log, row.entry)
        for table in (stamps, cosignatures)
        for row in connection.execute(
            by(select(table.c.log, table.c.entry).distinct(), table, known_by)
        )
    )


def by(query: Select[Any], table: Table, moment: float | None) -> Select[Any]:
    """Only rows of this table that were there by then: trees by our clock, stamps and signatures by
    the clocks of those who gave them."""
    return query if moment is None else query.where(table.c.at <= moment)


def root_of(parts: bytes) -> bytes:
    """The root of a tree, from the roots of its parts."""
    return merkle.Tree([parts[at : at + 32] for at in range(0, len(parts), 32)]).root()


def part_root(leaves: Sequence[Leaf]) -> bytes:
    return merkle.Tree([one.hash for one in leaves]).root()


def _part_of(
    connection: Connection, log: str, entry: int, tape: int
) -> tuple[int, list[Leaf]] | None:
    row = connection.execute(
        select(head_leaves.c.part, head_leaves.c.leaves)
        .where(head_leaves.c.log == log, head_leaves.c.entry == entry, head_leaves.c.first <= tape)
        .order_by(head_leaves.c.part.desc())
        .limit(1)
    ).first()
    if row is None:
        return None
    return row.part, [Leaf(*one) for one in _leaf.iter_unpack(bytes(row.leaves))]


def _tree_of_parts(connection: Connection, made: Entry) -> merkle.Tree:
    parts = connection.scalar(
        select(head_trees.c.parts).where(
            head_trees.c.log == made.log, head_trees.c.entry == made.entry
        )
    )
    content = bytes(parts or b"")
    return merkle.Tree([content[at : at + 32] for at in range(0, len(content), 32)])
