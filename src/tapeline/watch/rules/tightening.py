"""People may tighten what a version expects, and never weaken it: its promises stay promises."""

from typing import Any

from tapeline.watch.conditions import all_conditions
from tapeline.watch.rules.rule import SEVERITIES, Rule
from tapeline.watch.rules.stored import ExpectedByVersion

MAY_CHANGE = ("limit", "for", "severity", "do", "hours")


def require_tighter(expected: Rule, wanted: Rule) -> None:
    """Raise if anything about it is weaker, or is about something else."""
    same = (
        wanted.name == expected.name
        and wanted.condition == expected.condition
        and wanted.options == expected.options
        and wanted.unit == expected.unit
        and (wanted.hours is None or wanted.hours == expected.hours)
    )
    if not same:
        raise ExpectedByVersion(
            "This rule comes with the model's version. Only its limit, `for`, severity and actions"
            " can be tightened here."
        )
    checks = {
        "limit": _is_limit_tighter(expected, wanted),
        "for": wanted.lasting <= expected.lasting,
        "severity": SEVERITIES.index(wanted.severity) >= SEVERITIES.index(expected.severity),
        "do": set(expected.do) <= set(wanted.do),
    }
    for key, is_tighter in checks.items():
        if not is_tighter:
            raise ExpectedByVersion(
                f"This would weaken `{key}` of a rule that comes with the model's version. Deploy a"
                " version that expects less, or mute the rule.",
                field=key,
            )


def difference(expected: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept beside the version's own words; None if they are the same."""
    found = {key: wanted.get(key) for key in MAY_CHANGE if wanted.get(key) != expected.get(key)}
    return found or None


def _is_limit_tighter(expected: Rule, wanted: Rule) -> bool:
    if wanted.limit == expected.limit:
        return True
    if wanted.limit is None or expected.limit is None:
        return False
    match all_conditions.BY_NAME[expected.condition].tighter:
        case "lower":
            return wanted.limit < expected.limit
        case "higher":
            return wanted.limit > expected.limit
        case _:
            return False
