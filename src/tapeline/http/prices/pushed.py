"""Bars and indicators of the events API, handed over to the room that stores them."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from tapeline.prices import storing
from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.storing import Pushed
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import INDICATOR
from tapeline.tape.events.price_bodies import PRICES


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
    volumes = fields.get("volume") or [None] * len(fields["time"])
    known = [NOTHING if one is None else one for one in volumes]
    return list(zip(fields["time"], *(fields[key] for key in PRICES), known, strict=True))
