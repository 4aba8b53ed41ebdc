"""Rules as they are kept: made, changed, muted and deleted by people, and audited."""

import time
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import Conflict, Limited, Missing
from tapeline.ids import new_id
from tapeline.store.backends import announcing
from tapeline.store.rows import record
from tapeline.store.tables.watch import rule_states, rules
from tapeline.watch.conditions.condition import Scope
from tapeline.watch.rules import rule as rule_json
from tapeline.watch.rules.rule import Rule

MOST = 500  # rules of one project with its models, or of the installation
SERVER = "server"


class NoSuchRule(Missing):
    """There is no such rule, or you do not have access to it."""


class RuleNameTaken(Conflict):
    """Another rule here has this name. Choose another one, or change that rule."""

    field = "name"


class TooManyRules(Limited):
    """There are too many rules here. Delete some, or make one rule for the whole project."""


class ExpectedByVersion(Conflict):
    """This rule comes with the model's version, in its platform.json. You can mute or tighten it
    here; to weaken or delete it, deploy a version that expects less."""


class StoredRule(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    scope: str
    project_id: str | None
    model_id: str | None
    name: str
    spec: dict[str, Any]
    source: Literal["person", "version"]
    override: dict[str, Any] | None
    """How people tightened what a version expects."""
    revision: int
    created_at: float
    created_by: str
    changed_at: float
    changed_by: str
    muted_until: float | None
    muted_by: str | None
    muted_why: str | None

    @property
    def reach(self) -> Scope:
        if self.model_id is not None:
            return "model"
        return "all" if self.project_id is None else "project"

    def read(self) -> Rule:
        """What counts. Raises `InvalidRule` if this version of the server does not know it."""
        return rule_json.read(self.spec | (self.override or {}), self.reach)


def scope_of(project_id: str | None, model_id: str | None = None) -> str:
    if model_id is not None:
        return f"model:{model_id}"
    return SERVER if project_id is None else f"project:{project_id}"


def everything(connection: Connection) -> list[StoredRule]:
    return [_stored(row) for row in connection.execute(select(rules).order_by(rules.c.id))]


def digest(connection: Connection) -> tuple[int, int, float]:
    """Changes whenever any rule does, even where a new one takes the place of another and clocks
    went back; costs one look, however many there are."""
    row = connection.execute(
        select(func.count(), func.sum(rules.c.revision), func.sum(rules.c.changed_at))
    ).one()
    return row[0], row[1] or 0, row[2] or 0.0


def of_project(
    connection: Connection, project_id: str, model_id: str | None = None
) -> list[StoredRule]:
    """Of the project with its models, or those that look at one model of it."""
    query = select(rules).where(rules.c.project_id == project_id)
    if model_id is not None:
        query = query.where(rules.c.scope.in_((f"model:{model_id}", f"project:{project_id}")))
    return [_stored(row) for row in connection.execute(query.order_by(rules.c.name, rules.c.id))]


def of_installation(connection: Connection) -> list[StoredRule]:
    query = select(rules).where(rules.c.scope == SERVER).order_by(rules.c.name)
    return [_stored(row) for row in connection.execute(query)]


def find(connection: Connection, rule_id: str, *, to_change: bool = False) -> StoredRule:
    query = select(rules).where(rules.c.id == rule_id)
    row = connection.execute(query.with_for_update() if to_change else query).first()
    if row is None:
        raise NoSuchRule
    return _stored(row)


def make(
    connection: Connection,
    actor: Actor,
    project_id: str | None,
    model_id: str | None,
    value: dict[str, Any],
    *,
    source: Literal["person", "version"] = "person",
) -> StoredRule:
    """Check and keep a rule."""
    scope, now = scope_of(project_id, model_id), time.time()
    reach: Scope = "model" if model_id else "project" if project_id else "all"
    read = rule_json.read(value, reach)
    _require_room(connection, project_id)
    _require_free(connection, scope, read.name)
    made = StoredRule(
        id=new_id(),
        scope=scope,
        project_id=project_id,
        model_id=model_id,
        name=read.name,
        spec=read.written(),
        source=source,
        override=None,
        revision=1,
        created_at=now,
        created_by=actor.label,
        changed_at=now,
        changed_by=actor.label,
        muted_until=None,
        muted_by=None,
        muted_why=None,
    )
    connection.execute(insert(rules).values(msgspec.structs.asdict(made)))
    _audit(connection, actor, "rule_added", made, rule=made.spec)
    return made


def change(
    connection: Connection, actor: Actor, before: StoredRule, value: dict[str, Any]
) -> StoredRule:
    """Replace what a person wrote."""
    read = rule_json.read(value, before.reach)
    if read.name != before.name:
        _require_free(connection, before.scope, read.name)
    spec = read.written()
    after = _write(connection, actor, before, spec=spec, name=read.name)
    _audit(connection, actor, "rule_changed", after, before=before.spec, after=spec)
    return after


def override(
    connection: Connection, actor: Actor, before: StoredRule, more: dict[str, Any] | None
) -> StoredRule:
    """Tighten what a version expects; the caller has checked that it is tighter."""
    after = _write(connection, actor, before, override=more)
    _audit(connection, actor, "rule_changed", after, before=before.override, after=more)
    return after


def expect(
    connection: Connection,
    actor: Actor,
    before: StoredRule,
    spec: dict[str, Any],
    more: dict[str, Any] | None,
) -> StoredRule:
    """The next version of its model expects this instead, under the same name."""
    after = _write(connection, actor, before, spec=spec, override=more)
    _audit(connection, actor, "rule_changed", after, before=before.spec, after=spec)
    return after


def mute(
    connection: Connection, actor: Actor, before: StoredRule, until: float | None, why: str
) -> StoredRule:
    """It opens no incident before that moment. None: it counts again."""
    said = {
        "muted_until": until,
        "muted_by": None if until is None else actor.label,
        "muted_why": None if until is None else why,
    }
    after = _write(connection, actor, before, forget=False, **said)
    action = "rule_unmuted" if until is None else "rule_muted"
    _audit(connection, actor, action, after, until=until, why=why)
    return after


def remove(connection: Connection, actor: Actor, stored: StoredRule) -> None:
    connection.execute(delete(rules).where(rules.c.id == stored.id))
    _audit(connection, actor, "rule_deleted", stored, rule=stored.spec)


def _write(
    connection: Connection, actor: Actor, before: StoredRule, *, forget: bool = True, **values: Any
) -> StoredRule:
    changed = {
        **values,
        "revision": before.revision + 1,
        "changed_at": time.time(),
        "changed_by": actor.label,
    }
    connection.execute(update(rules).where(rules.c.id == before.id).values(**changed))
    if forget:
        # What another condition remembered means nothing to this one, and what was true of it may
        # not be true of this. An open incident stays, until this one says that it is over.
        forgotten = {"memory": None, "held_since": None}
        of_rule = rule_states.c.rule_id == before.id
        connection.execute(update(rule_states).where(of_rule).values(**forgotten))
    return msgspec.structs.replace(before, **changed)


def _stored(row: Row[*tuple[Any, ...]]) -> StoredRule:
    return record(StoredRule, row)


def _require_room(connection: Connection, project_id: str | None) -> None:
    here = rules.c.project_id.is_not_distinct_from(project_id)
    if (connection.scalar(select(func.count()).where(here)) or 0) >= MOST:
        raise TooManyRules


def _require_free(connection: Connection, scope: str, name: str) -> None:
    taken = select(rules.c.id).where(rules.c.scope == scope, rules.c.name == name)
    if connection.scalar(taken) is not None:
        raise RuleNameTaken


def _audit(
    connection: Connection, actor: Actor, action: str, stored: StoredRule, **details: Any
) -> None:
    audit.record(
        connection,
        actor,
        action,
        f"rule:{stored.id}",
        project_id=stored.project_id,
        name=stored.name,
        model=stored.model_id,
        **details,
    )
    announcing.announce(connection, "", [announcing.WATCH])
