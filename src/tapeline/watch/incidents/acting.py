"""Carries out what was decided, in one transaction: the incident, its timeline, who is to be told,
and the stop. Whoever is killed in between has done all of it or nothing."""

from collections.abc import Iterable, Sequence

import msgspec
from sqlalchemy import Connection, and_, delete, insert, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.ids import new_id
from tapeline.runs.run import DEPLOYED
from tapeline.runs.supervision import desired
from tapeline.store import bulk, upsert
from tapeline.store.backends import announcing, common_time
from tapeline.store.tables.runs import runs
from tapeline.store.tables.watch import channels, incidents, outbox, rule_states, rules
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.tapes import open_tape
from tapeline.watch.facts.fact import Subject
from tapeline.watch.halts import declaring as declaring_halts
from tapeline.watch.incidents import incident as records
from tapeline.watch.incidents.deciding import Decision, RuleState
from tapeline.watch.incidents.incident import Incident
from tapeline.watch.incidents.watched import Key
from tapeline.watch.rules.actions import Action
from tapeline.watch.rules.rule import Rule
from tapeline.watch.rules.stored import StoredRule, scope_of

RULES = "rules"
"""Who did it, in timelines."""

_STATE = (
    "rule_id", "subject", "state", "since", "held_since", "said", "value", "limit", "memory",
    "incident_id", "revision",
)  # fmt: skip
_encode = msgspec.json.Encoder().encode


class Change(msgspec.Struct, frozen=True):
    stored: StoredRule
    rule: Rule | None
    subject: Subject
    decision: Decision

    @property
    def key(self) -> Key:
        return self.stored.id, self.subject.id


class Done(msgspec.Struct):
    ahead: float
    """What is kept is kept without it."""
    states: dict[Key, RuleState] = msgspec.field(default_factory=dict)
    """Those that were written. A rule that was changed meanwhile is not among them."""
    appended: list[Appended] = msgspec.field(default_factory=list)
    stops: bool = False
    halts: bool = False
    tells: bool = False


def carry_out(
    connection: Connection, appender: Appender, changes: Sequence[Change], now: float, ahead: float
) -> Done:
    """`now` is by a clock that is so far ahead of one that does not jump."""
    done = Done(ahead=ahead)
    current = _revisions(connection, {one.stored.id for one in changes})
    for one in changes:
        if current.get(one.stored.id) == one.stored.revision:
            done.states[one.key] = _carried_out(connection, appender, one, now, done)
    _write(connection, done)
    announcing.announce(connection, "", [announcing.WATCH])
    return done


def _carried_out(
    connection: Connection, appender: Appender, change: Change, now: float, done: Done
) -> RuleState:
    after, happened = change.decision.after, change.decision.happened
    if happened == "fired":
        made = _fire(connection, appender, change, now, done)
        return msgspec.structs.replace(after, incident_id=made.id)
    if happened == "resolved":
        resolve(connection, change.stored.id, change.subject.id, after.said, now, by=RULES)
        done.tells = True
    return after


def _revisions(connection: Connection, rule_ids: Iterable[str]) -> dict[str, int]:
    """Nobody changes or deletes these rules before this transaction ends."""
    query = select(rules.c.id, rules.c.revision).where(rules.c.id.in_(list(rule_ids)))
    return {row.id: row.revision for row in connection.execute(query.with_for_update(read=True))}


def _write(connection: Connection, done: Done) -> None:
    kept = {key: one.moved(-done.ahead) for key, one in done.states.items()}
    rows = [
        (*key, one.state, one.since, one.held_since, one.said, one.value, one.limit,
         None if one.memory is None else _encode(one.memory).decode(), one.incident_id,
         one.revision)
        for key, one in kept.items()
    ]  # fmt: skip
    bulk.insert(connection, rule_states, _STATE, rows, replace=_STATE[2:])


def _fire(
    connection: Connection, appender: Appender, change: Change, now: float, done: Done
) -> Incident:
    stored, subject, after = change.stored, change.subject, change.decision.after
    assert change.rule is not None, "a rule that cannot be read finds nothing"
    made = Incident(
        id=new_id(),
        rule_id=stored.id,
        project_id=stored.project_id or subject.project_id,
        model_id=subject.id if subject.kind == "model" else None,
        subject=subject.id,
        name=stored.name,
        severity=change.rule.severity,
        spec=change.rule.written(),
        said=after.said,
        value=after.value,
        limit=after.limit,
        began_at=after.held_since if after.held_since is not None else now,
        fired_at=now,
    )
    connection.execute(insert(incidents).values(msgspec.structs.asdict(made)))
    records.note(connection, made.id, "fired", at=now, by=RULES, text=made.said)
    for step, action in enumerate(change.rule.do):
        if action.what == "tell":
            _tell(connection, made, stored, action, step, now)
            done.tells = True
    _stop(connection, appender, change, made, now, done)
    return made


