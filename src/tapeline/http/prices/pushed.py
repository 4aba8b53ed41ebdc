"""Bars and indicators of the events API, handed over to the room that stores them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from tapeline.errors import TooLarge
from tapeline.prices import storing
from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.intervals import spans
from tapeline.prices.storing import Pushed
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import BESIDE, INDICATOR
from tapeline.tape.events.price_bodies import PRICES

MOST_WEIGHT = 10_000
"""Of one request: storing it keeps everybody else waiting."""
OF_SERIES, OF_CHUNK, BARS_OF_EVENT = 20, 4, 10
"""Events that cost as much to store as a series and as a chunk do, and bars that cost as one."""


def weight(events: Sequence[Event]) -> int:
    """Of the prices among some events; raises TooLarge for more than one request may have."""
    prices = [event.fields for event in events if event.kind in BESIDE]
    if not prices:  # as nearly always
        return 0
    chunks: dict[tuple[str, str, int], set[float]] = defaultdict(set)
    for one in prices:
        name = (one["symbol"], one.get("name", ""), one.get("interval", 0))
        seconds = next(iter(spans(name[2]).values()))
        chunks[name].update(time // seconds for time in one["time"])
    count = sum(len(one["time"]) for one in prices)
    touched = sum(len(some) for some in chunks.values())
    found = OF_SERIES * len(chunks) + OF_CHUNK * touched + count // BARS_OF_EVENT
    if found > MOST_WEIGHT:
        raise TooLarge(
            f"These are {count:,} bars and values of {len(chunks):,} symbols and indicators, over a"
            " long time: too many to store at once. Send them in several requests."
        )
    return found


def store(connection: Connection, tape: int, events: Iterable[Event]) -> int:
    """In the transaction of the events that came with them; returns the bytes they take."""
    return storing.store(connection, tape, [_pushed(event) for event in events])


def _pushed(event: Event) -> Pushed:
    fields = event.fields
    if event.kind is INDICATOR:
        point = storing.value(fields["time"][0], fields["value"])
        return Pushed(
            fields["symbol"], fields["name"], 0, fields["pane"], [point], event.received_at
        )
    return Pushed(fields["symbol"], "", fields["interval"], "", _rows(fields), event.received_at)


def _rows(fields: dict[str, Any]) -> list[Bar]:
    """In the order in which they came: of two with the same start the last one counts."""
    volumes = fields.get("volume") or [NOTHING] * len(fields["time"])
    return list(zip(fields["time"], *(fields[key] for key in PRICES), volumes, strict=True))
