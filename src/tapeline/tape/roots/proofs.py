"""The proofs that a record of a tape carries: for each day the first tree that others confirmed.

A reader who may look up to a moment only is told nothing that came later. A tree, a stamp or a
signature of a witness would otherwise tell whether the tape has gone on since: one that still ends
at the last event in view says that nothing came before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, and_, func, select

from tapeline.store.tables.roots import head_trees, stamps
from tapeline.store.tables.witnesses import cosignatures
from tapeline.tape.record.lines import InLog, InTree, Proof, Stamp, Witness
from tapeline.tape.roots import trees
from tapeline.tape.roots.trees import Entry

DAY = 86_400.0
LOOKED_BACK = 200  # stamped trees


class Planned(NamedTuple):
    """A proof that is written when its event is reached."""

    made: Entry
    leaf: int
    weight: int
    """How many kinds of others confirmed it."""
    known_by: float | None
    """Stamps and signatures of a later time are left out; None if there is no such bound."""


Plan = Mapping[int, Planned]
"""By the number of the event."""


def plan(connection: Connection, tape: int, last: int, known_by: float | None = None) -> Plan:
    """The proofs of a tape up to an event, as they were at a moment. For each event, the one that
    most others confirmed, and of those the earliest."""
    found: dict[int, Planned] = {}
    for made, weight in reversed(_confirmed(connection, known_by)):
        place = trees.leaf_of(connection, made.log, made.entry, tape)
        if place is None:  # younger than this tree, and than all before it
            break
        index, leaf = place
        other = found.get(leaf.seq)
        if leaf.seq <= last and (other is None or weight >= other.weight):
            found[leaf.seq] = Planned(made, index, weight, known_by)
    return found


def witnesses(connection: Connection, plan: Plan) -> list[Witness]:
    """Those that signed the heads of these proofs, with the keys they used."""
    found = {
        (row.name, row.public_key)
        for one in plan.values()
        for row in connection.execute(_given(cosignatures, one))
    }
    return [Witness(*one) for one in sorted(found)]


def written(
    connection: Connection, tape: int, plan: Plan, links: Mapping[int, bytes | None]
) -> dict[int, Proof]:
    """Those of a part of the tape with these links, by event."""
    here = {seq: (one, link) for seq, link in links.items() if link and (one := plan.get(seq))}
    logs = {
        log: trees.log_tree(connection, log) for log in {one.made.log for one, _ in here.values()}
    }
    found = {}
    for seq, (one, link) in here.items():
        made, size = one.made, one.made.entry + 1
        path = logs[made.log].path(made.entry, size)
        found[seq] = Proof(
            seq,
            link.hex(),
            InTree(one.leaf, made.size, _hex(trees.path_of(connection, made, tape))),
            InLog(made.entry, size, _hex(path), made.at),
            _note(connection, one),
            _stamps(connection, one),
        )
    return found


def _confirmed(connection: Connection, known_by: float | None) -> list[tuple[Entry, int]]:
    """Trees that others confirmed by then, and by how many kinds of them: of those that were
    stamped and of those that a witness signed, the first of each day, and the last of each log."""
    columns = [head_trees.c[name] for name in Entry._fields]
    weights, wanted = trees.confirmations(connection, known_by), dict[tuple[str, int], Entry]()
    for table in (stamps, cosignatures):
        theirs = select(table.c.at).where(
            table.c.log == head_trees.c.log, table.c.entry == head_trees.c.entry
        )
        query = select(*columns).where(
            head_trees.c.has_leaves, trees.by(theirs, table, known_by).exists()
        )
        rows = connection.execute(
            trees.by(query, head_trees, known_by).order_by(head_trees.c.at, head_trees.c.entry)
        )
        every = [Entry(row.log, row.entry, row.at, row.size, bytes(row.root)) for row in rows]
        first = {made.at // DAY: made for made in reversed(every)}
        last = {made.log: made for made in every}
        wanted |= {(one.log, one.entry): one for one in (*first.values(), *last.values())}
    ordered = sorted(wanted.values(), key=lambda one: (one.at, one.entry))
    return [(one, weights[one.log, one.entry]) for one in ordered]


def _note(connection: Connection, one: Planned) -> str:
    """The head of the log, with the signatures of witnesses."""
    note = connection.execute(_of(head_trees, one.made)).one().note
    rows = connection.execute(_given(cosignatures, one).order_by(cosignatures.c.name))
    return "".join([note, *(row.line for row in rows)])


def _stamps(connection: Connection, one: Planned) -> list[Stamp]:
    rows = connection.execute(_given(stamps, one).order_by(stamps.c.authority))
    return [Stamp(row.authority, bytes(row.response)) for row in rows]


def _given(table: Table, one: Planned) -> Select[Any]:
    """What others gave for a tree, as far as its reader may know of it."""
    return trees.by(_of(table, one.made), table, one.known_by)


def _of(table: Table, made: Entry) -> Select[Any]:
    return select(table).where(table.c.log == made.log, table.c.entry == made.entry)


def _hex(hashes: Sequence[bytes]) -> list[str]:
    return [one.hex() for one in hashes]


def newest(
    connection: Connection, tape: int, last: int, known_by: float | None = None
) -> tuple[int, float] | None:
    """How far a tape was stamped at a moment: the number of an event, and the time of the stamp."""
    at = func.min(stamps.c.at)
    query = (
        select(stamps.c.log, stamps.c.entry, at.label("at"))
        .join(
            head_trees,
            and_(head_trees.c.log == stamps.c.log, head_trees.c.entry == stamps.c.entry),
        )
        .group_by(stamps.c.log, stamps.c.entry)
        .order_by(at.desc())
        .limit(LOOKED_BACK)
    )
    for table in (stamps, head_trees):
        query = trees.by(query, table, known_by)
    for row in connection.execute(query):
        place = trees.leaf_of(connection, row.log, row.entry, tape)
        if place is None:  # younger than this tree, and than all before it
            return None
        if place[1].seq <= last:
            return place[1].seq, row.at
    return None
