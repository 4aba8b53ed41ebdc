"""An incident: what a rule found, from when to when, and everything that followed from it."""

from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, func, insert, select

from tapeline.errors import Missing
from tapeline.store.rows import record
from tapeline.store.tables.watch import incident_events, incidents

What = Literal[
    "fired",
    "told",
    "tell_failed",
    "stopped",
    "not_stopped",
    "halted",
    "acknowledged",
    "muted",
    "escalated",
    "resolved",
]


class NoSuchIncident(Missing):
    """There is no such incident, or you do not have access to it."""


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    rule_id: str | None
    """None: the rule was deleted."""
    project_id: str | None
    model_id: str | None
    subject: str
    name: str
    severity: str
    spec: dict[str, Any]
    """The rule as it was."""
    said: str
    value: float | None
    limit: float | None
    began_at: float
    """When the condition became true."""
    fired_at: float
    resolved_at: float | None = None
    resolution: str | None = None
    acknowledged_at: float | None = None
    acknowledged_by: str | None = None


class IncidentEvent(msgspec.Struct, frozen=True, kw_only=True):
    incident_id: str
    number: int
    at: float
    what: What
    by: str
    text: str
    details: dict[str, Any] | None = None


def find(connection: Connection, incident_id: str, *, to_change: bool = False) -> Incident:
    query = select(incidents).where(incidents.c.id == incident_id)
    row = connection.execute(query.with_for_update() if to_change else query).first()
    if row is None:
        raise NoSuchIncident
    return record(Incident, row)


def note(
    connection: Connection,
    incident_id: str,
    what: What,
    *,
    at: float,
    by: str,
    text: str,
    details: dict[str, Any] | None = None,
) -> None:
    """Add to its timeline. Whoever does holds the incident, so that numbers are given once."""
    connection.execute(
        select(incidents.c.id).where(incidents.c.id == incident_id).with_for_update()
    )
    here = incident_events.c.incident_id == incident_id
    last = connection.scalar(select(func.max(incident_events.c.number)).where(here))
    made = IncidentEvent(
        incident_id=incident_id,
        number=(last or 0) + 1,
        at=at,
        what=what,
        by=by,
        text=text,
        details=details,
    )
    connection.execute(insert(incident_events).values(msgspec.structs.asdict(made)))


def timeline(connection: Connection, incident_id: str) -> list[IncidentEvent]:
    """The oldest first."""
    here = incident_events.c.incident_id == incident_id
    query = select(incident_events).where(here).order_by(incident_events.c.number)
    return [record(IncidentEvent, row) for row in connection.execute(query)]
