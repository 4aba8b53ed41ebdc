"""The proofs that a record of a tape carries: for each day the first tree that others confirmed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tapeline.store.tables.roots import head_trees, stamps
from tapeline.tape.record.lines import InLog, InTree, Proof, Stamp
from tapeline.tape.roots import trees
from tapeline.tape.roots.trees import Entry

DAY = 86_400.0
LOOKED_BACK = 200  # stamped trees


class Planned(NamedTuple):
    """A proof that is written when its event is reached."""

    made: Entry
    leaf: int


Plan = Mapping[int, Planned]
"""By the number of the event."""


def plan(connection: Connection, tape: int, last: int) -> Plan:
    """The proofs of a tape up to an event, the earliest one for each event."""
    found: dict[int, Planned] = {}
    for made in reversed(_confirmed(connection)):
        place = trees.leaf_of(connection, made.log, made.entry, tape)
        if place is None:  # younger than this tree, and than all before it
            break
        if place[1].seq <= last:
            found[place[1].seq] = Planned(made, place[0])
    return found


def written(
    connection: Connection, tape: int, plan: Plan, links: Mapping[int, bytes | None]
) -> dict[int, Proof]:
    """Those of a part of the tape with these links, by event."""
    here = {seq: (one, link) for seq, link in links.items() if link and (one := plan.get(seq))}
    logs = {
        log: trees.log_tree(connection, log) for log in {one.made.log for one, _ in here.values()}
    }
    found = {}
    for seq, ((made, leaf), link) in here.items():
        size = made.entry + 1
        path = logs[made.log].path(made.entry, size)
        found[seq] = Proof(
            seq,
            link.hex(),
            InTree(leaf, made.size, _hex(trees.path_of(connection, made, tape))),
            InLog(made.entry, size, _hex(path), made.at),
            _note(connection, made),
            _stamps(connection, made),
        )
    return found


def _confirmed(connection: Connection) -> list[Entry]:
    """Trees that others confirmed: the first of each day, and the last of all."""
    columns = [head_trees.c[name] for name in Entry._fields]
    rows = connection.execute(
        select(*columns)
        .where(
            head_trees.c.has_leaves,
            select(stamps.c.at)
            .where(stamps.c.log == head_trees.c.log, stamps.c.entry == head_trees.c.entry)
            .exists(),
        )
        .order_by(head_trees.c.at, head_trees.c.entry)
    )
    every = [Entry(row.log, row.entry, row.at, row.size, bytes(row.root)) for row in rows]
    first = {made.at // DAY: made for made in reversed(every)}
    return [*reversed(first.values()), *every[-1:]]


def _note(connection: Connection, made: Entry) -> str:
    query = select(head_trees.c.note)
    mine = query.where(head_trees.c.log == made.log, head_trees.c.entry == made.entry)
    note: str = connection.execute(mine).scalar_one()
    return note


def _stamps(connection: Connection, made: Entry) -> list[Stamp]:
    rows = connection.execute(
        select(stamps.c.authority, stamps.c.response)
        .where(stamps.c.log == made.log, stamps.c.entry == made.entry)
        .order_by(stamps.c.authority)
    )
    return [Stamp(row.authority, bytes(row.response)) for row in rows]


def _hex(hashes: Sequence[bytes]) -> list[str]:
    return [one.hex() for one in hashes]


def newest(connection: Connection, tape: int, last: int) -> tuple[int, float] | None:
    """How far a tape is stamped: the number of an event, and the time of the stamp."""
    rows = connection.execute(
        select(stamps.c.log, stamps.c.entry, func.min(stamps.c.at).label("at"))
        .group_by(stamps.c.log, stamps.c.entry)
        .order_by(func.min(stamps.c.at).desc())
        .limit(LOOKED_BACK)
    )
    for row in rows:
        place = trees.leaf_of(connection, row.log, row.entry, tape)
        if place is None:  # younger than this tree, and than all before it
            return None
        if place[1].seq <= last:
            return place[1].seq, row.at
    return None
