"""A rule: {name, when, limit?, unit?, for?, hours?, severity, do}. Every error names the key."""

import math
from typing import Any, Literal, get_args

import msgspec

from tapeline.watch.conditions import all_conditions, durations
from tapeline.watch.conditions.condition import Condition, Option, Scope
from tapeline.watch.rules import actions, hours
from tapeline.watch.rules.actions import Action
from tapeline.watch.rules.hours import Exchange, Hours
from tapeline.watch.rules.invalid import InvalidRule, a_text, only, unknown, wrong

KEYS = ("name", "when", "limit", "unit", "for", "hours", "severity", "do")
Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
LONGEST_NAME, LONGEST_OPTION = 100, 200


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    condition: str
    options: dict[str, Any] = {}
    """Durations are seconds. Options that were left out have their defaults."""
    limit: float | None = None
    unit: str | None = None
    lasting: float = 0.0
    """`for`, in seconds."""
    hours: Hours | Exchange | None = None
    severity: Severity = "warning"
    do: tuple[Action, ...] = (actions.TELL,)

    def written(self) -> dict[str, Any]:
        """The JSON, which `read` takes back."""
        kinds = {one.name: one for one in all_conditions.BY_NAME[self.condition].options}
        options = {
            name: durations.written(value) if kinds[name].kind == "duration" else value
            for name, value in self.options.items()
        }
        shown: dict[str, Any] = {
            "name": self.name,
            "when": {"condition": self.condition, **options} if options else self.condition,
        }
        if self.limit is not None:
            shown |= {"limit": self.limit, "unit": self.unit}
        if self.lasting:
            shown["for"] = durations.written(self.lasting)
        if self.hours is not None:
            shown["hours"] = self.hours.written()
        return shown | {"severity": self.severity, "do": [one.written() for one in self.do]}


def read(value: object, scope: Scope) -> Rule:
    """Check a rule about one model, about a project or about all of them."""
    if not isinstance(value, dict):
        raise InvalidRule("A rule must be a JSON object with at least `name` and `when`.")
    only("rule", value, KEYS)
    condition, options = _when(value.get("when"), scope)
    limit, unit = _limit(value, condition)
    return Rule(
        name=a_text("name", value.get("name"), LONGEST_NAME),
        condition=condition.name,
        options=options,
        limit=limit,
        unit=unit,
        lasting=_lasting(value, condition),
        hours=None if value.get("hours") is None else hours.read_any(value["hours"]),
        severity=_severity(value.get("severity", "warning")),
        do=_do(value.get("do"), condition, scope),
    )


def _when(value: object, scope: Scope) -> tuple[Condition, dict[str, Any]]:
    given: dict[str, Any] = {}
    if isinstance(value, dict):
        given = {key: one for key, one in value.items() if key != "condition"}
        value = value.get("condition")
    if not isinstance(value, str):
        raise wrong("when", "must be the name of a condition, or an object with `condition`")
    condition = all_conditions.BY_NAME.get(value)
    if condition is None:
        raise unknown("when", value, all_conditions.BY_NAME)
    if scope not in condition.scopes:
        where = " or ".join(sorted(condition.scopes))
        raise wrong("when", f"is {condition.name}, which is for rules about {where} alone")
    known = {one.name: one for one in condition.options}
    if not known and given:
        raise wrong("when", f"is {condition.name}, which takes no options")
    only("when", given, known)
    read_ = {name: _option(one, given.get(name)) for name, one in known.items()}
    return condition, {name: one for name, one in read_.items() if one is not None}


def _option(option: Option, value: object) -> Any:
    key = f"when.{option.name}"
    if value is None:
        if option.required:
            raise wrong(key, f"is required: {option.help}")
        value = option.default
    if value is None:
        return None
    if option.kind == "duration":
        seconds = durations.read(value)
        if not seconds:
            raise wrong(key, 'must be a length of time, such as "10m"')
        return seconds
    return a_text(key, value, LONGEST_OPTION)


def _limit(value: dict[str, Any], condition: Condition) -> tuple[float | None, str | None]:
    limit, unit = value.get("limit"), value.get("unit")
    if not condition.units:
        if limit is not None or unit is not None:
            key = "limit" if limit is not None else "unit"
            raise wrong(key, f"is not for {condition.name}, which takes no limit")
        return None, None
    if limit is None:
        limit = condition.default
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        raise wrong("limit", f"must be a number, in {' or '.join(condition.units)}")
    if limit < 0 and condition.smallest != "any":
        raise wrong("limit", "must not be negative: a fall or a loss is written without a minus")
    if limit == 0 and condition.smallest == "more than zero":
        raise wrong("limit", "must be more than 0, which is always reached")
    if unit is None:
        unit = condition.units[0]
    if unit not in condition.units:
        raise unknown("unit", unit, condition.units)
    return float(limit), unit


def _lasting(value: dict[str, Any], condition: Condition) -> float:
    written = value.get("for")
    if written is None and not condition.is_silence:
        return 0.0
    seconds = durations.read(written)
    if seconds is None:
        raise wrong("for", 'must be a length of time, such as 90, "90s", "10m", "2h" or "1d"')
    if condition.is_silence and not seconds:
        raise wrong("for", "is how long the silence lasts, and must be more than 0")
    return seconds


def _severity(value: object) -> Severity:
    if value not in SEVERITIES:
        raise unknown("severity", value, SEVERITIES)
    return value


def _do(value: object, condition: Condition, scope: Scope) -> tuple[Action, ...]:
    do = (actions.TELL,) if value is None else actions.read(value)
    words = {one.what for one in do}
    is_of_model = scope == "model" or condition.of_each == "model"
    if "stop" in words and not is_of_model:
        raise wrong("do", "has stop, but this rule is about no single model; use halt")
    if "halt" in words and scope == "all" and not is_of_model:
        raise wrong("do", "has halt, but this rule is about no single project")
    return do
