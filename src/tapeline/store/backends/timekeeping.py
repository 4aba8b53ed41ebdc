"""Watches the clock, and saves how much time has passed next to the rows that expire by it.

A copy of the database goes on where the original was, and servers that share one count together.
"""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, select

from tapeline.background import Background
from tapeline.clock import Clock, Saved
from tapeline.store import upsert
from tapeline.store.backends.steady import clock_of
from tapeline.store.tables.core import facts

NAME = "clock"
LOOKED_EVERY, WITHIN = 1.0, 60.0  # seconds
SAVED_EVERY = 60.0


Write = Callable[[Callable[[Connection], None]], Awaitable[None]]


def start(background: Background, clock: Clock, write: Write) -> None:
    """In the background."""
    saved_at = monotonic()

    async def turn() -> None:
        nonlocal saved_at
        if clock.look() or monotonic() - saved_at >= SAVED_EVERY:
            saved_at = -SAVED_EVERY  # until it is done
            await write(save)
            saved_at = monotonic()

    background.loop(NAME, turn, every=LOOKED_EVERY, within=WITHIN)


def resume(connection: Connection) -> None:
    saved = read(connection)
    if saved is not None:
        clock_of(connection).resume(saved)


def read(connection: Connection) -> Saved | None:
    return _decoded(connection.scalar(_row()))


def save(connection: Connection) -> None:
    """The server that has counted most is right."""
    clock, before = clock_of(connection), _decoded(connection.scalar(_row().with_for_update()))
    if before is not None:
        clock.catch_up(before.now)
    value = msgspec.json.encode(clock.saved()).decode()
    row = upsert.insert(connection, facts).values(name=NAME, value=value)
    connection.execute(
        row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value})
    )


def _row() -> Select[Any]:
    return select(facts.c.value).where(facts.c.name == NAME)


def _decoded(text: str | None) -> Saved | None:
    return None if text is None else msgspec.json.decode(text, type=Saved)
