"""Makes a tree of all heads every hour, and has the log of trees stamped by outside authorities.

One request to each authority covers all tapes. An authority that is away is asked again after
pauses that grow. It is asked about the newest head of the log only, which covers all before it.
Witnesses sign the same heads; `tape/witnessing` asks them.
"""

import asyncio
import time

from sqlalchemy import Connection, select

from tapeline.background import Background
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables.witnesses import witnesses
from tapeline.tape.append.appending import Appender
from tapeline.tape.proof import log_entries, notes, time_stamps
from tapeline.tape.proof.time_stamps import NoStamp
from tapeline.tape.roots import trees
from tapeline.tape.roots.outsiders import Outsider
from tapeline.tape.roots.trees import PART, Entry, Leaf
from tapeline.thread_pools import briefly, in_thread, threads

NAME = "roots"
LOOKED_EVERY, FIRST_AFTER, WITHIN = 15.0, 5.0, 300.0  # seconds
AT_ONCE = 4  # authorities that are asked; each may take long to answer
READ_AT_ONCE = PART * 8  # tapes
WRITTEN_AT_ONCE = 8  # parts: some 100 kB
WHOLE_DAYS = 7 * 86_400.0
"""For so long every tree keeps its leaves; then one of each day does."""
THINNED_AT_ONCE = 24


class Roots:
    def __init__(
        self, settings: Settings, store: Store, appender: Appender, background: Background
    ) -> None:
        self.authorities = [Outsider(one) for one in settings.timestamps.split(", ") if one]
        self._every = 60.0 * settings.timestamp_minutes
        self._store = store
        self._appender = appender
        self._threads = threads(AT_ONCE, "time stamps")
        self._work = background.loop(
            NAME,
            self.turn,
            every=LOOKED_EVERY,
            first_after=FIRST_AFTER,
            within=WITHIN,
            once=True,
        )

    async def turn(self) -> None:
        if not self.authorities and not await self._store.read(_has_witnesses):
            return  # nobody would confirm a tree
        if await self._is_due():
            await self.make()
            before = self._store.clock.ago(WHOLE_DAYS)
            await self._store.write(trees.thin, before, THINNED_AT_ONCE)
        # All at once: one that is slow holds up no other.
        await asyncio.gather(*(self._stamp(one) for one in self.authorities if one.is_due()))

    async def make(self) -> None:
        """A tree of the present heads, in short steps: none holds the writer for long."""
        log, entry = await self._store.write(trees.begin)
        roots, size = b"", 0
        after = 0
        while leaves := await self._store.read(trees.some_heads, after, READ_AT_ONCE):
            parts = [leaves[at : at + PART] for at in range(0, len(leaves), PART)]
            await self._store.write(trees.store_parts, log, entry, size // PART, parts)
            roots += await briefly(_roots_of, parts)
            after, size = leaves[-1].tape, size + len(leaves)
            self._work.beat()
        if size:
            made = Entry(log, entry, time.time(), size, trees.root_of(roots))
            note = await self._store.read(self._signed, made)
            # Before anybody sees it: perhaps no checkpoint has used a new key yet.
            await self._store.write(self._appender.register_keys)
            await self._store.write(trees.complete, made, roots, note)

    def _signed(self, connection: Connection, made: Entry) -> str:
        """The head that the log has with a new entry."""
        root = trees.log_tree(connection, made.log, made).root()
        signer = self._appender.signer
        signer.refresh()
        text = notes.text_of(log_entries.origin_of(made.log), made.entry + 1, root)
        return notes.sign(text, signer.public_key, signer.sign_text)

    async def _is_due(self) -> bool:
        newest = await self._store.read(trees.newest_at)
        return newest is None or newest <= self._store.clock.ago(self._every)

    async def _stamp(self, authority: Outsider) -> None:
        waiting = await self._store.read(trees.newest_without, authority.address)
        if waiting is None:
            return
        log, entry, note = waiting
        text = notes.parse(note).text
        try:
            response, at = await in_thread(self._threads, time_stamps.ask, authority.address, text)
        except NoStamp as problem:
            authority.failed(problem.message)
            self._work.note(problem, authority.address, is_ours=False)
            return
        authority.worked()
        await self._store.write(trees.store_stamp, log, entry, authority.address, response, at)
        self._work.beat()


def _has_witnesses(connection: Connection) -> bool:
    return connection.execute(select(witnesses.c.address).limit(1)).first() is not None


def _roots_of(parts: list[list[Leaf]]) -> bytes:
    return b"".join(map(trees.part_root, parts))
