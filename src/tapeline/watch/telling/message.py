"""The words of a message, for people and for programs."""

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline import figures, moments
from tapeline.store.tables.core import models, projects
from tapeline.store.tables.watch import incidents
from tapeline.watch.conditions import durations
from tapeline.watch.telling.claiming import Claimed

HOUR = 3600
SHOWN = 30
"""Incidents that a message lists; the rest are counted."""
MARKS = {"info": "ℹ️", "warning": "⚠️", "critical": "🚨"}  # noqa: RUF001
WORDS = {"fired": "firing", "escalated": "nobody has acknowledged", "resolved": "resolved"}


class Gone(Exception):
    """The incidents were deleted, with their model."""


class About(msgspec.Struct, kw_only=True):
    """One incident, as a webhook gets it too."""

    incident_id: str
    what: str
    """What this message tells of it: fired, escalated or resolved."""
    rule: str
    rule_id: str | None
    severity: str
    said: str
    """With the figures, for people."""
    value: float | None
    limit: float | None
    unit: str | None
    project_id: str | None
    project: str | None
    model_id: str | None
    model: str | None
    began_at: float
    fired_at: float
    resolved_at: float | None
    resolution: str | None
    acknowledged_at: float | None
    acknowledged_by: str | None
    link: str | None
    """The moment on the model's page."""
    halt_link: str | None
    """Where a person can halt the whole project, after signing in."""


class Message(msgspec.Struct, kw_only=True):
    message_id: str
    incident_id: str | None
    """Null if it tells of several."""
    what: str
    title: str
    text: str
    severity: str
    sent_at: float
    incidents: list[About]


def of(connection: Connection, claimed: Claimed, address: str) -> Message:
    about = _about(connection, claimed.told, address)
    if not about:
        raise Gone
    is_one = len(about) == 1
    unresolved = {one.severity for one in about if one.resolved_at is None}
    worst = [name for name in ("critical", "warning", "info") if name in unresolved]
    return Message(
        message_id=claimed.message_id,
        incident_id=about[0].incident_id if is_one else None,
        what=about[0].what if is_one else "digest",
        title=_title(about[0]) if is_one else _many(about),
        text=_text(about[0]) if is_one else _listed(about),
        severity=worst[0] if worst else "resolved",
        sent_at=time.time(),
        incidents=about,
    )


def trial(name: str, project: str, message_id: str) -> Message:
    """What the test button sends."""
    whose = f"of {project} " if project else ""
    return Message(
        message_id=message_id,
        incident_id=None,
        what="test",
        title="Tapeline: a test",
        text=f"This is a test of the channel {name} {whose}on Tapeline. Nothing has happened.",
        severity="warning",  # some services do nothing for less
        sent_at=time.time(),
        incidents=[],
    )


def _about(connection: Connection, told: Sequence[tuple[str, str]], address: str) -> list[About]:
    query = (
        select(
            incidents,
            models.c.name.label("model"),
            projects.c.name.label("project"),
        )
        .join(models, models.c.id == incidents.c.model_id, isouter=True)
        .join(projects, projects.c.id == incidents.c.project_id, isouter=True)
        .where(incidents.c.id.in_({incident for _, incident in told}))
    )
    found = {row.id: row for row in connection.execute(query)}
    return [_one(found[id_], what, address) for what, id_ in told if id_ in found]


def _one(row: Any, what: str, address: str) -> About:
    link = halt = None
    if address and row.project_id:
        link = f"{address}/{row.project_id}"
        halt = f"{link}/halt"
        if row.model_id:
            at = row.fired_at
            link += f"/{row.model_id}/overview?range={at - HOUR:.0f}_{at + HOUR:.0f}@{at:.0f}"
    return About(
        incident_id=row.id,
        what=what,
        rule=row.name,
        rule_id=row.rule_id,
        severity=row.severity,
        said=row.said,
        value=row.value,
        limit=row.limit,
        unit=row.spec.get("unit"),
        project_id=row.project_id,
        project=row.project,
        model_id=row.model_id,
        model=row.model,
        began_at=row.began_at,
        fired_at=row.fired_at,
        resolved_at=row.resolved_at,
        resolution=row.resolution,
        acknowledged_at=row.acknowledged_at,
        acknowledged_by=row.acknowledged_by,
        link=link,
        halt_link=halt,
    )


def _title(one: About) -> str:
    where = one.model or one.project or "Tapeline"
    if one.resolved_at is not None:
        state = "resolved" if one.what == "resolved" else "was firing, is resolved"
        return f"✅ {one.rule}: {state} ({where})"
    return f"{MARKS.get(one.severity, '')} {one.rule}: {WORDS[one.what]} ({where})"


def _text(one: About) -> str:
    lines = [one.said, ""]
    if one.value is not None:
        lines.append(f"Figure: {_figure(one.value, one.unit)}")
    if one.limit is not None:
        lines.append(f"Limit: {_figure(one.limit, one.unit)}")
    if one.model:
        lines.append(f"Model: {one.model}")
    if one.project:
        lines.append(f"Project: {one.project}")
    lines += [f"Severity: {one.severity}", f"Since: {_moment(one.began_at)}"]
    if one.resolved_at is not None:
        lasted = durations.in_words(max(0.0, one.resolved_at - one.began_at))
        why = f" ({one.resolution})" if one.resolution else ""
        lines.append(f"Resolved: {_moment(one.resolved_at)}, after {lasted}{why}")
    if one.acknowledged_by:
        lines.append(f"Acknowledged: by {one.acknowledged_by}")
    if one.link:
        lines += ["", f"The moment: {one.link}"]
    if one.halt_link and one.resolved_at is None:
        lines.append(f"Halt the project: {one.halt_link}")
    return "\n".join([*lines, f"Incident: {one.incident_id}"])


def _many(about: list[About]) -> str:
    firing = sum(one.resolved_at is None for one in about)
    resolved = len(about) - firing
    parts = [f"{firing} firing"] * bool(firing) + [f"{resolved} resolved"] * bool(resolved)
    return f"Tapeline: {', '.join(parts)}"


def _listed(about: list[About]) -> str:
    lines = []
    for one in about[:SHOWN]:
        lines += [_title(one), f"  {one.said}", f"  {_moment(one.fired_at)}"]
        lines += [f"  {one.link}"] * bool(one.link)
    if len(about) > SHOWN:
        lines.append(f"and {len(about) - SHOWN} more")
    return "\n".join(lines)


def _figure(value: float, unit: str | None) -> str:
    units = {"percent": " %", "count": "", None: ""}
    return figures.ratio(value) + units.get(unit, f" {unit}")


def _moment(at: float) -> str:
    return moments.written(at, "%Y-%m-%d %H:%M:%S UTC")
