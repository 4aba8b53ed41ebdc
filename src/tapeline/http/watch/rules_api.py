"""Rules: made, changed, muted and deleted, of a project with its models or of the installation."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from tapeline.accounts import members, plain_names
from tapeline.errors import Forbidden, Invalid, NoSuchProject, Unidentified
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import BodyCall, Call, QueryCall
from tapeline.http.view.results_api import catch_up_all
from tapeline.models import models, onboarding
from tapeline.store.backends import announcing, common_time
from tapeline.watch.conditions import all_conditions
from tapeline.watch.conditions.condition import Condition, Scope
from tapeline.watch.incidents import by_people, listing, preview
from tapeline.watch.incidents.preview import Preview
from tapeline.watch.rules import checking, tightening
from tapeline.watch.rules import rule as rule_json
from tapeline.watch.rules import stored as rules
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.rule import Rule
from tapeline.watch.rules.stored import NoSuchRule, StoredRule

LONGEST_WHY = 1000
Why = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST_WHY})]
When = str | dict[str, Any]
Lasting = float | str
Unset = msgspec.UnsetType


class NewRule(msgspec.Struct, kw_only=True, rename={"lasting": "for"}, forbid_unknown_fields=True):
    """See the page of the docs about watching models for what each word means."""

    name: str
    when: When
    """The name of a condition, or an object with `condition` and its options."""
    limit: float | None = None
    unit: str | None = None
    lasting: Lasting | None = None
    """Seconds, or a text such as `10m`."""
    hours: dict[str, Any] | None = None
    severity: str = "warning"
    do: list[Any] | None = None
    model_id: str | None = None
    """Null: it is about the project."""


class RuleChange(
    msgspec.Struct, kw_only=True, rename={"lasting": "for"}, forbid_unknown_fields=True
):
    """Fields that are not sent stay unchanged."""

    name: str | Unset = msgspec.UNSET
    when: When | Unset = msgspec.UNSET
    limit: float | Unset | None = msgspec.UNSET
    unit: str | Unset | None = msgspec.UNSET
    lasting: Lasting | Unset | None = msgspec.UNSET
    hours: dict[str, Any] | Unset | None = msgspec.UNSET
    severity: str | Unset = msgspec.UNSET
    do: list[Any] | Unset = msgspec.UNSET


class Muting(msgspec.Struct, kw_only=True):
    until: float | None = None
    """Epoch seconds; null ends the muting."""
    why: Why = ""


class ShownState(msgspec.Struct, kw_only=True):
    subject: str
    """The id of a model or project, the name of a host, or empty for everything."""
    name: str
    state: str
    """`ok`, `pending` (true, but not for long enough, or muted), `firing`, or `unknown`: it cannot
    be evaluated."""
    since: float
    said: str
    value: float | None
    limit: float | None
    incident_id: str | None


class ShownRule(msgspec.Struct, kw_only=True, rename={"lasting": "for"}):
    rule_id: str
    project_id: str | None
    model_id: str | None
    source: str
    """`person`, or `version`: it came with the model's version."""
    is_tightened: bool
    """Whether people tightened what the version expects."""
    name: str
    when: When
    limit: float | None
    unit: str | None
    lasting: Lasting | None
    hours: dict[str, Any] | None
    severity: str
    do: list[Any]
    trouble: str | None
    """Why this server cannot read it."""
    muted_until: float | None
    muted_by: str | None
    muted_why: str | None
    created_at: float
    created_by: str
    changed_at: float
    changed_by: str
    states: list[ShownState]


class OfModel(msgspec.Struct):
    model: str | None = None
    """Only rules that look at this model: its own and those of its project."""


class ShownOption(msgspec.Struct, kw_only=True):
    name: str
    kind: str
    help: str
    default: Any
    required: bool


class ShownCondition(msgspec.Struct, kw_only=True):
    name: str
    about: str
    title: str
    help: str
    scopes: list[str]
    each_model: bool
    """Whether a rule of a project asks about each model in it, and not about all as one."""
    units: list[str]
    """Of `limit`, the default first; empty if it takes none."""
    default_limit: float | None
    options: list[ShownOption]
    tighter: str | None
    is_silence: bool
    """Whether `for` is required: how long the silence lasts."""
    has_preview: bool


