"""Cash that carries an id: sent again it counts once, sent with other content it is replaced.

Of several contents the newest by event time counts, ties by arrival. No store here.
"""

from typing import Any

import msgspec


class CashState(msgspec.Struct):
    """What counts under one id, and all that is needed to take in one more event."""

    body: dict[str, Any]
    time: float
    seq: int
    posts: list[str] = []
    """Fingerprints of what was sent, to know a retry."""


def replaced(known: CashState | None, new: CashState) -> CashState | None:
    """What counts after one more event; None for a retry."""
    if known is None:
        return new
    (post,) = new.posts
    if post in known.posts:
        return None
    newest = max(known, new, key=lambda one: (one.time, one.seq))
    return msgspec.structs.replace(newest, posts=[*known.posts, post])
