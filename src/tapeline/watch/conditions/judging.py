"""What conditions with a limit have in common: a figure beside its limit, in one sentence."""

import math
from typing import Any

from tapeline import figures
from tapeline.results.rules.symbols import currency_of
from tapeline.watch.conditions import durations
from tapeline.watch.conditions.condition import Finding
from tapeline.watch.facts.fact import Asked

DAY = 86_400.0
MONDAY = 4 * DAY  # 1970 began on a Thursday
NOTHING_YET = "It has not reported anything yet."
TOO_LARGE = "A number that this needs is too large to compute."
WITHIN_HELP = "The window that counts, up to now."


# Doubles come out a little beside what paper would say: 9.999999999999998 % has reached 10 %.
SLACK = 1e-9


def slack(limit: float) -> float:
    return SLACK * max(1.0, abs(limit))


def unknown(why: str | None, *, again_in: float | None = None, now: float = 0.0) -> Finding:
    look_again = None if again_in is None else now + again_in
    return Finding(holds=None, said=why or NOTHING_YET, look_again=look_again)


def reached(asked: Asked, value: float, said: str, **more: Any) -> Finding:
    """At the limit, or beyond it."""
    holds = asked.limit is not None and value >= asked.limit - slack(asked.limit)
    return _judged(asked, value, holds, said, **more)


def exceeded(asked: Asked, value: float, said: str, **more: Any) -> Finding:
    """Beyond the limit: so much itself is allowed."""
    holds = asked.limit is not None and value > asked.limit + slack(asked.limit)
    return _judged(asked, value, holds, said, **more)


def below(asked: Asked, value: float, said: str, **more: Any) -> Finding:
    """Less than the limit: so much itself is enough."""
    holds = asked.limit is not None and value < asked.limit - slack(asked.limit)
    return _judged(asked, value, holds, said, **more)


def _judged(asked: Asked, value: float, holds: bool, said: str, **more: Any) -> Finding:
    """Every figure beside its limit comes by here. An infinite one is beyond any limit. What is no
    number compares as false with everything, which must not mean that all is well: a model could
    silence the rules about it with numbers that overflow."""
    if math.isnan(value):
        return Finding(holds=None, said=TOO_LARGE, look_again=more.get("look_again"))
    return Finding(holds=holds, said=said, value=value, limit=asked.limit, **more)


def percent_of(part: float, whole: float) -> float:
    """No number where the whole overflowed: a part of that is not small, it is not known."""
    return 100 * (part / whole) if math.isfinite(whole) else math.nan


def magnitude(value: float) -> tuple[int, float]:
    """To find the largest: what is no number may be it, and an infinite one certainly is."""
    if math.isnan(value):
        return 1, 0.0
    return 2 if math.isinf(value) else 0, abs(value)


def within(asked: Asked) -> float:
    return float(asked.options.get("within", 0.0))


def in_words(asked: Asked) -> str:
    return durations.in_words(within(asked))


def amount(value: float | None, unit: str | None, currency: str | None) -> str:
    """In the unit of a rule."""
    if value is None:
        return ""
    if unit == "percent":
        return figures.percent(value / 100)
    if unit == "money":
        return figures.money(value, currency)
    return figures.quantity(value)


def happened(
    asked: Asked, at: float | None, said: str, quiet: str, now: float, **more: Any
) -> Finding:
    """Of what happens at a moment: it holds for the window after that."""
    window = within(asked)
    if at is None or now - at >= window:
        return Finding(holds=False, said=quiet, **more)
    return Finding(holds=True, said=said, since=at, look_again=at + window, **more)


def spelled(symbol: str) -> str:
    """One name for `BTC/USD` and `BTC-USD`."""
    return symbol.replace("/", "-").upper() if currency_of(symbol) else symbol.upper()
