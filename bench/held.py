"""How long a deletion holds the writer: each step, its own processor time, and each commit.

`python -m bench.held [--lines N]`: a model with a million log lines, unless told otherwise, is
deleted and its space given back, while another job writes every 20 ms. Everything is in one process
without HTTP, so that a busy machine changes the processor time least of all.
"""

import argparse
import asyncio
import gc
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, delete, event

from bench.parts import plain_tape, service
from tapeline import compose
from tapeline.background import Background
from tapeline.settings import Settings
from tapeline.store import facts
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.upkeep import log_copying, space
from tapeline.tape import cleanup

EVERY = 0.02  # seconds between the writes of another job
LONG = 0.05  # seconds that nobody should wait longer for


class Held(NamedTuple):
    seconds: float
    processor: float


class Watch:
    """Notes from the beginning of each transaction to its end; both are in the writer's thread."""

    def __init__(self, writing: Engine) -> None:
        self.held: list[Held] = []
        self._begun = Held(0.0, 0.0)
        event.listen(writing, "begin", self._begin)
        # When the connection goes back, the commit is over.
        event.listen(writing.pool, "checkin", self._end)

    def _begin(self, _connection: Connection) -> None:
        self._begun = Held(time.perf_counter(), time.thread_time())

    def _end(self, *_: Any) -> None:
        began = self._begun
        self.held.append(
            Held(time.perf_counter() - began.seconds, time.thread_time() - began.processor)
        )

    def row(self, what: str) -> None:
        held, self.held = self.held, []
        print(
            f"| {what} | {len(held):,} | {_shown([one.seconds for one in held])}"
            f" | {sum(one.seconds > LONG for one in held)}"
            f" | {_shown([one.processor for one in held])}"
            f" | {sum(one.processor > LONG for one in held)} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    lines: int = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service.running(data) as first:
            model = first.model
        plain_tape.fill(data, model, lines, orders_every=0)
        with compose.open_store(Settings(data=data)) as store:
            gc.freeze()  # as the server does
            asyncio.run(_measure(store, model))


async def _measure(store: Store, model: str) -> None:
    watch, background = Watch(store.database.writing), Background()
    log_copying.start(background, store)
    print("| what | writes | held: median, p99, longest | over 50 ms | processor | over 50 ms |")
    async with background.running():
        writing = asyncio.create_task(_write(store))
        await asyncio.sleep(10)
        watch.row("before")
        await store.write(lambda c: c.execute(delete(models).where(models.c.id == model)))
        await cleanup.clean_up(store)
        watch.row("deleting")
        await space.give_back(store)
        watch.row("giving back")
        writing.cancel()


async def _write(store: Store) -> None:
    while True:
        await store.write(facts.prove_writable)
        await asyncio.sleep(EVERY)


def _shown(seconds: list[float]) -> str:
    sorted_ = sorted(seconds)
    chosen = (sorted_[len(sorted_) // 2], sorted_[len(sorted_) * 99 // 100], sorted_[-1])
    return ", ".join(f"{1000 * one:.1f}" for one in chosen) + " ms"


if __name__ == "__main__":
    main()
