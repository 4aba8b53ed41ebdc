"""The published keys of this server: what `tapeline verify --server` compares a record with."""

import msgspec

from tapeline.http.core.endpoint import Call
from tapeline.tape.proof import log_entries, signing_keys
from tapeline.tape.roots import trees


class PublishedKey(msgspec.Struct):
    key_id: str
    fingerprint: str
    """SHA-256 of the public key in hex; the id is its beginning."""
    public_key: str
    """Ed25519, hex."""
    made_at: float | None
    previous: str | None
    """The public key before it; null for the first."""
    signature: str | None
    """By the previous key."""
    acceptance: str | None
    """By this key."""


class PublishedKeys(msgspec.Struct):
    keys: list[PublishedKey]
    log: str
    """The name of the log that witnesses sign."""
    witness: str
    """The name under which this server signs as a witness of others."""


async def list_signing_keys(call: Call) -> PublishedKeys:
    """Every key that signed tapes here, oldest first, each confirmed by the one before."""
    store = call.services.store
    log = await store.read(trees.log_id)
    if log is None:
        log = await store.write(trees.ensure_log)
    keys = [
        PublishedKey(one.key_id, one.fingerprint, **msgspec.structs.asdict(one))
        for one in await store.read(signing_keys.listed)
    ]
    return PublishedKeys(keys, log_entries.origin_of(log), await call.services.witness.name())
