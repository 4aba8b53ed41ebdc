"""Finds the models of a portfolio in one query, and keeps their holdings until they change.

numpy is imported at the first use, to keep start-up fast.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from sqlalchemy import Connection, and_, select

from tapeline.fair_threads import checkpoint
from tapeline.recently_used import RecentlyUsed
from tapeline.results.pnl import summary
from tapeline.results.pnl.overview import Lifecycle, lifecycle_of
from tapeline.store.portions import batches
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.tape import backtests, states, tapes
from tapeline.tape.events import kinds

if TYPE_CHECKING:
    from tapeline.results.portfolio.holding import Holding

REMEMBERED = 2_000_000  # days of all holdings that are kept at hand: some 32 MB
OF_ONE = 100  # days that any holding counts for, however few it has
TOGETHER = 500  # projects in one statement
SETTINGS = (kinds.SET_PNL, kinds.AUTO_PNL, kinds.ACCOUNT_SETTINGS)

ANSWERS = 16_000_000  # bytes of answers that are kept at hand

Key = tuple[int, int, int, tuple[int, ...]]
State = tuple[Key, str, str, tuple[Any, ...]]


class Head(NamedTuple):
    """A model, and what tells one state of its holding from the next."""

    model_id: str
    project_id: str
    name: str
    type: str
    lifecycle: Lifecycle
    tape: int
    """Zero before its first event."""
    key: Key
    heard_at: float
    """When its newest event came in; zero before the first."""

    def state(self) -> "State":
        """All that an answer shows of it, in short."""
        return self.key, self.model_id, self.name, msgspec.structs.astuple(self.lifecycle)


class Holdings:
    """Computed once for each state of a model's books, settings and own series."""

    def __init__(self) -> None:
        self._known = RecentlyUsed[Key, "Holding"](REMEMBERED, lambda one: OF_ONE + one.size)
        self.answers = RecentlyUsed[Any, bytes](ANSWERS, len)
        """Of portfolios, by the state of all their models."""

    def of(self, connection: Connection, head: Head) -> "Holding":
        checkpoint()  # the client of a portfolio with many models may have left
        return self._known.get(head.key, lambda: _read(connection, head.tape))


def heads(connection: Connection, projects: list[str]) -> list[Head]:
    """Of all models of some projects, in the order in which they were created."""
    return [
        _head(row)
        for some in batches(projects, TOGETHER)
        for row in connection.execute(_query().where(models.c.project_id.in_(some)))
    ]


def _query() -> Any:
    lifecycle, one = states.alias("lifecycle_state"), backtests.alias()
    result = (
        select(one.c.result_seq)
        .where(one.c.tape == tapes.c.no, one.c.result_seq.is_not(None))
        .order_by(one.c.result_seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    named = and_(lifecycle.c.tape == tapes.c.no, lifecycle.c.name == "lifecycle")
    return (
        select(
            models.c.id,
            models.c.project_id,
            models.c.name,
            models.c.type,
            tapes.c.no,
            tapes.c.counts,
            tapes.c.signed_at,
            ledgers.c.version,
            lifecycle.c.value.label("lifecycle"),
            result.label("result"),
        )
        .outerjoin(tapes, tapes.c.model_id == models.c.id)
        .outerjoin(ledgers, ledgers.c.tape == tapes.c.no)
        .outerjoin(lifecycle, named)
        .order_by(models.c.created_at, models.c.id)
    )


def _head(row: Any) -> Head:
    counts = {} if row.counts is None else _counts.decode(row.counts)
    said = {} if row.lifecycle is None else msgspec.json.decode(row.lifecycle, type=dict[str, Any])
    changes = tuple(counts.get(kind.number, 0) for kind in SETTINGS)
    key = (row.no or 0, row.version or 0, row.result or 0, changes)
    return Head(
        row.id,
        row.project_id,
        row.name,
        row.type,
        lifecycle_of(said),
        row.no or 0,
        key,
        row.signed_at or 0.0,
    )


def _read(connection: Connection, tape: int) -> "Holding":
    from tapeline.results.performance.evidence import kept_of  # noqa: PLC0415
    from tapeline.results.portfolio.holding import holding  # noqa: PLC0415

    return holding(kept_of(connection, tape), summary.own_of(connection, tape))


_counts = msgspec.json.Decoder(dict[int, int])
