"""An event as it is stored on the tape."""

import msgspec


class StoredEvent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Pages keep the fields in this order: add at the end."""

    seq: int
    kind: int
    time: float
    received_at: float
    body: bytes
    run_id: str | None = None
    backtest_id: str | None = None
    salt: bytes | None = None
    link: bytes | None = None
    nonce: bytes | None = None
    """With the link, of a group that has plain events."""
