"""Incidents: what rules found, what followed, and who knows of it."""

from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members, plain_names
from tapeline.errors import Forbidden, Invalid, InvalidCursor, NoSuchProject
from tapeline.http.core.answers import Listed
from tapeline.http.core.endpoint import BodyCall, Call, QueryCall
from tapeline.models import models, onboarding, projects
from tapeline.watch.incidents import by_people, listing
from tapeline.watch.incidents import incident as records
from tapeline.watch.incidents.incident import Incident, NoSuchIncident
from tapeline.watch.incidents.listing import ToldMessage

LONGEST_NOTE = 1000
Note = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST_NOTE})]


class Wanted(msgspec.Struct):
    project: str | None = None
    model: str | None = None
    state: Literal["open", "resolved"] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    before: str | None = None
    """The `next` of an earlier answer."""


class ShownIncident(msgspec.Struct, kw_only=True):
    incident_id: str
    rule_id: str | None
    """Null: the rule was deleted."""
    project_id: str | None
    model_id: str | None
    subject: str
    subject_name: str
    name: str
    severity: str
    state: str
    """`open` or `resolved`."""
    said: str
    value: float | None
    limit: float | None
    began_at: float
    fired_at: float
    resolved_at: float | None
    resolution: str | None
    acknowledged_at: float | None
    acknowledged_by: str | None


class TimelineEntry(msgspec.Struct, kw_only=True):
    at: float
    what: str
    by: str
    text: str
    details: dict[str, Any] | None


class WholeIncident(ShownIncident, kw_only=True):
    rule: dict[str, Any]
    """As it was when it fired."""
    timeline: list[TimelineEntry]
    messages: list[ToldMessage]
    """What channels were told, or are to be."""


class Acknowledging(msgspec.Struct):
    note: Note = ""


def list_incidents(connection: Connection, call: QueryCall[Wanted]) -> Listed[ShownIncident]:
    """The newest incidents of the caller's projects."""
    query = call.query
    which = [_scope(connection, call, query), listing.of_model(query.model)]
    found = listing.find(
        connection,
        which,
        state=query.state,
        before=_before(query.before),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    last = shown[-1] if len(found) > query.limit else None
    names = listing.names_of(connection, (one.subject for one in shown))
    following = None if last is None else f"{last.fired_at!r}:{last.id}"
    return Listed([ShownIncident(**_fields(one, names)) for one in shown], following)


def show_incident(connection: Connection, call: Call) -> WholeIncident:
    """An incident with its timeline, and with what was told of it."""
    return _whole(connection, _permitted(connection, call, "see"))


def acknowledge(connection: Connection, call: BodyCall[Acknowledging]) -> WholeIncident:
    """Say that somebody knows: nobody else is woken."""
    found, note = _permitted(connection, call, "change_models"), call.body.note.strip()
    if len(note) > LONGEST_NOTE:
        raise Invalid(f"`note` may have {LONGEST_NOTE:,} characters.", field="note")
    plain_names.require(note, "note")
    by_people.acknowledge(connection, call.actor, found, note)
    return _whole(connection, records.find(connection, found.id))


def _scope(connection: Connection, call: Call, query: Wanted) -> Any:
    actor = call.actor
    if query.project is not None:
        members.require(connection, actor, query.project, "see")
        return listing.of_projects([query.project], with_server=False)
    if query.model is not None:
        model = models.find(connection, actor, query.model)
        return listing.of_projects([model.project_id], with_server=False)
    if actor.kind == "key":
        return listing.of_projects([actor.project_id or ""], with_server=False)
    own = [one.id for one in projects.of_user(connection, actor.user_id())]
    return listing.of_projects(own, with_server=_is_operator(connection, call))


def _is_operator(connection: Connection, call: Call) -> bool:
    try:
        onboarding.require_operator(connection, call.actor)
    except Forbidden:
        return False
    return True


def _permitted(connection: Connection, call: Call, right: members.Right) -> Incident:
    """The incident, if the caller may; to everybody else it does not exist."""
    found = records.find(connection, call.path("incident"), to_change=right != "see")
    if found.project_id is None:
        if call.actor.kind == "key" or not _is_operator(connection, call):
            raise NoSuchIncident
        return found
    try:
        members.require(connection, call.actor, found.project_id, right)
    except NoSuchProject:
        raise NoSuchIncident from None
    return found


def _before(cursor: str | None) -> tuple[float, str] | None:
    if cursor is None:
        return None
    at, colon, last = cursor.partition(":")
    try:
        moment = float(at)
    except ValueError:
        raise InvalidCursor(field="before") from None
    if not colon or not 0 <= moment < 1e12:
        raise InvalidCursor(field="before")
    return moment, last


def _whole(connection: Connection, found: Incident) -> WholeIncident:
    names = listing.names_of(connection, [found.subject])
    return WholeIncident(
        **_fields(found, names),
        rule=found.spec,
        timeline=[
            TimelineEntry(at=one.at, what=one.what, by=one.by, text=one.text, details=one.details)
            for one in records.timeline(connection, found.id)
        ],
        messages=listing.messages(connection, found.id),
    )


def _fields(one: Incident, names: dict[str, str]) -> dict[str, Any]:
    same = {
        name: getattr(one, name)
        for name in ShownIncident.__struct_fields__
        if name in Incident.__struct_fields__
    }
    return same | {
        "incident_id": one.id,
        "subject_name": names.get(one.subject, one.subject),
        "state": "open" if one.resolved_at is None else "resolved",
    }
