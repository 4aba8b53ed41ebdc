"""All metrics, in reading order, and their computation."""

from collections.abc import Iterable, Mapping
from typing import Any

from tapeline.results.metrics.metric import Metric, Subject, described, measure
from tapeline.results.metrics.of_returns import RETURNS
from tapeline.results.metrics.of_risk import RISK
from tapeline.results.metrics.of_trades import TRADING
from tapeline.results.metrics.report_fields import Measured, Shown

GROUPS: dict[str, tuple[Metric[Subject], ...]] = {
    "Return": RETURNS,
    "Risk": RISK,
    "Trading": TRADING,
}
BY_NAME = {metric.name: metric for rows in GROUPS.values() for metric in rows}
HIGHER_IS_WORSE = frozenset(
    {
        "volatility",
        "ulcer_index",
        "max_drawdown_days",
        "longest_drawdown_days",
        "average_drawdown_days",
        "longest_losing_streak",
        "longest_losing_trades",
        "fees",
        "outlier_loss_ratio",
    }
)
NEITHER = frozenset(
    {
        "max_drawdown_start",
        "max_drawdown_valley",
        "max_drawdown_end",
        "trades",
        "trades_per_day",
        "round_trips",
        "average_holding_days",
        "exposure",
        "exposure_days",
        "turnover",
        "turnover_yearly",
        "kurtosis",
    }
)
"""Metrics for which more is neither better nor worse."""


def compute(subject: Subject) -> dict[str, Measured]:
    return {metric.name: measure(metric, subject) for metric in BY_NAME.values()}


def of_groups(names: Iterable[str], subject: Subject) -> dict[str, Shown]:
    """Those of some groups, computed and described."""
    rows = [metric for name in names for metric in GROUPS[name]]
    return described(rows, {metric.name: measure(metric, subject) for metric in rows})


def shown(found: Mapping[str, Measured]) -> dict[str, Shown]:
    return described(BY_NAME.values(), found)


def nothing(reason: str) -> dict[str, Shown]:
    """All of them without a value, for one reason."""
    return shown(dict.fromkeys(BY_NAME, Measured(None, reason)))


def custom(sent: Any) -> dict[str, Any]:
    """The model's own metrics in the same shape, with defaults for what it left out."""
    if not isinstance(sent, dict):
        return {}
    return {
        name: {
            "value": None,
            "display_name": name,
            "type": "number",
            **(one if isinstance(one, dict) else {"value": one}),
        }
        for name, one in sent.items()
    }
