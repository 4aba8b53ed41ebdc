"""What came of a message, in one transaction: its rows, its channel, the incidents' timelines."""

import time

from sqlalchemy import Connection, select, update

from tapeline.store.backends import common_time
from tapeline.store.tables.watch import channels, incidents, outbox
from tapeline.watch.incidents import incident as records
from tapeline.watch.incidents.incident import What
from tapeline.watch.sending.jobs import Outcome
from tapeline.watch.telling.claiming import Claimed

PAUSES = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0)
"""Seconds until the next try; the last one is repeated."""
MOST_TRIES = 54
"""About a day; then a message is given up."""

BY = "messages"
"""Who did it, in timelines."""


def pause_after(tries: int) -> float:
    return PAUSES[min(tries, len(PAUSES)) - 1]


def settle(connection: Connection, claimed: Claimed, outcome: Outcome) -> None:
    if outcome.arrived:
        _arrived(connection, claimed)
    else:
        _failed(connection, claimed, outcome.message)


def _arrived(connection: Connection, claimed: Claimed) -> None:
    at, channel = time.time(), claimed.channel
    _change(connection, claimed, delivered_at=at, claimed_until=None, last_error=None)
    connection.execute(
        update(channels)
        .where(channels.c.id == channel.id)
        .values(failing_since=None, last_error=None)
    )
    # A resolution that came while this was on its way goes now.
    connection.execute(
        update(outbox)
        .where(
            outbox.c.channel_id == channel.id,
            outbox.c.incident_id.in_(_still_there(connection, claimed)),
            outbox.c.what == "resolved",
            outbox.c.delivered_at.is_(None),
        )
        .values(due_at=common_time.now(connection))
    )
    _note(connection, claimed, "told", f"Told {channel.name}", at)


def _failed(connection: Connection, claimed: Claimed, why: str) -> None:
    at, channel = time.time(), claimed.channel
    given_up = claimed.attempts >= MOST_TRIES
    _change(
        connection,
        claimed,
        claimed_until=None,
        due_at=common_time.now(connection) + pause_after(claimed.attempts),
        given_up_at=at if given_up else None,
        last_error=why,
    )
    here = channels.c.id == channel.id
    connection.execute(update(channels).where(here).values(last_error=why))
    first = update(channels).where(here, channels.c.failing_since.is_(None))
    connection.execute(first.values(failing_since=at))
    if given_up:
        _note(connection, claimed, "tell_failed", f"Gave up telling {channel.name}: {why}", at)
    elif claimed.attempts == 1:
        _note(connection, claimed, "tell_failed", f"Could not tell {channel.name} yet: {why}", at)


def _change(connection: Connection, claimed: Claimed, **values: object) -> None:
    connection.execute(update(outbox).where(outbox.c.id.in_(claimed.ids)).values(**values))


def _note(connection: Connection, claimed: Claimed, what: What, text: str, at: float) -> None:
    there = _still_there(connection, claimed)
    for about, incident_id in claimed.told:
        if incident_id in there:
            details = {"channel_id": claimed.channel.id, "of": about}
            said: What = "escalated" if what == "told" and about == "escalated" else what
            records.note(connection, incident_id, said, at=at, by=BY, text=text, details=details)


def _still_there(connection: Connection, claimed: Claimed) -> set[str]:
    """A model may have been deleted meanwhile. Held: the timeline is numbered."""
    wanted = {incident_id for _, incident_id in claimed.told}
    query = select(incidents.c.id).where(incidents.c.id.in_(wanted)).order_by(incidents.c.id)
    return set(connection.scalars(query.with_for_update()))
