"""One event on its way to the tape, and what it becomes there."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tapeline.tape.events.kinds import Kind


class Event(msgspec.Struct, gc=False):  # nothing in it refers to it
    tape: int
    kind: Kind
    fields: dict[str, Any]
    """The body as its reader returned it, for the fold."""
    body: bytes
    """The same as JSON, which the tape keeps and the chain commits to; empty if it is not on it."""
    time: float
    received_at: float
    run_id: str | None = None
    backtest_id: str | None = None
    upload: str | None = None
    """The upload that holds the long lists of a backtest's result until they become visible."""


class Submission(msgspec.Struct, frozen=True):
    """Events of one request: all of them are stored, or none."""

    events: list[Event]
    key_id: str | None
    """The key they came with; None for events of the platform itself."""
    is_large: bool = False
    """Whether it waited for its turn among large batches, and so takes no place in the queue."""
    project_id: str | None = None
    """The project of its key."""
    tenant: str | None = None
    prices: Sequence[bytes] = ()
    """Its bars and indicators, packed: they are not on the tape, but are stored together with the
    events that are."""
