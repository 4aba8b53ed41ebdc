"""Sums that overflow: a model that reports absurd numbers cannot blind the rules about it."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tapeline.results.performance.standing import Fall, Gained, Standing
from tapeline.watch.conditions.all_conditions import BY_NAME
from tapeline.watch.conditions.behaviour_previews import LEAST
from tapeline.watch.conditions.condition import Finding, Question
from tapeline.watch.facts.certificates import Certificate
from tapeline.watch.facts.fact import Asked
from tapeline.watch.facts.of_arrivals import Arrivals, Late
from tapeline.watch.facts.of_exposure import Exposure, Holds
from tapeline.watch.facts.of_installation import Room
from tapeline.watch.facts.of_money import Money, Reported
from tapeline.watch.facts.of_orders import Filled, Fills, Orders, Placed
from tapeline.watch.facts.resource_use import Use
from tapeline.watch.incidents.deciding import RuleState, Terms, decide
from tapeline.watch.rules.hours import ALWAYS
from tests.pushing import Model
from tests.watch.conditions.asking import Watcher, cash, fund, order, trade

NOW = 1_800_000_000.0
NUMBERS = (math.inf, -math.inf, math.nan, 1e308, -1e308)
Facts = dict[str, Any]


def _money(value: float, share: float | None = None) -> Facts:
    share = value if share is None else share
    standing = Standing(
        currency="USD", at=NOW, value=value, profit=value, gained=Gained(value, share),
        fall=Fall(value, share, NOW), day=Gained(-value, -share), week=Gained(-value, -share),
        as_of=NOW,
    )  # fmt: skip
    return {"money": Money(standing=standing, reported=Reported(NOW, 100.0, value))}


def _reported(value: float) -> Facts:
    return {"reported_money": _money(value)["money"]}


def _exposure(value: float) -> Facts:
    holds = [
        Holds(symbol="BTC-USD", currency="USD", size=value, value=value),
        Holds(symbol="ETH-USD", currency="USD", size=1.0, value=1.0),
    ]
    found = Exposure(currency="USD", gross=abs(value), net=value, positions=holds)
    return {"exposure": found} | _money(100.0)


def _placed(number: int = 0, time: float = NOW - 1) -> Placed:
    return Placed(f"o{number}", "BTC-USD", time, time, "rejected", 100.0, False)


def _fee(value: float) -> Facts:
    return {"fills": Fills([Filled(_placed(), 100.0, 100.0, value)], False)}


def _slipped(value: float) -> Facts:
    return {"fills": Fills([Filled(_placed(), 100.0, value, 0.0)], False)}


def _late(value: float) -> Facts:
    return {"arrivals": Arrivals([Late(NOW - 1, value, "cash")], False, 60.0)}


def _room(value: float) -> Room:
    return Room(value, 100, None)  # type: ignore[arg-type]  # as measured, whatever it was


def _use(value: float) -> Facts:
    return {"resource_use": Use(NOW, value, 100, value, 100)}  # type: ignore[arg-type]


def _ends(value: float) -> Facts:
    return {"certificate": Certificate(ends_at=value, host="example.com")}


READ: dict[str, Callable[[float], Facts]] = {
    "drawdown": _money, "loss-of-day": _money, "loss-of-week": _money, "profit-target": _money,
    "account-below": _money, "account-unexplained": _reported,
    "position-size": _exposure, "position-value": _exposure, "gross-exposure": _exposure,
    "net-exposure": _exposure, "fee-share": _fee, "slippage": _slipped, "late-reports": _late,
    "disk": lambda value: {"disk": _room(value)}, "quota": lambda value: {"quota": _room(value)},
    "memory-near": _use, "disk-near": _use, "certificate": _ends,
    "no-event": lambda value: {"last_event": value},
    "no-order": lambda value: {"last_order": value},
    "no-log": lambda value: {"last_log": value},
    "no-bar": lambda value: {"last_bar": value},
    "no-heartbeat": lambda value: {"heartbeats": {"": value}},
}  # fmt: skip
COUNTED = {
    "orders-per-minute", "rejected-share", "cancelled-share", "log-line", "open-orders",
    "restarting",
}  # fmt: skip
"""Conditions that count what happened: there is no number in it that a model wrote."""
NO_NUMBER = {
    "not-running", "crashed", "given-up", "out-of-memory", "schedule-missed", "backtest-done",
    "backtest-failed", "host-unwell", "new-sign-in", "key-new-address",
}  # fmt: skip
BOTH_SIDES = {
    "position-size", "position-value", "gross-exposure", "net-exposure", "account-unexplained",
}  # fmt: skip
"""A short position is as large as a long one."""
LESS_IS_WORSE = {"account-below", "certificate"}
NO_SIDE = {"late-reports", "no-event", "no-order", "no-log", "no-bar", "no-heartbeat"}
"""What is read is a moment or a length that decides nothing by its size."""

CASES = [
    (name, unit, number)
    for name in READ
    for unit in BY_NAME[name].units or (None,)
    for number in NUMBERS
]


def _ask(name: str, unit: str | None, facts: Facts, **more: Any) -> Finding:
    asked = Asked(
        rule_id="r1", limit=5.0, unit=unit, lasting=60.0, options={"within": 3600.0}, **more
    )
    return BY_NAME[name].find(Question(asked, facts, NOW))


def test_every_condition_is_tried_or_reads_no_such_number() -> None:
    assert READ.keys() | COUNTED | NO_NUMBER == BY_NAME.keys()


@pytest.mark.parametrize(("name", "unit", "number"), CASES)
def test_an_absurd_number_never_makes_a_rule_silent(
    name: str, unit: str | None, number: float
) -> None:
    found = _ask(name, unit, READ[name](number))
    assert len(found.said) < 300
    assert found.value is None or not math.isnan(found.value)
    if math.isnan(number) and name not in NO_SIDE:
        assert found.holds is None
    elif math.isnan(number):
        assert found.holds is not False or name == "late-reports"
    elif name not in NO_SIDE:
        is_worse = number < 0 if name in LESS_IS_WORSE else number > 0
        assert found.holds is (is_worse or name in BOTH_SIDES)


@pytest.mark.parametrize(("name", "unit", "number"), CASES)
def test_what_cannot_be_computed_resolves_nothing(
    name: str, unit: str | None, number: float
) -> None:
    firing = RuleState(state="firing", since=NOW - 9, held_since=NOW - 9, incident_id="i1")
    finding = _ask(name, unit, READ[name](number))
    terms = Terms(lasting=0.0, window=ALWAYS, muted_until=None, revision=1)
    decided = decide(firing, finding, terms, NOW)
    if finding.holds is None:
        assert (decided.happened, decided.after.incident_id) == (None, "i1")
    assert not (math.isnan(number) and decided.happened == "resolved" and name != "late-reports")


def test_a_share_of_what_overflowed_is_unknown_and_not_small() -> None:
    placed = [_placed(number) for number in range(LEAST)]
    fills = Fills([Filled(placed[0], math.inf, 1e200, 1e308)], False)
    assert _ask("fee-share", "percent", {"fills": fills}).holds is None
    assert _ask("slippage", "percent", {"fills": fills}).holds is None
    rich = _exposure(100.0) | _money(math.inf)
    assert _ask("gross-exposure", "percent", rich).holds is None
    assert _ask("gross-exposure", "percent", _exposure(1.7e308) | _money(1.7e308)).holds is True
    assert _ask("open-orders", "count", {"newest_orders": Orders(placed, False)}).holds is False


def test_one_position_that_cannot_be_computed_hides_no_other() -> None:
    absurd = Holds(symbol="A-USD", currency="USD", size=math.nan, value=math.nan)
    large = Holds(symbol="B-USD", currency="USD", size=math.inf, value=math.inf)
    small = Holds(symbol="C-USD", currency="USD", size=1.0, value=1.0)
    for name, unit in (("position-size", "count"), ("position-value", "money")):
        for some in ([absurd, large, small], [small, large, absurd]):
            assert _ask(name, unit, {"exposure": Exposure(positions=some)}).holds is True
        for some in ([absurd, small], [small, absurd]):
            assert _ask(name, unit, {"exposure": Exposure(positions=some)}).holds is None


def test_orders_that_overflow_fire_what_they_are_beyond(
    model: Model, watcher: Watcher, now: float
) -> None:
    """Over the wire: which figures overflow is known there only."""
    fund(model, 1_000)
    trade(model, now - 60, order(1, 100, size=10, fee=500))
    trade(model, now - 50, order(2, 1e200, symbol="B-USD", size=1e200))
    for name in ("gross-exposure", "net-exposure", "position-value"):
        for unit in ("money", "percent"):
            assert watcher.of_model(model, name, limit=500, unit=unit).holds is True, (name, unit)
    assert watcher.of_project(model, "gross-exposure", limit=500).holds is not False
    assert watcher.of_model(model, "fee-share", limit=5).holds is None
    trade(model, now - 40, order(3, 1e-300, symbol="B-USD", side="sell", size=1e200))
    for name in ("drawdown", "loss-of-day", "account-below"):
        assert watcher.of_model(model, name, limit=5, unit="money").holds is True, name
    assert watcher.of_model(model, "drawdown", limit=5, unit="percent").holds is not False


def test_what_a_rule_would_have_done_is_said_of_absurd_orders_too(
    model: Model, watcher: Watcher, now: float
) -> None:
    fund(model, 1_000)
    for number in range(3):
        cash(model, now - 90 + number, "interest", 1e308)
    trade(model, now - 60, order(1, 1e-5, size=1e200, fee=1e308))
    trade(model, now - 50, order(2, 1e200, side="sell", size=1e200, fee=1e308, price=1e-300))
    model.push("/v1/live/account-value", {"value": -1e308})
    for name, condition in BY_NAME.items():
        if condition.about in {"money", "exposure", "behaviour"} and condition.units:
            for unit in condition.units:
                watcher.of_model(model, name, limit=5, unit=unit)
                if condition.preview is not None:
                    watcher.preview(model, name, limit=5, unit=unit)
