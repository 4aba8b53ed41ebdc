"""Bars and indicators of the events API, handed over to the room that stores them."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from tapeline.errors import TooLarge
from tapeline.prices import arrivals
from tapeline.prices.arrivals import Pushed
from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.intervals import spans
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import BESIDE, INDICATOR
from tapeline.tape.events.price_bodies import PRICES

MOST_SERIES, MOST_CHUNKS, MOST_BARS = 500, 2_500, 100_000
"""Of one request. Each series and each chunk is some rows to write."""
AGAIN = "too many for one request. Send them in several."


class Amount:
    """The prices of one request, counted event by event; the first one too many is refused."""

    def __init__(self) -> None:
        self._series: set[tuple[str, str, int]] = set()
        self._chunks: set[tuple[str, str, int, float]] = set()
        self._bars = 0

    def add(self, event: Event) -> None:
        """Raises TooLarge."""
        if event.kind not in BESIDE:  # as nearly always
            return
        one = event.fields
        key = (one["symbol"], one.get("name", ""), one.get("interval", 0))
        self._series.add(key)
        if len(self._series) > MOST_SERIES:
            raise TooLarge(
                f"These are bars and values of more than {MOST_SERIES:,} symbols, intervals and"
                f" indicators: {AGAIN}"
            )
        self._bars += len(one["time"])
        if self._bars > MOST_BARS:
            raise TooLarge(f"These are more than {MOST_BARS:,} bars and values: {AGAIN}")
        seconds = next(iter(spans(key[2]).values()))
        self._chunks.update((*key, time // seconds) for time in one["time"])
        if len(self._chunks) > MOST_CHUNKS:
            raise TooLarge(
                "These bars and values are scattered over more than"
                f" {MOST_CHUNKS:,} stretches of time: {AGAIN}"
            )


def packed(events: Iterable[Event]) -> Iterator[bytes]:
    """The prices among some events, as they are stored first."""
    return arrivals.packed([_pushed(event) for event in events if event.kind in BESIDE])


async def packed_in_turns(events: Iterable[Event]) -> list[bytes]:
    """The same for many of them: other requests are served in between."""
    found: list[bytes] = []
    for one in packed(events):
        found.append(one)
        await asyncio.sleep(0)
    return found


def _pushed(event: Event) -> Pushed:
    fields = event.fields
    if event.kind is INDICATOR:
        point = arrivals.value(fields["time"][0], fields["value"])
        return Pushed(
            fields["symbol"], fields["name"], 0, fields["pane"], [point], event.received_at
        )
    return Pushed(fields["symbol"], "", fields["interval"], "", _rows(fields), event.received_at)


def _rows(fields: dict[str, Any]) -> list[Bar]:
    """In the order in which they came: of two with the same start the last one counts."""
    volumes = fields.get("volume") or [NOTHING] * len(fields["time"])
    return list(zip(fields["time"], *(fields[key] for key in PRICES), volumes, strict=True))
