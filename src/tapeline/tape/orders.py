"""Merges an order from its posts, updates and annotations, with the same result in any order of
arrival.

The earliest post is the base. Every other part, including a later post with other content, is an
update: per key the newest event time wins, ties go to the later arrival. No store here.
"""

import hashlib
from typing import Any, NamedTuple

import msgspec


class Part(NamedTuple):
    """One event that says something about an order."""

    time: float
    seq: int
    kind: str
    body: dict[str, Any]
    fingerprint: str


class Stamped(msgspec.Struct, array_like=True):
    value: Any
    time: float
    seq: int


class Base(msgspec.Struct):
    kind: str
    body: dict[str, Any]
    time: float
    seq: int


class OrderState(msgspec.Struct, omit_defaults=True):
    """The state of an order, to which one more part can be added."""

    base: Base | None = None
    first_seq: int | None = None
    """Arrival of the first post: what lists are ordered by."""
    received_at: float | None = None
    posts: list[str] = []
    """Fingerprints of the posts, to know a retry."""
    changes: dict[str, Stamped] = {}


def fingerprint(kind: str, body: bytes) -> str:
    """Of a post: its kind, and its body as JSON with sorted keys."""
    return hashlib.sha256(b'["%b",%b]' % (kind.encode(), body)).hexdigest()[:24]


def is_retry(state: OrderState, fingerprint: str) -> bool:
    return fingerprint in state.posts


def take_post(state: OrderState, part: Part) -> None:
    state.posts.append(part.fingerprint)
    state.first_seq = part.seq if state.first_seq is None else state.first_seq
    newcomer = Base(part.kind, part.body, part.time, part.seq)
    base = state.base
    if base is None:
        state.base = newcomer
    elif (part.time, part.seq) < (base.time, base.seq):
        state.base = newcomer
        take_update(state, base.body, base.time, base.seq)
    else:
        take_update(state, part.body, part.time, part.seq)


def take_update(state: OrderState, body: dict[str, Any], time: float, seq: int) -> None:
    for key, value in body.items():
        if key == "id":
            continue
        known = state.changes.get(key)
        if known is None or (time, seq) >= (known.time, known.seq):
            state.changes[key] = Stamped(value, time, seq)


def merged(state: OrderState) -> dict[str, Any] | None:
    """The merged order; None until a post has arrived."""
    if state.base is None:
        return None
    changes = {key: stamped.value for key, stamped in state.changes.items()}
    return {**state.base.body, **changes, "type": state.base.kind}
