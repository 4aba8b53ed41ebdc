"""What is still to be told: a row for every channel that an incident concerns.

Rows are added in the transaction of what they tell (`watch/incidents/acting.py`), so none is lost.
A row is claimed for as long as sending may take, and stays until its delivery was recorded: after a
crash it is sent again, with the same ids.
"""

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, update

from tapeline.store.backends import common_time
from tapeline.store.tables.watch import channels, incidents, outbox

OPEN = and_(outbox.c.delivered_at.is_(None), outbox.c.given_up_at.is_(None))


def release_claims(connection: Connection) -> None:
    """Those of a server that was killed, where there is no other server that could have them."""
    claimed = outbox.c.claimed_until.is_not(None)
    connection.execute(update(outbox).where(OPEN, claimed).values(claimed_until=None))


def due_channels(connection: Connection, most: int) -> list[tuple[str, str | None]]:
    """Channels that have something to tell now, with their projects: those that work before those
    that fail, which may keep a place until their time is over, then what is critical, then the
    longest waiting."""
    is_failing = case((channels.c.failing_since.is_not(None), 1), else_=0)
    critical = func.max(case((incidents.c.severity == "critical", 1), else_=0))
    query = (
        select(outbox.c.channel_id, channels.c.project_id)
        .join(channels, channels.c.id == outbox.c.channel_id)
        .join(incidents, incidents.c.id == outbox.c.incident_id, isouter=True)
        .where(is_due(connection))
        .group_by(outbox.c.channel_id, channels.c.project_id, channels.c.failing_since)
        .order_by(is_failing, critical.desc(), func.min(outbox.c.due_at))
        .limit(most)
    )
    return [(row.channel_id, row.project_id) for row in connection.execute(query)]


def is_due(connection: Connection) -> ColumnElement[bool]:
    """An escalation is due by both clocks: when the one of the wall is set ahead, its row says so
    only after a moment."""
    now = common_time.now(connection)
    steadily = or_(
        outbox.c.due_steadily_at.is_(None),
        outbox.c.due_steadily_at <= common_time.steadily(connection),
    )
    free = or_(outbox.c.claimed_until.is_(None), outbox.c.claimed_until <= now)
    return and_(OPEN, outbox.c.due_at <= now, steadily, free)
