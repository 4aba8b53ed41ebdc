"""Works out anew when everything is due that is still to be told: after a jump of the clock, and at
a start, before which it may have jumped."""

from typing import Any

from sqlalchemy import Connection, Row, null, select, update

from tapeline.store.backends import common_time
from tapeline.store.tables.watch import outbox
from tapeline.watch.telling.claiming import CLAIMED
from tapeline.watch.telling.outbox import OPEN
from tapeline.watch.telling.settling import pause_after


def work_out(connection: Connection) -> None:
    now = common_time.now(connection)
    for row in connection.execute(select(outbox).where(OPEN)).all():
        if changed := _changed(connection, row, now):
            connection.execute(update(outbox).where(outbox.c.id == row.id).values(**changed))


def _changed(connection: Connection, row: "Row[Any]", now: float) -> dict[str, Any]:
    """What stays as it is when the clock has not jumped is left alone."""
    found = _made_earlier(connection, row, now)
    if row.claimed_until is not None and row.claimed_until > now + CLAIMED:
        found["claimed_until"] = now + CLAIMED
    due_at = _escalates_at(connection, row, found)
    if row.attempts:
        if row.due_at > (latest := now + pause_after(row.attempts)):
            found["due_at"] = latest
    elif due_at is not None and due_at > now and not row.payload:
        if due_at != row.due_at:
            found["due_at"] = due_at
    elif row.due_at > now:
        # It waits for a moment of the day, or for others; whoever claims it looks at that again.
        found |= {"due_at": now, "payload": null()}
    return found


def _escalates_at(connection: Connection, row: "Row[Any]", earlier: dict[str, Any]) -> float | None:
    """When an escalation is due by the clock as it is set now; None for other messages."""
    steadily_at = earlier.get("due_steadily_at", row.due_steadily_at)
    return None if steadily_at is None else float(steadily_at + common_time.ahead(connection))


def _made_earlier(connection: Connection, row: "Row[Any]", now: float) -> dict[str, Any]:
    """A database on another machine shows a time before the row was made: its clock was set back,
    and nobody knows by how much. The escalation counts from now."""
    is_known = connection.dialect.name == "sqlite"
    if is_known or row.due_steadily_at is None or row.made_at <= now:
        return {}
    return {"made_at": now, "due_steadily_at": row.due_steadily_at - (row.made_at - now)}
