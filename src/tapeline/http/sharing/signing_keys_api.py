"""The published keys of this server: what `tapeline verify --server` compares a record with."""

import msgspec
from sqlalchemy import Connection

from tapeline.http.core.endpoint import Call
from tapeline.tape.proof import signing_keys


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


def list_signing_keys(connection: Connection, _call: Call) -> PublishedKeys:
    """Every key that signed tapes here, oldest first, each confirmed by the one before."""
    return PublishedKeys(
        [
            PublishedKey(one.key_id, one.fingerprint, **msgspec.structs.asdict(one))
            for one in signing_keys.listed(connection)
        ]
    )
