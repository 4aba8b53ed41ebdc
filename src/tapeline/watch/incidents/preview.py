"""When a rule would have fired in the last thirty days, before it is saved."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import msgspec
from sqlalchemy import Connection

from tapeline.watch.conditions import all_conditions
from tapeline.watch.conditions.condition import PREVIEWED, Past, Stretch, Stretches
from tapeline.watch.facts.fact import Asked, Sources, Subject
from tapeline.watch.incidents import watched
from tapeline.watch.incidents.looking import Reach, look
from tapeline.watch.rules.hours import Exchange, Hours, Window, of_sessions
from tapeline.watch.rules.rule import Rule
from tapeline.watch.rules.stored import StoredRule, scope_of

WindowAt = Callable[[float], Window]

MOST_SUBJECTS = 20
MOST_SHOWN = 500
NOT_KNOWN = "What this condition needs is not kept, so nobody knows when it would have held."


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    began_at: float
    fired_at: float | None
    """Null: it was over before it had lasted long enough."""
    resolved_at: float | None
    """Null: it still lasts."""
    value: float | None
    subject: str


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    stretches: list[Firing]
    """The oldest first."""
    looked_at_since: float
    note: str | None
    """What this leaves out."""


def of_rule(
    connection: Connection,
    sources: Sources,
    rule: Rule,
    project_id: str | None,
    model_id: str | None,
    now: float,
) -> Preview:
    condition, since = all_conditions.BY_NAME[rule.condition], now - PREVIEWED
    if condition.preview is None:
        return Preview(stretches=[], looked_at_since=now, note=NOT_KNOWN)
    window_at = _windows(rule.hours, sources, now)
    subjects = _subjects(connection, rule, project_id, model_id)
    notes, found, looked = list[str](), list[Firing](), since
    if len(subjects) > MOST_SUBJECTS:
        notes.append(f"Only {MOST_SUBJECTS} of {len(subjects)} models were looked at.")
    for subject in subjects[:MOST_SUBJECTS]:
        asked = Asked(
            rule_id="", limit=rule.limit, unit=rule.unit, lasting=rule.lasting,
            options=rule.options,
        )  # fmt: skip
        stretches = condition.preview(Past(connection, sources, subject, asked, since, now))
        lasting = 0.0 if condition.is_silence else rule.lasting
        found += _firings(stretches, window_at, lasting, subject.id, now)
        if isinstance(stretches, Stretches) and stretches.looked_since is not None:
            looked = max(looked, stretches.looked_since)
    if len(found) > MOST_SHOWN:
        notes.append(f"Only the newest {MOST_SHOWN} of {len(found):,} are shown.")
    found.sort(key=lambda one: one.began_at)
    return Preview(
        stretches=found[-MOST_SHOWN:], looked_at_since=looked, note=" ".join(notes) or None
    )


def _subjects(
    connection: Connection, rule: Rule, project_id: str | None, model_id: str | None
) -> list[Subject]:
    condition = all_conditions.BY_NAME[rule.condition]
    draft = StoredRule(
        id="", scope=scope_of(project_id, model_id), project_id=project_id, model_id=model_id,
        name=rule.name, spec={}, source="person", override=None, revision=0, created_at=0.0,
        created_by="", changed_at=0.0, changed_by="", muted_until=None, muted_by=None,
        muted_why=None,
    )  # fmt: skip
    reach = watched.reach_of([draft])
    return watched.subjects_of(
        draft, condition, look(connection, reach or Reach()), watched.project_names(connection)
    )


def _windows(hours: Hours | Exchange | None, sources: Sources, now: float) -> WindowAt | None:
    if isinstance(hours, Exchange):
        return partial(of_sessions, sources.heavy.sessions(hours.calendar, now))
    return None if hours is None else hours.at


def _firings(
    stretches: Sequence[Stretch],
    window_at: WindowAt | None,
    lasting: float,
    subject: str,
    now: float,
) -> Iterator[Firing]:
    for one in stretches:
        end = now if one.ended_at is None else one.ended_at
        for begin, until in _inside(window_at, one.began_at, end):
            fired = begin + lasting
            yield Firing(
                began_at=begin,
                fired_at=fired if fired <= until else None,
                resolved_at=None if one.ended_at is None and until == end else until,
                value=one.value,
                subject=subject,
            )


def _inside(window_at: WindowAt | None, begin: float, end: float) -> Iterable[tuple[float, float]]:
    """The parts of a stretch that lie in the hours of the rule."""
    if window_at is None:
        yield begin, end
        return
    at = begin
    while at < end:
        window = window_at(at)
        until = end if window.until is None else min(end, window.until)
        if window.is_open:
            yield at, until
        at = until
