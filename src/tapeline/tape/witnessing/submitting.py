"""Has every new head of the log signed by the witnesses. One that is away is asked again after
pauses that grow, about the newest head only; nothing waits for it."""

import asyncio
import time

from sqlalchemy import Connection

from tapeline.background import Background
from tapeline.errors import Problem
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.tape.proof import notes, signing_keys
from tapeline.tape.roots import trees
from tapeline.tape.roots.outsiders import Outsider
from tapeline.tape.witnessing import asking, witnesses
from tapeline.tape.witnessing.asking import Asked, NotSigned
from tapeline.tape.witnessing.witnesses import Head, Witness
from tapeline.thread_pools import in_thread, threads

NAME = "witnesses"
LOOKED_EVERY, FIRST_AFTER, WITHIN = 15.0, 6.0, 300.0  # seconds
AT_ONCE = 8  # witnesses that are asked; each may take long to answer


class Submitting:
    def __init__(self, settings: Settings, store: Store, background: Background) -> None:
        self._store = store
        self._our_address = settings.public_url or "URL"
        self._outsiders: dict[str, Outsider] = {}
        self._threads = threads(AT_ONCE, "witnesses")
        self._work = background.loop(
            NAME,
            self.turn,
            every=LOOKED_EVERY,
            first_after=FIRST_AFTER,
            within=WITHIN,
            once=True,
        )

    async def turn(self) -> None:
        head, waiting = await self._store.read(witnesses.waiting)
        if head is not None:
            # All at once: one that is slow holds up no other.
            await asyncio.gather(*(self._submit(head, one) for one in waiting))

    async def _submit(self, head: Head, one: Witness) -> None:
        outsider = self._outsiders.setdefault(one.address, Outsider(one.address))
        if not outsider.is_due():
            return
        asked = await self._store.read(self._asked, head, one)
        try:
            found = await in_thread(self._threads, asking.ask, asked)
        except Problem as problem:
            outsider.failed(problem.message)
            self._work.note(problem, one.address, is_ours=False)
            evidence = problem.evidence if isinstance(problem, NotSigned) else None
            said = problem.message
            await self._store.write(
                witnesses.note_problem, one.address, said, time.time(), evidence
            )
            return
        outsider.worked()
        if found.keys != one.keys:
            await self._store.write(witnesses.add_keys, one, found.keys)
        await self._store.write(witnesses.store, one, head, found.cosignature)
        self._work.beat()

    def _asked(self, connection: Connection, head: Head, one: Witness) -> Asked:
        log = trees.log_tree(connection, head.log)
        return Asked(
            one.address,
            one.name,
            one.keys,
            one.size if one.log == head.log else 0,
            notes.parse(head.note),
            lambda old: log.consistency(old, head.size),
            signing_keys.listed(connection),
            self._our_address,
        )
