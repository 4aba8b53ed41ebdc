"""Incidents and states of rules, for people: lists in bounded reads."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select, true

from tapeline.store.portions import batches
from tapeline.store.rows import record
from tapeline.store.tables.core import models, projects
from tapeline.store.tables.watch import channels, incidents, outbox, rule_states
from tapeline.watch.incidents.deciding import RuleState
from tapeline.watch.incidents.incident import Incident

TOGETHER = 500  # ids in one statement


class ToldMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What one channel was told of an incident, or is to be."""

    channel: str
    what: str
    step: int
    made_at: float
    due_at: float
    attempts: int
    delivered_at: float | None
    given_up_at: float | None
    last_error: str | None


def find(
    connection: Connection,
    which: Sequence[ColumnElement[bool]],
    *,
    state: Literal["open", "resolved"] | None,
    before: tuple[float, str] | None,
    limit: int,
) -> list[Incident]:
    """The newest first."""
    query = select(incidents).where(*which)
    if state is not None:
        over = incidents.c.resolved_at
        query = query.where(over.is_(None) if state == "open" else over.is_not(None))
    if before is not None:
        at, last = before
        older = or_(
            incidents.c.fired_at < at, (incidents.c.fired_at == at) & (incidents.c.id < last)
        )
        query = query.where(older)
    ordered = query.order_by(incidents.c.fired_at.desc(), incidents.c.id.desc()).limit(limit)
    return [record(Incident, row) for row in connection.execute(ordered)]


def of_projects(project_ids: Iterable[str], *, with_server: bool) -> ColumnElement[bool]:
    """Those that somebody of these projects may see; the operator sees those of the server too."""
    mine = incidents.c.project_id.in_(list(project_ids))
    return or_(mine, incidents.c.project_id.is_(None)) if with_server else mine


def of_model(model_id: str | None) -> ColumnElement[bool]:
    return true() if model_id is None else incidents.c.model_id == model_id


def states_of(
    connection: Connection, rule_ids: Sequence[str]
) -> dict[str, list[tuple[str, RuleState]]]:
    """By rule: its subjects and their states, the ones that matter first."""
    found: dict[str, list[tuple[str, RuleState]]] = defaultdict(list)
    for some in batches(rule_ids, TOGETHER):
        query = select(rule_states).where(rule_states.c.rule_id.in_(some))
        for row in connection.execute(query.order_by(rule_states.c.subject)):
            found[row.rule_id].append((row.subject, record(RuleState, row)))
    places = {"firing": 0, "pending": 1, "unknown": 2, "ok": 3}
    for states in found.values():
        states.sort(key=lambda one: places[one[1].state])
    return found


def names_of(connection: Connection, subjects: Iterable[str]) -> dict[str, str]:
    """What models and projects are called; a host is called by its own name."""
    wanted, found = sorted({one for one in subjects if one}), {"": "everything"}
    for table in (projects, models):
        for some in batches(wanted, TOGETHER):
            query = select(table.c.id, table.c.name).where(table.c.id.in_(some))
            found |= {row.id: row.name for row in connection.execute(query)}
    return found


def messages(connection: Connection, incident_id: str) -> list[ToldMessage]:
    """What was told, and what is still to be, the oldest first."""
    query = (
        select(outbox, channels.c.name.label("channel"))
        .join(channels, channels.c.id == outbox.c.channel_id)
        .where(outbox.c.incident_id == incident_id)
        .order_by(outbox.c.made_at, outbox.c.step, channels.c.name)
    )
    return [record(ToldMessage, row) for row in connection.execute(query)]
