"""One cheap look at everything that rules watch: how far tapes, books and runs have come."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, or_, select

from tapeline.runs.run import DEPLOYED
from tapeline.store import bulk, leadership
from tapeline.store.backends import common_time
from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.runs import hosts, runs
from tapeline.tape.events import kinds
from tapeline.watch.rules import stored

ENDED_FOR = 600.0
"""Seconds for which an ended run is still looked at."""
FEW = 200  # models that are looked up by name; beyond that all are read, which is quicker

_HEADS = """
select m.id, m.project_id, m.name, t.no, t.seq, t.counts, l.version
from models m left join tapes t on t.model_id = m.id left join ledgers l on l.tape = t.no
"""

_counts = msgspec.json.Decoder(dict[int, int]).decode


class Head(NamedTuple):
    """How far everything of a model has come."""

    model_id: str
    project_id: str
    name: str
    tape: int | None
    seq: int | None
    counts: bytes | None
    books: int | None


class Look(msgspec.Struct, frozen=True):
    now: float
    """By the clock of the database, which all servers share."""
    term: tuple[str, float] | None
    """Who leads, and since when: with a new term, what was remembered may be out of date."""
    rules: tuple[int, int, float]
    heads: dict[str, Head]
    runs: Mapping[str, tuple[tuple[object, ...], ...]]
    """Of each model, what can change of its deployed runs."""
    hosts: tuple[str, ...]


class Reach(msgspec.Struct, frozen=True):
    """Whose models have to be looked at."""

    everything: bool = False
    projects: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()


def look(connection: Connection, reach: Reach) -> Look:
    lease, now = leadership.holder(connection), common_time.now(connection)
    is_needed = reach != Reach()  # an installation without rules costs nothing
    return Look(
        now,
        None if lease is None else (lease.holder, lease.since),
        stored.digest(connection),
        _heads(connection, reach),
        _runs(connection, now) if is_needed else {},
        tuple(connection.scalars(select(hosts.c.name).where(hosts.c.forgotten_at.is_(None)))),
    )


def _heads(connection: Connection, reach: Reach) -> dict[str, Head]:
    projects, models = reach.projects, reach.models
    if not (reach.everything or projects or models):
        return {}
    if reach.everything or len(projects) + len(models) > FEW:
        found = bulk.fetch(connection, _HEADS, ())
    else:
        sides = (("m.project_id", sorted(projects)), ("m.id", sorted(models)))
        where = " or ".join(
            f"{column} in ({bulk.marks(len(some))})" for column, some in sides if some
        )
        named = (*sorted(projects), *sorted(models))
        found = bulk.fetch(connection, f"{_HEADS} where {where}", named)
    heads = (Head(*row) for row in found)
    return {one.model_id: one for one in heads}


def _runs(connection: Connection, now: float) -> dict[str, tuple[tuple[object, ...], ...]]:
    query = select(
        runs.c.model_id, runs.c.id, runs.c.state, runs.c.desired, runs.c.restarts, runs.c.ended_at,
        runs.c.due_at, runs.c.reason,
    ).where(
        runs.c.kind.in_(DEPLOYED),
        or_(runs.c.ended_at.is_(None), runs.c.ended_at > now - ENDED_FOR),
    )  # fmt: skip
    found: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for row in connection.execute(query.order_by(runs.c.id)):
        found[row[0]].append(tuple(row))
    return {model_id: tuple(rows) for model_id, rows in found.items()}


def books_of(connection: Connection, tapes: Sequence[int]) -> dict[int, int]:
    """The version of the books of some tapes."""
    query = select(ledgers.c.tape, ledgers.c.version).where(ledgers.c.tape.in_(tapes))
    return {row.tape: row.version for row in connection.execute(query)}


def changed(before: Head | None, after: Head) -> set[str]:
    """The kinds of events that came in between, and `books`."""
    if before is None:
        return {"books", *(kind.name for kind in kinds.KINDS)}
    if before == after:
        return set()
    words = {"books"} if before.books != after.books else set[str]()
    if before.counts != after.counts:
        earlier, later = _counts(before.counts or b"{}"), _counts(after.counts or b"{}")
        words |= {
            kinds.BY_NUMBER[number].name
            for number, count in later.items()
            if earlier.get(number) != count
        }
    return words
