"""Copies SQLite's log of commits into the database file, beside the writer.

SQLite would do this inside of every commit that finds the log long, and everybody would wait for
the copy of the whole log, and for the disk. Copied every second, and after each step of a long job,
the log is short. The writer's own copy (`sqlite.LONGEST_LOG`) remains: while others write, only it
can start the log again from its beginning.
"""

from tapeline.background import Background
from tapeline.store.store import Store

EVERY, FIRST_AFTER, WITHIN = 1.0, 1.0, 600.0  # seconds


def start(background: Background, store: Store) -> None:
    """In the background, while there are commits."""
    if store.database.file is None:
        return
    copied = -1

    async def turn() -> None:
        nonlocal copied
        groups = store.writer.counts.groups
        if groups != copied:
            await store.copy_log()
            copied = groups

    background.loop("log copying", turn, every=EVERY, first_after=FIRST_AFTER, within=WITHIN)
