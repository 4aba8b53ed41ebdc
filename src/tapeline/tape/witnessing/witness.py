"""This server as a witness: it signs the heads of logs that it knows, each of which extends the one
before. It remembers a head before it signs it, so that it never signs two histories."""

import time
from collections.abc import Sequence

from tapeline.errors import ChangedMeanwhile
from tapeline.store.store import Store
from tapeline.tape.append.appending import Appender
from tapeline.tape.proof import notes
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.witnessing import logs, names, submissions
from tapeline.tape.witnessing.pace import Pace
from tapeline.tape.witnessing.refusing import DoesNotExtend, OtherSize
from tapeline.tape.witnessing.submissions import Submission

TRIES = 5


class Witness:
    def __init__(self, store: Store, appender: Appender, public_url: str) -> None:
        self.pace = Pace()
        self._store = store
        self._appender = appender
        self._public_url = public_url

    async def name(self) -> str:
        """Under which it signs. It never changes: others know the server by it."""
        known = await self._store.read(names.of_witness)
        if known is None:
            known = await self._store.write(names.claim_witness, self._public_url)
        return known

    async def add(self, body: bytes) -> str:
        """Its signature under a head of a log, as a line of a note."""
        said = submissions.parse(body)
        try:
            await self._remember(said)
        except (OtherSize, DoesNotExtend):
            found = await self._store.read(logs.shown_by, said, time.time())
            if found is not None:
                await self._store.write(logs.keep, said.note.origin, found)
            raise
        name = await self.name()
        self._appender.signer.refresh()
        if not self._appender.is_registered:  # nobody could know whose signature it is
            await self._store.write(self._appender.register_keys)
        return self._signed(name, said)

    async def add_keys(self, origin: str, keys: Sequence[Key]) -> None:
        await self._store.write(logs.add_keys, origin, keys)

    async def _remember(self, said: Submission) -> None:
        for _ in range(TRIES):
            known = await self._store.read(logs.examine, said)
            if await self._store.write(logs.remember, known, said.note, time.time()):
                return
        raise ChangedMeanwhile  # others keep moving it

    def _signed(self, name: str, said: Submission) -> str:
        signer, at = self._appender.signer, int(time.time())
        return notes.cosign(said.note.text, name, signer.public_key, at, signer.sign_text)
