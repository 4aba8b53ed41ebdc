"""Takes what is due on one channel out of the outbox, as one message.

A message is about one incident. It tells of several where the channel has digests, or where more
than a few are due at once: nobody reads a hundred messages about one outage.
"""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, delete, func, select, update

from tapeline.ids import fingerprint
from tapeline.store.backends import common_time, steady
from tapeline.store.tables.watch import channels, incidents, outbox
from tapeline.watch.telling import holding
from tapeline.watch.telling.outbox import is_due

SEPARATE = 5
"""Messages that are due at once on a channel; more than that are one."""
TOGETHER = 100
"""Incidents in one message."""
CLAIMED = 90.0  # seconds: longer than sending takes, with everything that it waits for
AN_HOUR = 120
"""Messages of a project in an hour. More wait, and are then told together."""
HELD = "Held back: {count} messages of this project were sent within an hour."


class Claimed(msgspec.Struct, frozen=True):
    """Rows that one message tells of. Nobody else has them: they were claimed while the channel's
    row was held."""

    message_id: str
    """The same when it has to be sent again."""
    channel: Any
    ids: list[str]
    told: list[tuple[str, str]]
    """What, and the id of the incident."""
    is_digest: bool
    attempts: int


class _Looking:
    def __init__(self, connection: Connection, channel: "Row[Any]") -> None:
        self.connection, self.channel = connection, channel
        self.now = common_time.now(connection)
        here = outbox.c.channel_id == channel.id
        due = select(outbox).where(here, is_due(connection), outbox.c.incident_id.is_not(None))
        self.due = connection.execute(
            due.order_by(outbox.c.made_at, outbox.c.id).limit(TOGETHER)
        ).all()
        concerned = {row.incident_id for row in self.due}
        every = connection.execute(
            select(outbox).where(here, outbox.c.incident_id.in_(concerned))
        ).all()
        self.of_incident: dict[str, list[Row[Any]]] = {}
        for row in every:
            self.of_incident.setdefault(row.incident_id, []).append(row)
        found = connection.execute(select(incidents).where(incidents.c.id.in_(concerned)))
        self.incidents = {row.id: row for row in found}

    def wait(self, rows: "list[Row[Any]]", until: float, **more: Any) -> None:
        ids = [row.id for row in rows]
        change = update(outbox).where(outbox.c.id.in_(ids)).values(due_at=until, **more)
        self.connection.execute(change)

    def follow(self, row: "Row[Any]", before: "list[Row[Any]]") -> None:
        """Not before these, each of which is waiting or just being sent."""
        later = max(max(one.due_at, one.claimed_until or 0.0) for one in before)
        if later > row.due_at:
            change = update(outbox).where(outbox.c.id == row.id).values(due_at=later)
            self.connection.execute(change)

    def waiting(self, row: "Row[Any]", what: set[str]) -> "list[Row[Any]]":
        """Rows about the same incident that are yet to say this."""
        same = [one for one in self.of_incident[row.incident_id] if one.what in what]
        return [one for one in same if one.delivered_at is None and one.given_up_at is None]

    def drop(self, row: "Row[Any]") -> None:
        self.connection.execute(delete(outbox).where(outbox.c.id == row.id))


def claim(connection: Connection, channel_id: str) -> Claimed | None:
    """None if nothing is to be sent now."""
    channel = connection.execute(
        select(channels).where(channels.c.id == channel_id).with_for_update()
    ).first()
    if channel is None:
        return None
    looking = _Looking(connection, channel)
    needed = [row for row in looking.due if _is_needed(looking, row)]
    ready = _ready(looking, needed)
    if not ready or _is_held_back(looking, ready):
        return None
    ready.sort(key=lambda row: looking.incidents[row.incident_id].severity != "critical")
    gathered = [row for row in ready if row.payload]
    is_digest = len(ready) > SEPARATE or len(gathered) > 1
    chosen = ready if is_digest else ready[:1]
    return _claimed(looking, chosen, is_digest=is_digest)


def _is_needed(looking: _Looking, row: "Row[Any]") -> bool:
    """Whether it still tells somebody something, and is the row that tells it."""
    incident = looking.incidents[row.incident_id]
    if row.what == "escalated" and (incident.acknowledged_at or incident.resolved_at):
        looking.drop(row)
        return False
    if row.what != "resolved":
        return True
    before = [one for one in looking.of_incident[row.incident_id] if one.what != "resolved"]
    if any(one.delivered_at or one.given_up_at for one in before):
        return True
    if not before:  # nobody was told, because an escalation was not needed
        looking.drop(row)
    else:  # the message that it fired has yet to go, and will say both
        looking.follow(row, before)
    return False


def _ready(looking: _Looking, rows: "list[Row[Any]]") -> "list[Row[Any]]":
    """Those that need not wait for the end of quiet hours or for the next digest."""
    critical = {one.id for one in looking.incidents.values() if one.severity == "critical"}
    ready = [row for row in rows if row.incident_id in critical]
    others = [row for row in rows if row.incident_id not in critical]
    if fresh := [row for row in others if not row.payload]:
        digest = holding.next_digest(looking.channel.digest, looking.now)
        if digest is not None:
            looking.wait(fresh, digest, payload={"digest": True})
            others = [row for row in others if row.payload]
    quiet = holding.quiet_until(looking.channel.quiet, looking.now)
    if others and quiet is not None:
        looking.wait(others, quiet)
        return ready
    return ready + others


def _is_held_back(looking: _Looking, rows: "list[Row[Any]]") -> bool:
    """A tenant's rules must not make this server send without end."""
    connection, since = looking.connection, steady.ago(looking.connection, 3600)
    sent = (
        select(outbox.c.channel_id, outbox.c.delivered_at)
        .join(channels, channels.c.id == outbox.c.channel_id)
        .where(channels.c.scope == looking.channel.scope, outbox.c.delivered_at > since)
        .distinct()
        .subquery()
    )
    count, first = connection.execute(
        select(func.count(), func.min(sent.c.delivered_at)).select_from(sent)
    ).one()
    if count < AN_HOUR:
        return False
    until = looking.now + max(1.0, first - since)
    looking.wait(rows, until, last_error=HELD.format(count=count), payload={"digest": True})
    return True


def _claimed(looking: _Looking, chosen: "list[Row[Any]]", *, is_digest: bool) -> Claimed:
    rows = {row.id: row for row in chosen}
    for row in chosen:
        same = (
            {"fired", "resolved"} if looking.incidents[row.incident_id].resolved_at else {"fired"}
        )
        if row.what != "resolved":
            rows |= {one.id: one for one in looking.waiting(row, same)}  # one message tells it all
    looking.connection.execute(
        update(outbox)
        .where(outbox.c.id.in_(rows))
        .values(claimed_until=looking.now + CLAIMED, attempts=outbox.c.attempts + 1)
    )
    return Claimed(
        message_id=_name(list(rows)),
        channel=looking.channel,
        ids=list(rows),
        told=list({row.incident_id: (row.what, row.incident_id) for row in chosen}.values()),
        is_digest=is_digest,
        attempts=max(row.attempts for row in chosen) + 1,
    )


def _name(ids: list[str]) -> str:
    """The same for the same rows: a receiver that had a message may drop it. One that tells more
    than before is another message."""
    return ids[0] if len(ids) == 1 else fingerprint(" ".join(sorted(ids)))[:32]
