"""Authenticates senders of events by key, pass and model, cached so that the hot path asks nobody.

A cached entry may be out of date by one deletion. The transaction that stores an event checks again
and refuses it; then the entry is dropped and looked up again.
"""

import asyncio
from collections.abc import Mapping

from tapeline import turns
from tapeline.accounts import guesses, limits
from tapeline.errors import Unidentified, WrongKey
from tapeline.fair_line import Owner
from tapeline.http.core.services import Services
from tapeline.tape import tapes
from tapeline.tape.tapes import WriteAccess

REMEMBERED = 100_000

Credentials = tuple[bytes, bytes, bytes]


class Authenticator:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: dict[Credentials, WriteAccess] = {}
        self._asking: dict[tuple[Credentials, str], asyncio.Task[WriteAccess]] = {}

    def credentials(self, headers: Mapping[bytes, bytes]) -> Credentials:
        key = headers.get(b"api_key") or headers.get(b"api-key")
        secret = headers.get(b"api_pass") or headers.get(b"api-pass")
        model = headers.get(b"model_id") or headers.get(b"model-id")
        if key and secret and model:
            return key, secret, model
        for name, value in (("model_id", model), ("api_key", key), ("api_pass", secret)):
            if not value:
                raise Unidentified(f"The header `{name}` is missing.", field=name)
        raise AssertionError("one of the three is missing")

    def known(self, credentials: Credentials, address: str) -> WriteAccess | None:
        access = self._known.get(credentials)
        if access is not None:
            self._services.key_addresses.note(credentials[0], address)
        return access

    async def access(self, credentials: Credentials, address: str) -> WriteAccess:
        known = self.known(credentials, address)
        if known is not None:
            return known
        # A starting model sends many requests at once: one look-up serves all. Shielded, because
        # the first requester may disconnect while the others still wait.
        return await asyncio.shield(self._question(credentials, address))

    def _question(self, credentials: Credentials, address: str) -> "asyncio.Task[WriteAccess]":
        who = (credentials, address)
        if who not in self._asking:
            task = asyncio.get_running_loop().create_task(self._ask(credentials, address))
            self._asking[who] = task
            task.add_done_callback(lambda _: self._asking.pop(who))
        return self._asking[who]

    def forget(self, credentials: Credentials) -> None:
        self._known.pop(credentials, None)

    async def _ask(self, credentials: Credentials, address: str) -> WriteAccess:
        key, secret, model = (value.decode("utf-8", "replace") for value in credentials)
        store = self._services.store
        # A task of its own, so this concerns nobody else.
        turns.sender.set(Owner(turns.STRANGERS, "keys", limits.network_of(address)))
        counted = [guesses.at_key(self._services.settings, address, key)]
        await store.read(limits.refuse_if_over, counted)
        try:
            access = await store.write(tapes.access_of_key, key, secret, model, address)
        except WrongKey:
            await store.write(limits.count, counted)
            raise
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[credentials] = access
        self._services.key_addresses.note(credentials[0], address)
        return access
