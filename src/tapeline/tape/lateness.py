"""How long after its own time an event arrived. Beyond a limit, which is a setting, it is late."""

from tapeline.tape.events import kinds

LEAST = 1.0  # seconds: no clock and no network is more exact

DATED = {kind.number for kind in kinds.ORDERS | {kinds.MARK_PRICE, kinds.CASH, kinds.POSITION}}
"""Kinds whose own time decides where they count in the books."""


def late_by(time: float | None, received_at: float | None, after: float) -> float | None:
    """Seconds from an event's own time to its arrival, if they are too many."""
    if time is None or received_at is None:
        return None
    behind = received_at - time
    return behind if behind > after else None
