"""What a link shows beside buying and holding the symbols that were traded.

Only prices that the link shows are used: those of its fills and marks. Bars are never shown, and so
anyone can compute the comparison again from the record.
"""

from collections.abc import Callable

from tapeline.errors import NotShared
from tapeline.results.charts.daily_prices import Prices
from tapeline.results.metrics.account import Account, Lacking
from tapeline.results.performance import buy_and_hold
from tapeline.results.performance.answers import BUY_AND_HOLD, ShownBenchmark
from tapeline.results.performance.symbol_prices import MARKS, Known
from tapeline.sharing.exhibits.answers import SharedBenchmark
from tapeline.sharing.links.choices import Choices

Span = tuple[int, int]
"""The first and the last day of an account."""
Find = Callable[[Span], dict[str, Prices]]


def beside(account: Account, find: Find, choices: Choices, points: int) -> SharedBenchmark:
    """`find`: the prices of each traded symbol within a span. The curve of a symbol gives away
    which one it is, so where symbols are hidden there is no comparison at all."""
    if not choices.shows_prices:
        raise NotShared
    try:
        days = account.days
        found = find((int(days[0]), int(days[-1])))
    except Lacking as lacking:
        return _shown(ShownBenchmark(name=BUY_AND_HOLD, reason=lacking.reason))
    known = {name: Known(one, [MARKS] if len(one.days) else []) for name, one in found.items()}
    return _shown(buy_and_hold.beside(account, BUY_AND_HOLD, known, points))


def _shown(found: ShownBenchmark) -> SharedBenchmark:
    return SharedBenchmark(
        symbols=found.symbols,
        without_price=found.without_price,
        items=found.items,
        account=found.account,
        metrics=found.metrics,
        reason=found.reason,
    )
