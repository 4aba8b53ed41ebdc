"""What is watched: every rule about each of its subjects, with its state."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline.logs import Log
from tapeline.store.backends import common_time
from tapeline.store.rows import record
from tapeline.store.tables.core import projects
from tapeline.store.tables.watch import rule_states
from tapeline.tape.events import kinds
from tapeline.watch.conditions import all_conditions
from tapeline.watch.conditions.condition import Condition
from tapeline.watch.facts import all_facts
from tapeline.watch.facts.fact import EVERYTHING, Asked, Subject
from tapeline.watch.incidents.deciding import RuleState
from tapeline.watch.incidents.looking import Look, Reach
from tapeline.watch.rules.hours import Exchange
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.rule import Rule
from tapeline.watch.rules.stored import StoredRule

log = Log(__name__)

Key = tuple[str, str]
"""A rule and a subject."""


class Watched(msgspec.Struct, kw_only=True):
    """A rule about one subject, while a server evaluates it. Only the evaluator changes it."""

    stored: StoredRule
    rule: Rule | None
    """None: this version of the server cannot read it."""
    condition: Condition | None
    subject: Subject
    state: RuleState
    words: frozenset[str] = frozenset()
    """What can change it."""
    every: float | None = None
    look_again: float | None = 0.0
    """At once, at first."""
    is_settled: bool = False
    written_at: float = 0.0
    """When its figures were last written, for pages."""

    @property
    def key(self) -> Key:
        return self.stored.id, self.subject.id

    @property
    def calendar(self) -> str | None:
        """The exchange whose hours are its own."""
        hours = None if self.rule is None else self.rule.hours
        return hours.calendar if isinstance(hours, Exchange) else None

    def is_woken_by(self, changed: Collection[str]) -> bool:
        """A settled one waits until it is due, unless its model started or stopped."""
        known = self.words & {kinds.LIFECYCLE.name} if self.is_settled else self.words
        return not known.isdisjoint(changed)

    def asked(self, counts_from: float) -> Asked:
        assert self.rule is not None
        return Asked(
            rule_id=self.stored.id,
            limit=self.rule.limit,
            unit=self.rule.unit,
            lasting=self.rule.lasting,
            options=self.rule.options,
            memory=self.state.memory or {},
            counts_from=counts_from,
            is_firing=self.state.incident_id is not None,
        )


def reach_of(rules: Iterable[StoredRule]) -> Reach:
    reaches = list(rules)
    return Reach(
        any(one.reach == "all" for one in reaches),
        frozenset(one.project_id for one in reaches if one.reach == "project" and one.project_id),
        frozenset(one.model_id for one in reaches if one.model_id),
    )


def states(connection: Connection) -> tuple[dict[Key, RuleState], float]:
    """By the clock as it is set now, and how far that one is ahead of those that are kept."""
    ahead = common_time.ahead(connection)
    found = {
        (row.rule_id, row.subject): record(RuleState, row).moved(ahead)
        for row in connection.execute(select(rule_states))
    }
    return found, ahead


def project_names(connection: Connection) -> dict[str, str]:
    return {row.id: row.name for row in connection.execute(select(projects.c.id, projects.c.name))}


def subjects_of(
    stored: StoredRule, condition: Condition | None, look: Look, names: Mapping[str, str]
) -> list[Subject]:
    """What a rule asks about, as of this look."""
    if condition is not None and condition.of_each == "host":
        return [Subject(id=name, kind="host", name=name) for name in look.hosts]
    if stored.model_id is not None:
        return _models([stored.model_id], look)
    if condition is None or condition.of_each is None:
        if stored.project_id is None:
            return [Subject(id=EVERYTHING, kind="all", name="everything")]
        name = names.get(stored.project_id, "")
        return [
            Subject(id=stored.project_id, kind="project", name=name, project_id=stored.project_id)
        ]
    inside = [
        one.model_id for one in look.heads.values() if stored.project_id in (None, one.project_id)
    ]
    return _models(inside, look)


def _models(ids: Iterable[str], look: Look) -> list[Subject]:
    found = (look.heads.get(one) for one in ids)
    return [
        Subject(
            id=one.model_id,
            kind="model",
            name=one.name,
            project_id=one.project_id,
            tape=one.tape,
        )
        for one in found
        if one is not None
    ]


def watch(
    rules: Iterable[StoredRule],
    known: Mapping[Key, RuleState],
    look: Look,
    names: Mapping[str, str],
    before: Mapping[Key, Watched],
) -> dict[Key, Watched]:
    """Every rule with each of its subjects. What has not changed stays as it was evaluated."""
    found: dict[Key, Watched] = {}
    for stored in rules:
        rule, condition = _read(stored)
        words, every = _needs(condition)
        for subject in subjects_of(stored, condition, look, names):
            key = stored.id, subject.id
            same = before.get(key)
            if (
                same is not None
                and same.stored.revision == stored.revision
                and same.subject == subject
            ):
                found[key] = same
                continue
            found[key] = Watched(
                stored=stored,
                rule=rule,
                condition=condition,
                subject=subject,
                state=known.get(key, RuleState()),
                words=words,
                every=every,
            )
    return found


def _read(stored: StoredRule) -> tuple[Rule | None, Condition | None]:
    try:
        rule = stored.read()
    except InvalidRule:
        return None, None
    except Exception as error:  # a row that was damaged is its own rule's trouble alone
        log.error("rule_unreadable", exc_info=error, rule=stored.id)
        return None, None
    return rule, all_conditions.BY_NAME[rule.condition]


def _needs(condition: Condition | None) -> tuple[frozenset[str], float | None]:
    facts = [] if condition is None else [all_facts.BY_NAME[name] for name in condition.needs]
    every = [one.every for one in facts if one.every is not None]
    return frozenset().union(*(one.changed_by for one in facts)), min(every, default=None)


def by_subject(watched: Iterable[Watched]) -> dict[str, list[Watched]]:
    found: dict[str, list[Watched]] = defaultdict(list)
    for one in watched:
        found[one.subject.id].append(one)
    return dict(found)


def above(subject: Subject) -> tuple[Any, ...]:
    """The subjects that change with this model: itself, its project, everything."""
    return subject.id, subject.project_id, EVERYTHING
