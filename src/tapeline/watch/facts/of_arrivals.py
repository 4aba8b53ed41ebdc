"""Orders, cash, positions and prices that arrived long after their own time, the newest of them."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from tapeline.tape import lateness
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.facts.fact import Fact, Gathering
from tapeline.watch.facts.of_orders import longest

MOST = 500  # events of one channel that are looked at, the newest
CHANNELS = (kinds.SPOT_MARKET.channel, kinds.MARK_PRICE.channel, kinds.CASH.channel)
WRITTEN_HERE = b'"source"'
"""In marks that the platform wrote: they are as old as the bar that they come from."""


class Late(NamedTuple):
    received_at: float
    late_by: float
    what: str


class Arrivals(msgspec.Struct, frozen=True):
    late: list[Late]
    """Newest first."""
    is_cut: bool
    after: float
    """Seconds from which on a report counts as late."""


def gather(gathering: Gathering) -> Mapping[str, Arrivals]:
    connection, sources, now = gathering.connection, gathering.sources, gathering.now
    after = max(lateness.LEAST, float(sources.settings.late_seconds))
    return {
        subject.id: arrivals(connection, subject.tape, now - longest(asked), after)
        for subject, asked in gathering.wanted.items()
        if subject.tape is not None
    }


def arrivals(
    connection: Connection, tape: int, since: float, after: float, most: int = MOST
) -> Arrivals:
    found, is_cut = [], False
    for channel in CHANNELS:
        some = channels.newest(connection, tape, channel, before=None, limit=most)
        is_cut |= some.next is not None and some.records[-1].received_at >= since
        for one in some.records:
            behind = lateness.late_by(one.time, one.received_at, after)
            if one.received_at < since or behind is None or one.kind not in lateness.DATED:
                continue
            if one.kind == kinds.MARK_PRICE.number and WRITTEN_HERE in one.body:
                continue
            found.append(Late(one.received_at, behind, kinds.BY_NUMBER[one.kind].name))
    return Arrivals(sorted(found, reverse=True), is_cut, after)


ARRIVALS = Fact(
    name="arrivals",
    gather=gather,
    changed_by=frozenset(kinds.BY_NUMBER[one].name for one in lateness.DATED),
)