class Conditions(msgspec.Struct):
    items: list[ShownCondition]
    severities: list[str]


async def list_conditions(call: Call) -> Conditions:  # noqa: ARG001 - the same for everybody
    """Everything that a rule can be about."""
    return Conditions(
        [_shown_condition(one) for one in all_conditions.CONDITIONS], list(rule_json.SEVERITIES)
    )


def list_rules(connection: Connection, call: QueryCall[OfModel]) -> Listed[ShownRule]:
    """The rules of a project and of its models, with their states."""
    project_id, model_id = call.path("project"), call.query.model
    members.require(connection, call.actor, project_id, "see")
    if model_id is not None:
        models.get(connection, call.actor, project_id, model_id)
    return Listed(_shown(connection, rules.of_project(connection, project_id, model_id), model_id))


def list_server_rules(connection: Connection, call: Call) -> Listed[ShownRule]:  # noqa: ARG001
    """The rules of the installation."""
    return Listed(_shown(connection, rules.of_installation(connection)))


def add_rule(connection: Connection, call: BodyCall[NewRule]) -> ShownRule:
    """Make a rule about a project, or about one model of it."""
    project_id, model_id = call.path("project"), call.body.model_id
    members.require(connection, call.actor, project_id, "change_models")
    if model_id is not None:
        models.get(connection, call.actor, project_id, model_id)
    value = written(call.body)
    return _one(connection, rules.make(connection, call.actor, project_id, model_id, value))


def add_server_rule(connection: Connection, call: BodyCall[NewRule]) -> ShownRule:
    """Make a rule about everything on the installation."""
    if call.body.model_id is not None:
        raise Invalid("Make rules about a model in its project.", field="model_id")
    value = written(call.body)
    return _one(connection, rules.make(connection, call.actor, None, None, value))


def show_rule(connection: Connection, call: Call) -> ShownRule:
    """A rule with its states."""
    return _one(connection, _permitted(connection, call, "see"))


def change_rule(connection: Connection, call: BodyCall[RuleChange]) -> ShownRule:
    """Change a rule. One that came with the model's version can only be tightened."""
    before = _permitted(connection, call, "change_models")
    value = _changed(before, call.body)
    if before.source == "person":
        return _one(connection, rules.change(connection, call.actor, before, value))
    wanted = rule_json.read(value, before.reach)
    tightening.require_tighter(rule_json.read(before.spec, before.reach), wanted)
    more = tightening.difference(before.spec, wanted.written())
    return _one(connection, rules.override(connection, call.actor, before, more))


def delete_rule(connection: Connection, call: Call) -> Done:
    """Delete a rule; its open incidents are over."""
    by_people.delete(connection, call.actor, _permitted(connection, call, "change_models"))
    return Done()


def mute_rule(connection: Connection, call: BodyCall[Muting]) -> ShownRule:
    """Keep a rule from opening incidents for a while, or let it count again."""
    before, why = _permitted(connection, call, "change_models"), call.body.why.strip()
    if len(why) > LONGEST_WHY:
        raise Invalid(f"`why` may have {LONGEST_WHY:,} characters.", field="why")
    plain_names.require(why, "why")
    return _one(connection, by_people.mute(connection, call.actor, before, call.body.until, why))


async def check_new(call: BodyCall[NewRule]) -> None:
    """Patterns and calendars, which a process of its own knows."""
    reach: Scope = "model" if call.body.model_id else "project"
    if "project" not in call.request.path_params:
        reach = "all"
    await _check(call, rule_json.read(written(call.body), reach))


async def check_preview(call: BodyCall[NewRule]) -> None:
    """A preview reflects everything that was acknowledged before it."""
    await check_new(call)
    await catch_up_all(call)


async def check_change(call: BodyCall[RuleChange]) -> None:
    """The same, of what a rule becomes."""
    before = await call.services.store.read(_permitted, call, "change_models", False)
    await _check(call, rule_json.read(_changed(before, call.body), before.reach))


async def _check(call: Call, rule: Rule) -> None:
    services = call.services
    now = services.store.clock.now()
    await checking.require(services.rules.sources.heavy, [rule], now)


