"""What people do about incidents and their rules: acknowledge, mute, delete."""

import time

from sqlalchemy import Connection, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.store.backends import announcing
from tapeline.store.tables.watch import incidents
from tapeline.watch.incidents import acting
from tapeline.watch.incidents import incident as records
from tapeline.watch.incidents.incident import Incident
from tapeline.watch.rules import stored as rules
from tapeline.watch.rules.stored import ExpectedByVersion, StoredRule


def acknowledge(connection: Connection, actor: Actor, incident: Incident, note: str) -> None:
    """Somebody knows of it: nobody else need be woken. The first one counts."""
    now = time.time()
    if incident.acknowledged_at is None:
        said = {"acknowledged_at": now, "acknowledged_by": actor.label}
        here = incidents.c.id == incident.id
        connection.execute(update(incidents).where(here).values(**said))
        acting.call_off_escalation(connection, incident.id)
    records.note(connection, incident.id, "acknowledged", at=now, by=actor.label, text=note)
    audit.record(
        connection, actor, "incident_acknowledged", f"incident:{incident.id}",
        project_id=incident.project_id, name=incident.name,
    )  # fmt: skip
    announcing.announce(connection, "", [announcing.WATCH])


def mute(
    connection: Connection, actor: Actor, stored: StoredRule, until: float | None, why: str
) -> StoredRule:
    """Open incidents stay open, but nobody further is woken because of them."""
    after = rules.mute(connection, actor, stored, until, why)
    if until is not None:
        for incident_id in _open(connection, stored.id):
            records.note(
                connection, incident_id, "muted", at=time.time(), by=actor.label, text=why,
                details={"until": until},
            )  # fmt: skip
            acting.call_off_escalation(connection, incident_id)
    return after


def delete(connection: Connection, actor: Actor, stored: StoredRule) -> None:
    if stored.source == "version":
        raise ExpectedByVersion
    end(connection, actor, stored, "The rule was deleted.")


def end(connection: Connection, actor: Actor, stored: StoredRule, why: str) -> None:
    """The rule goes, and its open incidents are over."""
    query = select(incidents.c.subject).where(incidents.c.rule_id == stored.id)
    for subject in connection.scalars(query.where(incidents.c.resolved_at.is_(None))).all():
        acting.resolve(connection, stored.id, subject, why, time.time(), by=actor.label)
    rules.remove(connection, actor, stored)


def _open(connection: Connection, rule_id: str) -> list[str]:
    query = select(incidents.c.id).where(incidents.c.rule_id == rule_id)
    return list(connection.scalars(query.where(incidents.c.resolved_at.is_(None))))
