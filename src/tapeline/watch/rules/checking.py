"""What only the process with the heavy libraries knows of a rule: patterns and calendars."""

from collections.abc import Iterable

from tapeline.watch.conditions import all_conditions
from tapeline.watch.heavy.process import Heavy, NoCalendar
from tapeline.watch.rules.hours import Exchange
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.rule import Rule


async def require(heavy: Heavy, rules: Iterable[Rule], now: float) -> None:
    """The first answer may take seconds. Nothing is asked about most rules."""
    if asked := [one for one in rules if _patterns(one) or isinstance(one.hours, Exchange)]:
        await heavy.checks.begin(lambda: _require_all(heavy, asked, now))


def _require_all(heavy: Heavy, rules: Iterable[Rule], now: float) -> None:
    for one in rules:
        _require(heavy, one, now)


def _require(heavy: Heavy, rule: Rule, now: float) -> None:
    for name, pattern in _patterns(rule).items():
        if trouble := heavy.trouble_with(pattern):
            raise InvalidRule(
                f"`when.{name}` is not a pattern that can be used: {trouble}.",
                field=f"when.{name}",
            )
    if isinstance(rule.hours, Exchange):
        try:
            heavy.sessions(rule.hours.calendar, now)
        except NoCalendar as error:
            raise InvalidRule(f"`hours.calendar`: {error}", field="hours.calendar") from None


def _patterns(rule: Rule) -> dict[str, str]:
    """By the name of the option."""
    options = all_conditions.BY_NAME[rule.condition].options
    return {
        one.name: rule.options[one.name]
        for one in options
        if one.kind == "pattern" and rule.options.get(one.name) is not None
    }
