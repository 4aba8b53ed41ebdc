"""Recomputes the link of a group from the lines of a record."""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, seals
from tapeline.tape.record.lines import Event, NotCanonical

OLDEST_RULE, PLAIN_RULE, BLIND_RULE = 1, 2, 3

_NUMBERS = {kind.name: kind.number for kind in kinds.KINDS}
_text = msgspec.json.Encoder().encode


class Member(NamedTuple):
    """One line of a group."""

    seq: int
    record: StoredEvent | None
    """None if it is hidden or removed."""
    content: bytes
    """What the chain commits to of it; the digest, if it is hidden."""
    blind: str | None = None


def member(line: Event) -> Member:
    """An event of the record, as the chain commits to it."""
    if line.kind not in _NUMBERS:
        raise NotCanonical
    record = StoredEvent(
        line.seq, _NUMBERS[line.kind], line.time, line.received_at, bytes(line.body), line.run_id,
        line.backtest_id, None if line.fields is None else b"",
    )  # fmt: skip
    if line.fields is None:
        return Member(line.seq, record, record.body, line.blind)
    leaves = [_leaf(name, *value) for name, value in line.fields.items()]
    hidden = line.hidden or []
    if hidden != sorted(hidden):
        raise NotCanonical
    leaves += [bytes.fromhex(one) for one in hidden]
    return Member(line.seq, record, sha256(b"".join(sorted(leaves))).digest())


def link(previous: bytes, group: Sequence[Member], rule: int) -> bytes:
    if rule == OLDEST_RULE:
        return older_seals.chained(previous, [_older_digest(one) for one in group])
    return seals.chained(previous, _digests(group, rule), is_blind=rule == BLIND_RULE)


def _leaf(name: str, value: msgspec.Raw, salt: bytes) -> bytes:
    """Over the text in the file: a value that was written differently is another value."""
    return sha256(b"%b[%b,%b]" % (salt, _text(name), bytes(value))).digest()


def _digests(group: Sequence[Member], rule: int) -> list[bytes]:
    digests: list[bytes] = []
    span: list[bytes] = []
    for one in group:
        if one.record is not None and one.record.salt is None:
            if not span:
                span = [_blind(one, rule)]
            elif one.blind is not None:
                raise NotCanonical
            span.append(seals.frame(one.record, one.content))
            continue
        if span:
            digests.append(sha256(b"".join(span)).digest())
            span = []
        if one.record is None:
            digests.append(one.content)
        else:
            digests.append(sha256(seals.frame(one.record, one.content)).digest())
    if span:
        digests.append(sha256(b"".join(span)).digest())
    return digests


def _blind(one: Member, rule: int) -> bytes:
    if (one.blind is not None) != (rule == BLIND_RULE):
        raise NotCanonical
    return bytes.fromhex(one.blind or "")


def _older_digest(one: Member) -> bytes:
    if one.blind is not None:
        raise NotCanonical
    if one.record is None:
        return one.content
    return older_seals.digest(one.record, one.content)
