"""The part of a shared page that compares a record with buying and holding what it traded."""

from typing import Any

from tapeline import figures
from tapeline.results.backtests.tear_sheet import written
from tapeline.sharing.exhibits.answers import SharedBenchmark
from tapeline.sharing.pages import chart
from tapeline.tape.backtest_results.series import Point

NAMED = 4  # symbols; of more, only the number
HUNDRED = 100.0


def facts(found: SharedBenchmark | None) -> dict[str, Any] | None:
    """None if it is hidden, or if there is nothing to compare."""
    if found is None or found.reason is not None:
        return None
    ours, theirs = _rebased(found.account), _rebased(found.items)
    drawn = chart.draw(
        ours,
        "percent",
        title="Returns beside buying and holding",
        kind="curve",
        beside=theirs,
    )
    if drawn is None:
        return None
    return {
        "drawn": drawn,
        "held": f"{_names(found.symbols)} bought once and held",
        "without_price": found.without_price,
        "summary": (
            f"The account ends at {_last(ours)} % of its first value, the symbols that it traded"
            f" at {_last(theirs)} %."
        ),
        "metrics": [
            (one.display_name, written(one.value, one.type, ""), one.explanation)
            for one in found.metrics.values()
            if one.value is not None
        ],
    }


def _rebased(items: list[Point]) -> list[Point]:
    """Returns as a curve that begins at 100."""
    return [
        Point(one.time, None if one.value is None else (1 + one.value) * HUNDRED) for one in items
    ]


def _names(symbols: list[str]) -> str:
    if len(symbols) > NAMED:
        return f"equal parts of {len(symbols)} symbols,"
    return symbols[0] if len(symbols) == 1 else f"equal parts of {', '.join(symbols)},"


def _last(items: list[Point]) -> str:
    return figures.hundredths(items[-1].value or 0.0)
