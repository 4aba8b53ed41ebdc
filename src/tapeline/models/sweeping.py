"""Sweeping out archives that no version names: of deleted models, and of uploads that failed late.

Only old ones go. An upload keeps its archive before its version is recorded, and puts an old one
anew, so a blob that is young may be somebody's in a moment.
"""

import asyncio
import time

from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.models import versions
from tapeline.store.blobs import Blobs
from tapeline.store.store import Store

log = Log(__name__)

PORTION = 500
FIRST_AFTER, SWEPT_EVERY = 60.0, 3600.0  # seconds


async def keep_sweeping(store: Store, blobs: Blobs) -> None:
    """Runs beside the service."""
    await asyncio.sleep(FIRST_AFTER)
    while True:
        try:
            await sweep(store, blobs, time.time())
        except Unavailable:
            log.warning("sweeping_put_off")
        await asyncio.sleep(SWEPT_EVERY)


async def sweep(store: Store, blobs: Blobs, now: float) -> int:
    """Delete what is old and nobody's; how many there were."""
    swept = 0
    names = await asyncio.to_thread(blobs.old, now)
    for first in range(0, len(names), PORTION):
        for name in await store.read(versions.unused, names[first : first + PORTION]):
            await asyncio.to_thread(blobs.delete_old, name, now)
            swept += 1
    if swept:
        log.info("archives_swept", count=swept)
    return swept
