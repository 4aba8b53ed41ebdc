"""Deletes archives that no version refers to: of deleted models, and of uploads that failed late.

Only old ones are deleted. An upload stores its archive before its version is recorded, and renews
the time of an old one, so a young blob may soon be in use.
"""

import asyncio

from tapeline.background import Background
from tapeline.logs import Log
from tapeline.models import versions
from tapeline.store.blobs import GRACE, Blobs
from tapeline.store.portions import batches
from tapeline.store.store import Store

log = Log(__name__)

PORTION = 500
FIRST_AFTER, EVERY, WITHIN = 60.0, 3600.0, 900.0  # seconds


def start(background: Background, store: Store, blobs: Blobs, *, shared: bool) -> None:
    """In the background. Each server has its own, unless they share a place for them."""

    async def turn() -> None:
        await clean_up(store, blobs, store.clock.ago(GRACE) + GRACE)

    background.loop(
        "sweeping", turn, every=EVERY, first_after=FIRST_AFTER, within=WITHIN, once=shared
    )


async def clean_up(store: Store, blobs: Blobs, now: float) -> int:
    """Delete archives that are old and unused; return how many there were."""
    deleted = 0
    names = await asyncio.to_thread(blobs.old, now)
    for some in batches(names, PORTION):
        for name in await store.read(versions.unused, some):
            await asyncio.to_thread(blobs.delete_old, name, now)
            deleted += 1
    if deleted:
        log.info("archives_swept", count=deleted)
    return deleted