def preview_rule(connection: Connection, call: BodyCall[NewRule]) -> Preview:
    """When a rule would have fired in the last thirty days. Nothing is saved."""
    project_id, model_id = call.path("project"), call.body.model_id
    members.require(connection, call.actor, project_id, "see")
    if model_id is not None:
        models.get(connection, call.actor, project_id, model_id)
    rule = rule_json.read(written(call.body), "model" if model_id else "project")
    now = common_time.now(connection)
    sources = call.services.rules.sources
    return preview.of_rule(connection, sources, rule, project_id, model_id, now)


async def at_once(call: Call) -> None:
    """A new rule is evaluated now, not a second later, and open pages look again."""
    call.services.rules.wake()
    call.services.watchers.wake_readers([announcing.WATCH])


def written(body: msgspec.Struct) -> dict[str, Any]:
    """The rule's own words: without where it belongs, and without what was not sent."""
    fields = msgspec.to_builtins(body)
    return {
        key: one
        for key, one in fields.items()
        if key != "model_id" and (one is not None or isinstance(body, RuleChange))
    }


def _changed(before: StoredRule, said: RuleChange) -> dict[str, Any]:
    value = before.spec | (before.override or {}) | written(said)
    return {key: one for key, one in value.items() if one is not None}


def _permitted(
    connection: Connection, call: Call, right: members.Right, holds: bool = True
) -> StoredRule:
    """The rule, if the caller may; to everybody else it does not exist."""
    found = rules.find(connection, call.path("rule"), to_change=holds and right != "see")
    try:
        if found.project_id is None:
            _require_operator(connection, call)
        else:
            members.require(connection, call.actor, found.project_id, right)
    except NoSuchProject:
        raise NoSuchRule from None
    return found


def _require_operator(connection: Connection, call: Call) -> None:
    try:
        onboarding.require_operator(connection, call.actor)
    except (Forbidden, Unidentified):  # a key is nobody's account
        raise NoSuchRule from None


def _one(connection: Connection, stored: StoredRule) -> ShownRule:
    return _shown(connection, [stored])[0]


def _shown(
    connection: Connection, found: Sequence[StoredRule], model_id: str | None = None
) -> list[ShownRule]:
    states = listing.states_of(connection, [one.id for one in found])
    names = listing.names_of(
        connection, (subject for some in states.values() for subject, _ in some)
    )
    return [
        _shown_rule(
            one,
            [
                ShownState(
                    subject=subject,
                    name=names.get(subject, subject),
                    **{name: getattr(state, name) for name in _OF_STATE},
                )
                for subject, state in states.get(one.id, [])
                if model_id is None or subject in (model_id, one.project_id)
            ],
        )
        for one in found
    ]


_OF_STATE = ("state", "since", "said", "value", "limit", "incident_id")


def _shown_rule(stored: StoredRule, states: list[ShownState]) -> ShownRule:
    spec, trouble = stored.spec | (stored.override or {}), None
    try:
        stored.read()
    except InvalidRule as error:
        trouble = error.message
    return ShownRule(
        rule_id=stored.id,
        project_id=stored.project_id,
        model_id=stored.model_id,
        source=stored.source,
        is_tightened=stored.override is not None,
        name=stored.name,
        when=spec["when"],
        limit=spec.get("limit"),
        unit=spec.get("unit"),
        lasting=spec.get("for"),
        hours=spec.get("hours"),
        severity=spec["severity"],
        do=spec["do"],
        trouble=trouble,
        muted_until=stored.muted_until,
        muted_by=stored.muted_by,
        muted_why=stored.muted_why,
        created_at=stored.created_at,
        created_by=stored.created_by,
        changed_at=stored.changed_at,
        changed_by=stored.changed_by,
        states=states,
    )


def _shown_condition(one: Condition) -> ShownCondition:
    return ShownCondition(
        name=one.name,
        about=one.about,
        title=one.title,
        help=one.help,
        scopes=sorted(one.scopes),
        each_model=one.of_each == "model",
        units=list(one.units),
        default_limit=one.default,
        options=[
            ShownOption(
                name=option.name,
                kind=option.kind,
                help=option.help,
                default=option.default,
                required=option.required,
            )
            for option in one.options
        ],
        tighter=one.tighter,
        is_silence=one.is_silence,
        has_preview=one.preview is not None,
    )
