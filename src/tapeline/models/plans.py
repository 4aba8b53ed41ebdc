"""Plans: how much memory and processor a run gets. They are configuration."""

from typing import Literal, get_args

import msgspec

from tapeline.errors import Invalid, UnknownPlan
from tapeline.settings import Settings

Use = Literal["live", "backtesting"]
DEFAULT = "nano"


class Plan(msgspec.Struct, frozen=True):
    name: str
    memory_mb: int
    cpu_milli: int


def offered(settings: Settings, use: Use) -> dict[str, Plan]:
    """The plans for a use, in the operator's order."""
    live = _read(settings.plans)
    return live if use == "live" else live | _read(settings.backtest_plans)


def checked_use(text: str) -> Use:
    uses: tuple[Use, ...] = get_args(Use)
    for use in uses:
        if text == use:
            return use
    raise Invalid(f"`type` is {text!r}; it must be live or backtesting.", field="type")


def chosen(plans: dict[str, Plan], name: str) -> Plan:
    if name not in plans:
        raise UnknownPlan(f"There is no plan {name!r} for this. Available: {', '.join(plans)}.")
    return plans[name]


def default(plans: dict[str, Plan]) -> Plan:
    """`nano`, or the first plan if the operator has no `nano`."""
    return plans.get(DEFAULT) or next(iter(plans.values()))


def larger(plans: dict[str, Plan], memory_mb: int) -> Plan | None:
    """The next plan with more memory."""
    more = [one for one in plans.values() if one.memory_mb > memory_mb]
    return min(more, key=lambda one: one.memory_mb, default=None)


def _read(text: str) -> dict[str, Plan]:
    """The settings have checked the text already."""
    found = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, size = part.partition("=")
        memory, _, cpu = size.partition("/")
        found[name.strip()] = Plan(name.strip(), int(memory), int(cpu))
    return found
