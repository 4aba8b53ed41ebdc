"""What only the process with the heavy libraries knows of a rule: patterns and calendars."""

from tapeline.watch.conditions import all_conditions
from tapeline.watch.heavy.process import Heavy, NoCalendar
from tapeline.watch.rules.hours import Exchange
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.rule import Rule


def require(heavy: Heavy, rule: Rule, now: float) -> None:
    """In a thread: the first answer may take seconds. Nothing is asked about most rules."""
    for option in all_conditions.BY_NAME[rule.condition].options:
        value = rule.options.get(option.name)
        if option.kind != "pattern" or value is None:
            continue
        if trouble := heavy.trouble_with(value):
            raise InvalidRule(
                f"`when.{option.name}` is not a pattern that can be used: {trouble}.",
                field=f"when.{option.name}",
            )
    if isinstance(rule.hours, Exchange):
        try:
            heavy.sessions(rule.hours.calendar, now)
        except NoCalendar as error:
            raise InvalidRule(f"`hours.calendar`: {error}", field="hours.calendar") from None
