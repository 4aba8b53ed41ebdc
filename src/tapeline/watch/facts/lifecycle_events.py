"""What a model's lifecycle last went through: the newest of its lifecycle events."""

from collections.abc import Mapping

import msgspec

from tapeline.store.backends import steady
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.facts.fact import Fact, Gathering

NEWEST = 60
"""Events: a run is given up after five crashes in ten minutes, of three events each."""


class Said(msgspec.Struct, frozen=True):
    """One lifecycle event."""

    at: float
    message: str
    is_running: bool | None


class _Body(msgspec.Struct, frozen=True):
    message: str = ""
    running: bool | None = None


_decode = msgspec.json.Decoder(_Body).decode


def gather(gathering: Gathering) -> Mapping[str, tuple[Said, ...]]:
    """The newest first."""
    found: dict[str, tuple[Said, ...]] = {}
    connection = gathering.connection
    for one in gathering.wanted:
        if one.tape is not None:
            newest = channels.newest(
                connection, one.tape, kinds.LIFECYCLE.channel, before=None, limit=NEWEST
            )
            found[one.id] = tuple(
                said(steady.put_right(connection, record.time), record.body)
                for record in newest.records
            )
    return found


def said(at: float, content: bytes) -> Said:
    body = _decode(content)
    return Said(at, body.message, body.running)


LIFECYCLE = Fact(name="lifecycle", gather=gather, changed_by=frozenset({kinds.LIFECYCLE.name}))
