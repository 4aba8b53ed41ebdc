"""Deletes archives that no version refers to: of deleted models, and of uploads that failed late.

Only old ones are deleted. An upload stores its archive before its version is recorded, and renews
the time of an old one, so a young blob may soon be in use.
"""

import asyncio
import time

from tapeline.background import Background
from tapeline.logs import Log
from tapeline.models import versions
from tapeline.store.blobs import Blobs
from tapeline.store.portions import batches
from tapeline.store.store import Store

log = Log(__name__)

PORTION = 500
FIRST_AFTER, SWEPT_EVERY, WITHIN = 60.0, 3600.0, 900.0  # seconds


def keep_sweeping(background: Background, store: Store, blobs: Blobs) -> None:
    """In the background."""

    async def turn() -> None:
        await sweep(store, blobs, time.time())

    background.loop("sweeping", turn, every=SWEPT_EVERY, first_after=FIRST_AFTER, within=WITHIN)


async def sweep(store: Store, blobs: Blobs, now: float) -> int:
    """Delete archives that are old and unused; return how many there were."""
    swept = 0
    names = await asyncio.to_thread(blobs.old, now)
    for some in batches(names, PORTION):
        for name in await store.read(versions.unused, some):
            await asyncio.to_thread(blobs.delete_old, name, now)
            swept += 1
    if swept:
        log.info("archives_swept", count=swept)
    return swept
