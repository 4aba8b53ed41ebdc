"""What the demo is made of: its models, their versions and their backtests."""

from dataclasses import dataclass
from typing import Any

from tapeline.models.models import ModelType


@dataclass(frozen=True)
class Edit:
    """One version: what its author says, and where its source differs from the starter's."""

    note: str
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Part:
    starter: str
    title: str
    type: ModelType
    about: str
    versions: tuple[Edit, ...]
    """The last one goes live."""
    schedule: str | None = None
    backtests: tuple[tuple[str, int, dict[str, Any]], ...] = ()
    """What each tests, the version's place in the list, and its arguments."""


TRADES = "Part of the demo. Its market is simulated, as is the half year before its first start."
RULES = "TREND, SPREAD = 0.4, 0.6"
SPREAD = Part(
    "trend-and-spread",
    "Spread alone (demo)",
    "strategy",
    TRADES,
    (
        Edit(
            "The spread between both coins, market neutral", ((RULES, "TREND, SPREAD = 0.0, 1.2"),)
        ),
    ),
)
STRATEGY = Part(
    "trend-and-spread",
    "Trend and spread (demo)",
    "strategy",
    TRADES,
    (
        Edit(
            "Follows the trend, long only",
            ((RULES, "TREND, SPREAD = 0.8, 0.0"), ("SHORTS = True", "SHORTS = False")),
        ),
        Edit("Goes short, too", ((RULES, "TREND, SPREAD = 0.8, 0.0"),)),
        Edit("Half of the trend, and the spread beside it"),
    ),
    backtests=(
        ("Trend, long only", 0, {}),
        ("Trend, long and short", 1, {}),
        ("Trend and spread", 2, {}),
        ("Trend and spread, faster averages", 2, {"fast": 24, "slow": 96}),
        ("Trend and spread, slower averages", 2, {"fast": 96, "slow": 384}),
    ),
)
SCREENER = Part(
    "momentum-screener",
    "Momentum screener (demo)",
    "screener",
    "Part of the demo. Its prices are simulated.",
    (Edit("As it comes with Tapeline"),),
    # A person who tries the demo does not wait for a quarter of an hour.
    schedule="* * * * *",
)
PARTS = (SCREENER, SPREAD, STRATEGY)  # the newest is listed first

WATCHED: tuple[dict[str, Any], ...] = (
    {
        "name": "Reported late (demo)",
        "when": {"condition": "late-reports", "within": "15s"},
        "limit": 0,
        "severity": "info",
    },
    {"name": "Not running (demo)", "when": "not-running"},
    {"name": "Silent (demo)", "when": "no-event", "for": "10m", "severity": "critical"},
    {"name": "Restarting (demo)", "when": {"condition": "restarting", "within": "1h"}, "limit": 3},
)
"""Rules of the project. The first one fires when the demo begins, because its models bring in half
a year that is long over, and is over some seconds later."""
