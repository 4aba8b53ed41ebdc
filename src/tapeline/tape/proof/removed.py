"""What stays of events that retention removed: the digests that the chain needs.

Plain events that were stored together share a digest, so they are removed together or not at all.
Without their content nobody can say any more what they said; that nothing else was changed can
still be proven.
"""

from collections.abc import Iterator, Sequence

import msgspec

from tapeline.tape.events.stored_event import StoredEvent

KIND = CHANNEL = 0
"""Where they are kept on the tape: in the place of the events, in a channel of their own."""


class Removed(StoredEvent, frozen=True, array_like=True, gc=False):
    """A span of removed events; its body is their digest."""

    until: int = 0
    """The last of them."""
    ends_group: bool = False
    counts: dict[int, int] = msgspec.field(default_factory=dict)
    """By kind."""


class _Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    until: int
    digest: bytes
    counts: dict[int, int]
    received_at: float
    ends_group: bool
    link: bytes | None = None
    """Only if something of its group was kept: otherwise it follows from the digests."""
    nonce: bytes | None = None
    """Only if the blinds of kept spans are made from it."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[_Span]).decode


def stretch(spans: list[Removed]) -> StoredEvent:
    """Spans without an event between them as one record, which has a page of its own."""
    kept = [
        _Span(one.until, one.body, one.counts, one.received_at, one.ends_group, one.link, one.nonce)
        for one in spans
    ]
    first = spans[0]
    return StoredEvent(first.seq, KIND, first.received_at, spans[-1].received_at, _encode(kept))


def spans(record: StoredEvent) -> Iterator[Removed]:
    """The spans of a stretch."""
    seq = record.seq
    for one in _decode(record.body):
        yield Removed(
            seq, KIND, one.received_at, one.received_at, one.digest, None, None, None, one.link,
            one.nonce, one.until, one.ends_group, one.counts,
        )  # fmt: skip
        seq = one.until + 1


def last(record: StoredEvent) -> int:
    """The number of the last event that a record stands for."""
    return record.until if isinstance(record, Removed) else record.seq


def ends_group(record: StoredEvent) -> bool:
    return record.link is not None or (isinstance(record, Removed) and record.ends_group)


def grouped(records: Sequence[StoredEvent]) -> tuple[list[Sequence[StoredEvent]], int]:
    """The complete groups among records in order, and how many records they have together."""
    ends = [
        place
        for place, one in enumerate(records, 1)
        if one.link is not None or (not one.kind and ends_group(one))
    ]
    groups = [records[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return groups, ends[-1] if ends else 0
