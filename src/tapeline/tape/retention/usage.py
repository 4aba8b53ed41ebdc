"""How much space a project takes, by kind of data."""

from collections import Counter
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, select

from tapeline.store.tables.core import models
from tapeline.store.tables.prices import price_chunks
from tapeline.store.tables.runs import runs, samples
from tapeline.store.tables.tape import backtests, pages, pieces, states, tapes
from tapeline.tape.events import kinds
from tapeline.tape.proof import removed
from tapeline.tape.retention import planning, policy
from tapeline.tape.retention.policy import Progress

SAMPLE = 60  # bytes of a sample in the database, about
PRICES = "prices"
ALWAYS = "record"
"""Orders, cash, marks, lifecycle and all else that is always kept, and the digests of the rest."""

_OF_CHANNEL = {
    kinds.LOG.channel: "logs",
    kinds.EVENT.channel: "events",
    kinds.BACKTEST_LOG.channel: "backtests",
    kinds.BACKTEST_RESULT.channel: "backtests",
    removed.CHANNEL: ALWAYS,
}


class KindUsage(msgspec.Struct):
    kind: str
    """`logs`, `events`, `backtests`, `samples`, `prices` (bars and indicators for charts), or
    `record` for what is always kept."""
    bytes: int
    days: int | None = None
    """How long it is kept; null for ever. For `prices` the server says it (`bars_days`), and it
    holds for indicators and for bars under an hour."""
    removed: int = 0
    """Events that retention has removed."""


class SpaceUsage(msgspec.Struct):
    items: list[KindUsage]
    removed_until: float | None = None
    """When the newest of the removed events was received."""


def of_project(connection: Connection, project_id: str, bars_days: int) -> SpaceUsage:
    """`bars_days`: as the setting; 0: for ever."""
    chosen = policy.of_project(connection, project_id)
    sizes, progress = _sizes(connection, project_id), _progress(connection, project_id)
    gone = Counter[str]()
    for one in progress:
        gone.update(one.removed)
    items = [KindUsage(kind, sizes[kind], chosen.get(kind), gone[kind]) for kind in policy.KINDS]
    until = max((one.until for one in progress), default=0.0)
    items.append(KindUsage(PRICES, sizes[PRICES], bars_days or None))
    return SpaceUsage([*items, KindUsage(ALWAYS, sizes[ALWAYS])], until or None)


def _sizes(connection: Connection, project_id: str) -> Counter[str]:
    """Bytes by kind. A page says its length without being read."""
    own = _tapes(project_id)
    sizes: Counter[str] = Counter()
    held = select(pages.c.channel, func.sum(func.length(pages.c.content)))
    for channel, size in connection.execute(
        held.where(pages.c.tape.in_(own)).group_by(pages.c.channel)
    ):
        is_of_backtest = channel > kinds.CHANNELS_OF_BACKTESTS
        sizes["backtests" if is_of_backtest else _OF_CHANNEL.get(channel, ALWAYS)] += int(size)
    lists = select(func.sum(func.length(pieces.c.content))).where(
        pieces.c.upload.in_(select(backtests.c.upload).where(backtests.c.tape.in_(own)))
    )
    sizes["backtests"] += int(connection.scalar(lists) or 0)
    charted = select(func.sum(func.length(price_chunks.c.content)))
    sizes[PRICES] += int(connection.scalar(charted.where(price_chunks.c.tape.in_(own))) or 0)
    sampled = (
        select(func.count()).select_from(samples).where(samples.c.run_id.in_(_runs(project_id)))
    )
    sizes["samples"] += SAMPLE * (connection.scalar(sampled) or 0)
    return sizes


def _progress(connection: Connection, project_id: str) -> list[Progress]:
    query = select(states.c.value).where(
        states.c.tape.in_(_tapes(project_id)), states.c.name == planning.NAME
    )
    return [msgspec.json.decode(value, type=Progress) for value in connection.scalars(query)]


def _tapes(project_id: str) -> Select[Any]:
    own = select(models.c.id).where(models.c.project_id == project_id)
    return select(tapes.c.no).where(tapes.c.model_id.in_(own))


def _runs(project_id: str) -> Select[Any]:
    own = select(models.c.id).where(models.c.project_id == project_id)
    return select(runs.c.id).where(runs.c.model_id.in_(own))