def _tell(
    connection: Connection,
    made: Incident,
    stored: StoredRule,
    action: Action,
    step: int,
    now: float,
) -> None:
    """Rows for the outbox. Those with `after` wait, for as long as nobody acknowledges."""
    scope = scope_of(stored.project_id)
    query = select(channels.c.id, channels.c.name).where(channels.c.scope == scope)
    known = {row.name: row.id for row in connection.execute(query)}
    names = list(known) if action.channels is None else action.channels
    for name in names:
        if name not in known:
            said = f"There is no channel named {name}."
            records.note(connection, made.id, "tell_failed", at=now, by=RULES, text=said)
            continue
        what = "escalated" if action.after else "fired"
        _put(connection, made.id, known[name], what, step, action.after)


def _put(
    connection: Connection, incident_id: str, channel_id: str, what: str, step: int, after: float
) -> None:
    """By the clock as it is set now: it may have jumped since the rules were evaluated."""
    now = common_time.now(connection)
    upsert.claim(
        connection,
        outbox,
        id=new_id(),
        incident_id=incident_id,
        channel_id=channel_id,
        what=what,
        step=step,
        made_at=now,
        due_at=now + after,
        due_steadily_at=common_time.steadily(connection) + after if after else None,
        attempts=0,
    )


def _stop(
    connection: Connection, appender: Appender, change: Change, made: Incident, now: float,
    done: Done,
) -> None:  # fmt: skip
    """Stop the model, halt the project. Both only say what is desired."""
    assert change.rule is not None
    words = {one.what for one in change.rule.do}
    actor = Actor(kind="rule", id=made.rule_id, label=f"rule {made.name}")
    if "stop" in words and made.model_id is not None:
        _stop_model(connection, appender, made, actor, now, done)
    if "halt" in words and made.project_id is not None:
        halt = declaring_halts.declare(connection, actor, made.project_id, made.said)
        text = "The project was halted: all its models are being stopped."
        records.note(
            connection, made.id, "halted", at=now, by=RULES, text=text, details={"halt": halt.id}
        )
        done.halts = True


def _stop_model(
    connection: Connection, appender: Appender, made: Incident, actor: Actor, now: float, done: Done
) -> None:
    assert made.model_id is not None
    of_model = and_(runs.c.model_id == made.model_id, runs.c.kind.in_(DEPLOYED))
    reason = f"Stopped by rule {made.name}: {made.said}"
    if not desired.end_all(connection, of_model, reason):
        text = "It was not running here, so nothing was stopped."
        records.note(connection, made.id, "not_stopped", at=now, by=RULES, text=text)
        return
    fields = {
        "stated": "stopped by rule", "rule": made.name, "incident": made.id, "why": made.said,
        "at": now,
    }  # fmt: skip
    tape = open_tape(connection, made.model_id)
    event = Event(tape, kinds.STATEMENT, fields, _encode(fields), now, now)
    done.appended += appender.append(connection, [Submission([event], None)])[1]
    done.stops = True
    text = "The model was told to stop."
    records.note(connection, made.id, "stopped", at=now, by=RULES, text=text)
    audit.record(
        connection, actor, "model_stopped", f"model:{made.model_id}", project_id=made.project_id,
        incident=made.id, why=made.said,
    )  # fmt: skip


def resolve(
    connection: Connection, rule_id: str, subject: str, said: str, now: float, *, by: str
) -> None:
    """The open incident of a rule about a subject is over: whoever was told is told this too."""
    which = (incidents.c.rule_id == rule_id, incidents.c.subject == subject)
    query = select(incidents.c.id).where(*which, incidents.c.resolved_at.is_(None))
    for incident_id in connection.scalars(query.with_for_update()).all():
        connection.execute(
            update(incidents)
            .where(incidents.c.id == incident_id)
            .values(resolved_at=now, resolution=said)
        )
        records.note(connection, incident_id, "resolved", at=now, by=by, text=said)
        call_off_escalation(connection, incident_id)
        told = select(outbox.c.channel_id).where(outbox.c.incident_id == incident_id).distinct()
        for channel_id in connection.scalars(told).all():
            _put(connection, incident_id, channel_id, "resolved", 0, 0.0)


def call_off_escalation(connection: Connection, incident_id: str) -> None:
    """Nobody need be woken who has not been told yet."""
    connection.execute(
        delete(outbox).where(
            outbox.c.incident_id == incident_id,
            outbox.c.what == "escalated",
            outbox.c.attempts == 0,
            outbox.c.delivered_at.is_(None),
        )
    )


def forget(connection: Connection, keys: Sequence[Key], now: float) -> None:
    """Subjects that are no longer there: their incidents are over."""
    for rule_id, subject in keys:
        said = "This is no longer watched."
        resolve(connection, rule_id, subject, said, now, by=RULES)
        gone = (rule_states.c.rule_id == rule_id, rule_states.c.subject == subject)
        connection.execute(delete(rule_states).where(*gone))
