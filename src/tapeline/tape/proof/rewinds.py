"""Notices a database that went backwards: replaced by an older copy, or restored under a server.

Each server compares the database with the heads that it remembers, at its start and while it runs.
It looks only at tapes that were signed since the last look.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection, select

from tapeline.background import Background
from tapeline.logs import Log
from tapeline.store.portions import batches
from tapeline.store.store import Store
from tapeline.store.tables.core import deleted_models, models
from tapeline.store.tables.tape import checkpoints, tapes
from tapeline.tape.proof import heads
from tapeline.tape.proof.heads import Head, Loss

log = Log(__name__)

EVERY, WITHIN = 30.0, 120.0  # seconds
PORTION = 500
TOLD = 20  # losses with a line of their own


class Rewinds:
    def __init__(self, store: Store, data: Path, background: Background) -> None:
        self._store = store
        self._data = data
        self._known: dict[str, Head] | None = None
        """None until the file was read, and each of its heads looked at."""
        background.loop("heads", self.turn, every=EVERY, within=WITHIN)

    async def turn(self) -> None:
        is_start = self._known is None
        known = self._known
        if known is None:
            known = await asyncio.to_thread(heads.remembered, self._data)
        found, lost = await self._store.read(compare, known, thorough=is_start)
        if lost:
            # Before the new heads: a crash in between notices it again.
            _tell(await asyncio.to_thread(heads.note, self._data, lost))
        if found != known:
            await asyncio.to_thread(heads.remember, self._data, found)
        self._known = found


def compare(
    connection: Connection, known: Mapping[str, Head], *, thorough: bool
) -> tuple[dict[str, Head], list[Loss]]:
    """The heads to remember from now on, and those that the database no longer has."""
    query = select(models.c.id, tapes.c.no, tapes.c.seq, tapes.c.signed_at)
    rows = connection.execute(query.outerjoin(tapes, models.c.id == tapes.c.model_id))
    present = {row.id: row for row in rows if row.no is not None or row.id in known}
    found: dict[str, Head] = {}
    lost = _gone(connection, {name: known[name] for name in known.keys() - present.keys()})
    for model, row in present.items():
        head = known.get(model)
        if head and head.at == row.signed_at and head.seq <= row.seq and not thorough:
            found[model] = head
            continue
        if head and not _has(connection, row.no, head):
            lost.append(Loss(model, head.seq, head.at, row.seq or 0))
        if newest := _newest(connection, row.no):
            found[model] = newest
    return found, lost


def _gone(connection: Connection, absent: Mapping[str, Head]) -> list[Loss]:
    """Those that were not deleted by anybody."""
    deleted: set[str] = set()
    for some in batches(sorted(absent), PORTION):
        query = select(deleted_models.c.id).where(deleted_models.c.id.in_(some))
        deleted |= set(connection.scalars(query))
    return [
        Loss(model, head.seq, head.at, None)
        for model, head in absent.items()
        if model not in deleted
    ]


def _has(connection: Connection, tape: int | None, head: Head) -> bool:
    query = select(checkpoints.c.link).where(
        checkpoints.c.tape == tape, checkpoints.c.seq == head.seq
    )
    link = connection.scalar(query)
    return link is not None and bytes(link).hex() == head.link


def _newest(connection: Connection, tape: int | None) -> Head | None:
    query = select(checkpoints.c.seq, checkpoints.c.link, checkpoints.c.at)
    mine = query.where(checkpoints.c.tape == tape).order_by(checkpoints.c.seq.desc()).limit(1)
    row = connection.execute(mine).first()
    return None if row is None else Head(row.seq, bytes(row.link).hex(), row.at)


def _tell(lost: list[Loss]) -> None:
    for one in lost[:TOLD]:
        log.error("store_went_backwards", model=one.model, why=one.sentence())
    if len(lost) > TOLD:
        log.error("store_went_backwards", tapes=len(lost), not_listed=len(lost) - TOLD)
