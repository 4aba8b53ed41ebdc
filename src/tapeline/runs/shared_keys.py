"""Servers of one installation take over new keys from each other while they run.

`tapeline keys rotate` makes them in the folder of one server. It offers them to the others through
the database for as long as any of them has not taken them, encrypted with the key that all have for
secrets. That one is never offered: a thief of it could read the next one. Servers that share the
folder itself see its files change, and offer nothing.
"""

import asyncio
import base64
from pathlib import Path

import msgspec
from sqlalchemy import Connection, update

from tapeline.accounts import id_tokens
from tapeline.background import Background
from tapeline.logs import Log
from tapeline.runs import one_installation
from tapeline.store import facts
from tapeline.store.encryption import Cipher, UnusableKey
from tapeline.store.store import Store
from tapeline.store.tables.core import facts as fact_rows
from tapeline.tape.proof import signer
from tapeline.tape.proof.signer import Offer

log = Log(__name__)

NAME = f"{facts.PASSING}keys"
EVERY, WITHIN = 1.0, 15.0  # seconds


class Bundle(msgspec.Struct, frozen=True):
    """The keys of a server that it may offer."""

    token_name: str
    token_key: bytes
    signing_key: bytes
    signing_chain: bytes


class SharedKeys:
    def __init__(
        self, store: Store, folder: Path, cipher: Cipher, host: str, background: Background
    ) -> None:
        self._store = store
        self._folder = folder
        self._cipher = cipher
        self._host = host
        if store.database.file is None:
            background.loop("keys", self.turn, every=EVERY, within=WITHIN)

    async def turn(self) -> None:
        said = await self._store.read(facts.get, NAME)
        if said is not None and await asyncio.to_thread(self._take, said):
            return
        ours = await asyncio.to_thread(one_installation.digests, self._folder)
        behind = await self._store.read(
            one_installation.with_other_keys, self._store.database, self._host, ours
        )
        if behind or said is not None:
            await self._offer(said, needed=bool(behind))

    async def _offer(self, said: str | None, *, needed: bool) -> None:
        """Or take it back, when all have them."""
        if not needed:
            await self._store.write(_replace, said, None)
            return
        words = await asyncio.to_thread(self._words, said)
        if words is not None:
            await self._store.write(_replace, said, words)

    def _words(self, said: str | None) -> str | None:
        """Our offer; None if it stands already, or another one stands that is not older."""
        ours = _read(self._folder)
        if said is not None:
            offered = self._opened(said)
            if offered is None or offered == ours or not _is_behind(self._folder, offered):
                return None
        packed = base64.b64encode(msgspec.msgpack.encode(ours))
        return self._cipher.encrypt(packed)

    def _opened(self, said: str) -> Bundle | None:
        try:
            packed = base64.b64decode(self._cipher.decrypt(said))
        except UnusableKey:
            return None  # the health check `keys` says that another server has other keys
        return msgspec.msgpack.decode(packed, type=Bundle)

    def _take(self, said: str) -> bool:
        """Whether something of it was newer than ours, and is ours now."""
        offered = self._opened(said)
        if offered is None:
            return False
        signing = Offer(offered.signing_key, offered.signing_chain)
        took = []
        if signer.follows(self._folder, signing):
            signer.adopt(self._folder, signing)
            took.append(signer.NAME)
        if offered.token_name > id_tokens.newest(self._folder):
            id_tokens.adopt(self._folder, offered.token_name, offered.token_key)
            took.append(offered.token_name)
        if took:
            log.warning("keys_taken_from_another_server", keys=", ".join(took))
        return bool(took)


def _read(folder: Path) -> Bundle:
    name, signing = id_tokens.newest(folder), signer.offered(folder)
    return Bundle(name, (folder / name).read_bytes(), signing.key, signing.chain)


def _is_behind(folder: Path, offered: Bundle) -> bool:
    """Whether what is offered is older than ours, so that we offer ours instead."""
    return offered.token_name < id_tokens.newest(folder) or signer.precedes(
        folder, Offer(offered.signing_key, offered.signing_chain)
    )


def _replace(connection: Connection, before: str | None, after: str | None) -> None:
    """Unless another server was quicker."""
    if before is None:
        assert after is not None
        facts.claim(connection, NAME, after)
        return
    is_as_read = (fact_rows.c.name == NAME, fact_rows.c.value == before)
    if after is None:
        connection.execute(fact_rows.delete().where(*is_as_read))
    else:
        connection.execute(update(fact_rows).where(*is_as_read).values(value=after))
