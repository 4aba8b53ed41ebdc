"""Rates of a project's currencies on each day, and the newest: marks that its models reported."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from tapeline.fair_threads import checkpoint
from tapeline.results.charts.daily_prices import daily_prices
from tapeline.results.metrics.account import DAY, Floats, Integers
from tapeline.results.pnl import stored_rates
from tapeline.results.pnl.together import UsedRate, used_rate
from tapeline.results.rules.days import day_of
from tapeline.results.rules.position import ONE, number
from tapeline.results.rules.rates import Rate
from tapeline.results.rules.symbols import pair


class Newest(NamedTuple):
    rate: Rate
    model_id: str


class Marks(NamedTuple):
    """Reported rates in the order of their times."""

    times: Floats
    factors: Floats


class Rates:
    """Into one currency: each rate is looked up once in a request."""

    def __init__(self, connection: Connection, quote: str, tapes: Mapping[str, int]) -> None:
        """`tapes`: one tape of each project."""
        self.quote = quote
        self._connection = connection
        self._tapes = tapes
        self._newest: dict[tuple[str, str], Newest | None] = {}
        self._marks: dict[tuple[str, str], Marks] = {}

    def newest(self, project: str, currency: str) -> Rate | None:
        """That the project has; one to one where nothing is to convert."""
        if currency == self.quote:
            return Rate(f"{currency}-{currency}", ONE, 0.0)
        if (project, currency) not in self._newest:
            found = stored_rates.in_project(
                self._connection, self._tapes[project], currency, self.quote
            )
            known = None if found is None else Newest(found[1], found[0])
            self._newest[project, currency] = known
        one = self._newest[project, currency]
        return None if one is None else one.rate

    def converter(self, project: str) -> Callable[[Decimal, str], Decimal | None]:
        def convert(amount: Decimal, currency: str) -> Decimal | None:
            if currency == self.quote:
                return amount
            rate = self.newest(project, currency)
            return None if rate is None else rate.converted(amount, currency)

        return convert

    def read(self, project: str, currency: str, first: int, last: int) -> Integers:
        """Read what `by_day` needs from one day to another; the days on which a rate changed."""
        if currency == self.quote:
            return np.empty(0, dtype="i8")
        if (project, currency) not in self._marks:
            found = _marks(self._connection, project, currency, self.quote, first, last)
            self._marks[project, currency] = found
        days = np.floor_divide(self._marks[project, currency].times, DAY).astype("i8")
        return np.asarray(days[days >= first])

    def by_day(self, project: str, currency: str, days: Integers) -> Floats:
        """What one unit of a currency was worth at the close of each day, by the newest mark until
        then; NaN before the first."""
        if currency == self.quote:
            return np.ones(len(days))
        times, factors = self._marks[project, currency]
        places = np.searchsorted(times, (days + 1) * DAY, side="left")
        found = np.concatenate([[np.nan], factors])[places]
        rate = self.newest(project, currency)
        if rate is not None:  # also where it is dated in the future
            found[-1] = number(rate.converted(ONE, currency))
        return found

    def used(self) -> list[UsedRate]:
        return [
            used_rate(currency, one.model_id, one.rate)
            for (_, currency), one in sorted(self._newest.items())
            if one is not None
        ]


def _marks(
    connection: Connection, project: str, currency: str, quote: str, first: int, last: int
) -> Marks:
    """The last of each day of each book, and the last before all of these days."""
    times, factors = [np.empty(0)], [np.empty(0)]
    for row in stored_rates.books_with_rates(connection, project, currency, quote):
        checkpoint()  # there may be one for each model, and the client may have left
        until = min(last, day_of(row.marked_at))
        prices = daily_prices(connection, row.tape, row.book, first, until, is_rate=True)
        earlier = stored_rates.newest_mark(connection, row.tape, row.book, (first * DAY, 0))
        before = [] if earlier is None else [earlier]
        closes = np.concatenate([[number(one.price) for one in before], prices.closes])
        times += [np.array([one.key[0] for one in before]), prices.times]
        factors.append(closes if pair(row.symbol)[0] == currency else 1.0 / closes)
    at, factor = np.concatenate(times), np.concatenate(factors)
    order = np.argsort(at, kind="stable")
    return Marks(at[order], factor[order])
