"""How events are stored: events of one channel that were stored together share a page.

A row per event would cost more than everything else that happens to an event, above all in a batch.
A page is read and written as a whole; it never changes.
"""

from collections.abc import Iterator

import msgspec

from tapeline.tape.events.stored_event import StoredEvent

PAGE = 128 * 1024  # bytes of bodies, about, which a reader has to unpack for one event

pack = msgspec.msgpack.Encoder().encode
unpack = msgspec.msgpack.Decoder(list[StoredEvent]).decode


def length(content: bytes) -> int:
    """How many records a page has, from its first bytes: MessagePack says it there."""
    head = content[0]
    if head & 0xF0 == 0x90:
        return head & 0x0F
    return int.from_bytes(content[1 : 3 if head == 0xDC else 5], "big")


def paged(records: list[StoredEvent]) -> Iterator[tuple[int, bytes]]:
    """The pages of one channel's records: the number of the first event, and the content."""
    start, size = 0, 0
    for place, record in enumerate(records):
        size += len(record.body)
        if size >= PAGE:
            yield records[start].seq, pack(records[start : place + 1])
            start, size = place + 1, 0
    if start < len(records):
        yield records[start].seq, pack(records[start:])
