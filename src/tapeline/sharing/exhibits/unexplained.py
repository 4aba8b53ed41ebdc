"""What reported orders and cash leave unexplained of an account's value, as a link shows it."""

import numpy as np

from tapeline.results.metrics.account import Floats, Lacking
from tapeline.results.performance.evidence import Evidence
from tapeline.results.performance.performance import differences
from tapeline.sharing.exhibits.answers import SharedUnexplained
from tapeline.sharing.exhibits.finite import finite
from tapeline.sharing.links.choices import Choices
from tapeline.tape.backtest_results.series import thinned

DETAIL = 200  # points of the difference over time


def unexplained(
    said: tuple[Floats, Floats], evidence: Evidence, choices: Choices
) -> SharedUnexplained | None:
    """`said`: times and values as the exchange said them. An amount in a named currency is a
    quantity of an asset: where sizes are hidden, the difference is a share."""
    times, values = said
    if not len(times):
        return None
    try:
        found = differences(evidence.line(), said)
    except Lacking:
        return None
    is_money = choices.shows_sizes
    if not is_money:
        with np.errstate(all="ignore"):
            found = np.where(values != 0, found / np.abs(values), np.nan)
    if not len(found) or not np.isfinite(found[-1]):
        return None
    return SharedUnexplained(
        unit="money" if is_money else "percent",
        time=float(times[-1]),
        difference=float(found[-1]),
        reported=finite(float(values[-1])) if is_money else None,
        items=thinned(times, np.where(np.isfinite(found), found, np.nan), DETAIL),
    )
