"""What a portfolio needs to know of one model: its books by day and currency, and as they stand."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import msgspec
import numpy as np

from tapeline.results.charts import running
from tapeline.results.metrics.account import DAY, Floats, Integers
from tapeline.results.performance import flows
from tapeline.results.performance.evidence import OFF, Kept, steps_in, without_account
from tapeline.results.performance.flows import Flow, Funded, Source
from tapeline.results.pnl import summary
from tapeline.results.pnl.account import Capital
from tapeline.results.pnl.books import Book, Totals
from tapeline.results.pnl.summary import NotComputed, Own
from tapeline.results.rules.position import FLOWS, ZERO, exact
from tapeline.results.rules.words import decimal


class Daily(NamedTuple):
    """Profit and loss in one currency at the close of each day that changed it."""

    days: Integers
    """Since 1970, rising."""
    profits: Floats


class Flowed(NamedTuple):
    """Deposits and withdrawals in one currency by day, but for the one that is the capital."""

    days: Integers
    came: Floats
    went: Floats
    """Negative."""


class Held(NamedTuple):
    """A position as it stands."""

    symbol: str
    currency: str
    value: Decimal
    priced_at: float | None


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    own: str
    """The model's own currency."""
    capital: Capital | None
    capital_from: Source | None
    deposited: int | None
    """The day of the deposit that is the capital."""
    flows: dict[str, Flowed]
    """By currency, as what follows."""
    profits: dict[str, Daily]
    totals: dict[str, Decimal]
    """Profit and loss as it stands."""
    flowed: dict[str, Decimal]
    """Deposits and withdrawals in all, the capital included if it is one of them."""
    fills: int
    positions: list[Held]
    not_computed: list[NotComputed]
    unpriced: int
    reason: str | None
    """Why it has no account."""

    @property
    def size(self) -> int:
        """How many days it has, in all currencies."""
        return sum(map(len, self.days))

    @property
    def days(self) -> list[Integers]:
        """On which something changed it, but for the deposit that is the capital."""
        return [
            *(one.days for one in self.profits.values()),
            *(one.days for one in self.flows.values()),
        ]

    @property
    def currencies(self) -> set[str]:
        """All that its account consists of."""
        return set(self.balances)

    @property
    def balances(self) -> dict[str, Decimal]:
        """Of the account as it stands: capital, flows, profit and loss."""
        found = dict(self.totals)
        for currency, amount in self.flowed.items():
            found[currency] = found.get(currency, ZERO) + amount
        capital = self.capital
        if capital is not None:
            # A capital that is the first deposit is among the flows already.
            more = decimal(capital.amount) if self.capital_from == "owner" else ZERO
            found[capital.currency] = found.get(capital.currency, ZERO) + (more or ZERO)
        return found

    @property
    def currency(self) -> str:
        """The one that it is counted in first."""
        return self.capital.currency if self.capital else next(iter(self.totals), self.own)


def holding(kept: Kept, said: Own) -> Holding:
    """`said` is the profit and loss that the model set itself."""
    with exact():
        named = summary.in_currencies(summary.sums_of(kept.books, kept.own), kept.own)
        funded = flows.split(kept.settings, kept.flows)
        flowed = {name: _flows(one) for name, one in named.items() if _flows(one)}
        counts, wrong = summary.counted(kept.books), summary.not_computed(kept.books, kept.own)
        reason = without_account(wrong, funded)
        if said.values:
            wrong, reason = [], without_account([], funded)
        elif not said.enabled:
            reason = OFF
        profits, totals = _profits(kept, named, said, funded)
        return Holding(
            own=kept.own,
            capital=funded.capital,
            capital_from=funded.source,
            deposited=None if funded.deposited_at is None else int(funded.deposited_at // DAY),
            flows=_by_day(funded.flows),
            profits=profits,
            totals=totals,
            flowed=flowed,
            fills=counts.fills,
            positions=_held(kept.books, kept.own) if said.enabled else [],
            not_computed=wrong,
            unpriced=counts.unpriced,
            reason=reason,
        )


def _flows(one: Totals) -> Decimal:
    return sum((amount for kind, amount in one.cash.items() if kind in FLOWS), ZERO)


def _profits(
    kept: Kept, named: Mapping[str, Totals], said: Own, funded: Funded
) -> tuple[dict[str, Daily], dict[str, Decimal]]:
    main = summary.main_currency(dict(named)) or kept.own
    if said.values:
        currency = funded.capital.currency if funded.capital else main
        known = [(one.time, one.value) for one in said.values if one.value is not None]
        if not known:
            return {}, {}
        times, values = np.array(known).T
        return {currency: _closing(times, values)}, {currency: decimal(known[-1][1]) or ZERO}
    if not said.enabled:
        return {}, {}
    names = sorted(named, key=lambda name: (name != main, name))
    profits = {}
    for name in names:
        steps = steps_in(kept, name)
        if steps.shape[1]:
            profits[name] = _closing(steps[0], running.profit(steps))
    return profits, {name: named[name].total for name in names}


def _closing(times: Floats, values: Floats) -> Daily:
    """The last value of each day."""
    days = np.floor_divide(times, DAY).astype("i8")
    last = np.append(np.diff(days) > 0, [True])
    return Daily(days[last], values[last])


def _held(books: list[Book], own: str) -> list[Held]:
    return [
        Held(one.symbol, one.currency or own, one.state.value, one.state.priced_at)
        for one in books
        if one.state.size and not one.is_cash and summary.reason_of(one, own) is None
    ]


def _by_day(flows: list[Flow]) -> dict[str, Flowed]:
    found = {}
    for currency in {one.currency for one in flows}:
        times, amounts = np.array(
            [(one.time, one.amount) for one in flows if one.currency == currency]
        ).T
        days, place = np.unique(np.floor_divide(times, DAY).astype("i8"), return_inverse=True)
        came, went = np.zeros(len(days)), np.zeros(len(days))
        np.add.at(came, place, np.maximum(amounts, 0.0))
        np.add.at(went, place, np.minimum(amounts, 0.0))
        found[currency] = Flowed(days, came, went)
    return found


def until(found: Holding, today: int) -> Holding:
    """What is dated in the future counts today: it has been reported, and that day has not come."""
    latest = [int(days[-1]) for days in found.days]
    if max([*latest, found.deposited or today]) <= today:
        return found
    return msgspec.structs.replace(
        found,
        deposited=None if found.deposited is None else min(found.deposited, today),
        flows={
            name: one._replace(days=np.minimum(one.days, today))
            for name, one in found.flows.items()
        },
        profits={
            name: one._replace(days=np.minimum(one.days, today))
            for name, one in found.profits.items()
        },
    )
