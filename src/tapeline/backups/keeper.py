"""Makes backups on a schedule while the server runs, one server at a time.

The work itself is done by another process (`process.py`). This one only waits, and remembers how
it ended.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

import msgspec

from tapeline.background import Background
from tapeline.backups import encrypting, records
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.process import Answer, Order
from tapeline.backups.records import Made, Standing
from tapeline.errors import CannotStart, Problem, Unavailable
from tapeline.logs import Log
from tapeline.settings import Settings
from tapeline.store.store import Store

log = Log(__name__)

NAME = "backup"
FIRST_AFTER, LOOKED_EVERY, WITHIN = 2.0, 30.0, 60.0  # seconds
BEAT = 5.0
LET_GO = 5.0  # seconds for a process to remove its drafts
SOONEST, LATEST = 60.0, 3600.0  # seconds from a failure to the next attempt


class Keeper:
    def __init__(
        self,
        settings: Settings,
        store: Store,
        background: Background,
        on_hold: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._store = store
        self._on_hold = on_hold
        self._not_before = 0.0
        self.standing = Standing(None)
        """As of the last look, for metrics."""
        self.failures = 0
        self._work = background.kind(NAME)
        if settings.backup_recipients:
            _refuse_wrong(settings.backup_recipients)
        if settings.backup_folder:
            self._work = background.loop(
                NAME,
                self.turn,
                every=LOOKED_EVERY,
                first_after=FIRST_AFTER,
                within=WITHIN,
                once=True,
            )

    async def turn(self) -> None:
        if not await self._look() or monotonic() < self._not_before:
            return
        # A restored copy would push the backups of its original out of the folder.
        if await asyncio.to_thread(self._on_hold):
            return
        await self._make()

    async def _look(self) -> bool:
        self.standing = await self._store.read(records.standing, self._settings)
        return self.standing.is_due(self.now())

    def now(self) -> float:
        """The time by which backups age."""
        return self._store.clock.with_pauses()

    async def _make(self) -> None:
        try:
            began = self.now()
            made = msgspec.structs.replace(await self._made(), steady=began)
            await self._store.write(records.keep, made)
        except Problem as problem:
            await self._failed(problem)
            return
        log.info(
            "backup_made",
            path=made.path,
            seconds=round(made.seconds, 1),
            bytes=made.bytes,
            tapes_checked=made.tapes,
        )
        if made.remarks:
            self._work.note(BackupFailed(made.remarks))
        await self._look()

    async def _failed(self, problem: Problem) -> None:
        self.failures += 1
        every = self.standing.every or 0.0
        self._not_before = monotonic() + max(SOONEST, min(LATEST, every / 4))
        self._work.note(problem)
        with suppress(Unavailable):  # the log has it
            await self._store.write(records.keep_failure, problem.message, socket.gethostname())
            await self._look()

    async def _made(self) -> Made:
        chosen, clock = self._settings, self._store.clock
        known = await self._store.read(records.times)
        order = Order(
            data=str(chosen.data),
            database=chosen.database,
            folder=chosen.backup_folder,
            keep=chosen.backup_keep,
            recipients=chosen.backup_recipients,
            installation=await self._store.write(records.installation),
            parent=os.getpid(),
            times={name: clock.shown(stamp) for name, stamp in known.items()},
            blobs=chosen.blobs,
        )
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "tapeline.backups.process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            return await self._answer(child, msgspec.json.encode(order))
        finally:
            await _let_go(child)

    async def _answer(self, child: asyncio.subprocess.Process, order: bytes) -> Made:
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(ConnectionError):  # it ended at once: its exit status tells
            child.stdin.write(order)
            await child.stdin.drain()
        child.stdin.close()
        hours = self._settings.backup_hours
        deadline = monotonic() + hours * records.HOUR
        while child.returncode is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT):
                    await child.wait()
            self._work.beat()
            if monotonic() > deadline:
                raise BackupFailed(f"It took more than {hours} hours, which is its schedule.")
        if child.returncode < 0:
            raise BackupFailed(
                f"Its process was killed (signal {-child.returncode}), perhaps for want of memory."
            )
        if child.returncode:
            raise BackupFailed(f"Its process ended with status {child.returncode}; see the log.")
        answer = msgspec.json.decode(await child.stdout.read(), type=Answer)
        if answer.made is None:
            raise BackupFailed(answer.why)
        return answer.made


def _refuse_wrong(recipients: str) -> None:
    """At the start, and not in the night when the first backup is due."""
    try:
        encrypting.public_keys(recipients)
    except BackupFailed as problem:
        raise CannotStart(f"backup_recipients cannot be used: {problem.message}") from problem


async def _let_go(child: asyncio.subprocess.Process) -> None:
    """Nobody waits for it any more. On a disk that hangs, even a killed process may stay."""
    for end in (child.terminate, child.kill):
        if child.returncode is not None:
            return
        with suppress(ProcessLookupError):
            end()
        with suppress(TimeoutError):
            async with asyncio.timeout(LET_GO):
                await child.wait()
