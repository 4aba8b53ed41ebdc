"""What a live model's performance is made from: its steps in one currency, and its capital."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from sqlalchemy import Connection

from tapeline.results.charts import chart_window, coarse_steps, running
from tapeline.results.charts.curve import COLUMNS
from tapeline.results.metrics.account import (
    NO_VALUE,
    Account,
    Floats,
    Lacking,
    led,
    ordered,
)
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.round_trips import Matched
from tapeline.results.performance import account_line, flows
from tapeline.results.performance.account_line import AccountLine
from tapeline.results.performance.flows import Flow, Funded
from tapeline.results.pnl import summary
from tapeline.results.pnl.account import Settings, settings_of
from tapeline.results.pnl.books import Book, books_of
from tapeline.results.pnl.model_currency import own_currency, own_currency_of
from tapeline.results.pnl.summary import NotComputed, Own
from tapeline.results.rules.position import FLOWS, exact

NO_CAPITAL = "No capital is known. Set it in the settings of the model, or report a first deposit."

OFF = "Profit and loss is not computed: auto-pnl is off."
OF_A_SYMBOL = "The capital is that of all symbols together: one by itself is shown in money."


class Evidence(msgspec.Struct, frozen=True):
    currency: str | None
    """Of the capital; without one, of most fills. Of one symbol by itself: that it trades in."""
    funded: Funded
    flows: list[Flow]
    """Those in that currency."""
    steps: Floats
    """Rows as `every_step` has them, in that currency."""
    books: list[Book]
    """Those that count in it."""
    not_computed: list[NotComputed]
    reason: str | None
    """Why the account as a whole is not known."""
    elsewhere: dict[str, list[Book]] = {}
    """By currency: books that count in another one."""

    def line(self) -> AccountLine:
        if self.reason is not None or self.funded.capital is None:
            raise Lacking(self.reason or NO_CAPITAL)
        capital, since = self.funded.capital.amount, self.funded.deposited_at
        return account_line.account_line(self.steps[0], self.profits, capital, self.flows, since)

    @property
    def profits(self) -> Floats:
        """Profit and loss after each step."""
        return running.profit(self.steps)

    def only(self, symbol: str) -> "Evidence":
        """One symbol by itself, with the cash about it: money alone, for the capital is for all."""
        kept = [one for one in self.books if one.symbol == symbol]
        here = np.isin(self.steps[2], [one.book for one in kept])
        return msgspec.structs.replace(
            self,
            funded=Funded(None, None, []),
            flows=[],
            steps=self.steps[:, here],
            books=kept,
            not_computed=[one for one in self.not_computed if one.symbol == symbol],
            reason=OF_A_SYMBOL,
            elsewhere={},
        )

    def profit(self, why: str = NO_VALUE) -> Account:
        series = ordered(*led(0.0, self.steps[0], self.profits))
        return Account(series, is_live=True, is_money=True, why=why)

    def subject(self, matched: Matched | None) -> Subject:
        """For the metrics: an account where one is known, else money alone."""
        try:
            found = account_line.accounts(self.line())
        except Lacking as lacking:
            return Subject(self.profit(lacking.reason), matched)
        return Subject(found.growth, matched, money=found.money, worth=found.worth)


class Kept(NamedTuple):
    """The books of a model, from the database or replayed."""

    books: list[Book]
    own: str
    """The currency of bare tickers."""
    settings: Settings
    flows: list[Flow]
    steps: Callable[[list[str]], Floats]
    """Of some currencies, as `every_step` has them."""


def evidence(connection: Connection, tape: int, said: Own, symbol: str | None = None) -> Evidence:
    """`said` is the profit and loss that the model set itself."""
    kept = kept_of(connection, tape)
    if symbol is None:
        return assembled(kept, said)
    return assembled(kept, said, _traded_in(kept, symbol)).only(symbol)


def _traded_in(kept: Kept, symbol: str) -> str | None:
    """The currency of a symbol; None if it was never held, for cash alone may be in any."""
    for one in kept.books:
        if one.symbol == symbol and (one.state.fills or one.state.is_opened):
            return one.currency or kept.own
    return None


def kept_of(connection: Connection, tape: int) -> Kept:
    own = own_currency(connection, tape)
    return Kept(
        books_of(connection, tape),
        own,
        settings_of(connection, tape),
        flows.flows_of(connection, tape, own),
        lambda names: chart_window.every_step(connection, tape, names),
    )


def kept_around(connection: Connection, tape: int, moments: Sequence[float]) -> Kept:
    """The same at the price of a glance: exact at its extremes, at flows and at some moments. Its
    steps do not say what they did to the value that is held."""
    every, settings = books_of(connection, tape), settings_of(connection, tape)
    own = own_currency_of(connection, tape, every, settings.capital)
    flowed = flows.flows_of(connection, tape, own)
    around = [*moments, *(one.time for one in flowed)]
    return Kept(
        every,
        own,
        settings,
        flowed,
        lambda names: coarse_steps.steps_around(connection, tape, names, around),
    )


def assembled(kept: Kept, said: Own, currency: str | None = None) -> Evidence:
    """In a currency, or in that of the account."""
    every, own = kept.books, kept.own
    with exact():
        named = summary.in_currencies(summary.sums_of(every, own), own)
    funded = flows.split(kept.settings, kept.flows)
    if currency is None:
        currency = funded.capital.currency if funded.capital else summary.main_currency(named)
    if said.values:
        return _as_said(said, currency or own, funded)
    counting: dict[str, list[Book]] = {}
    for one in every:
        if summary.reason_of(one, own) is None:
            counting.setdefault(one.currency or own, []).append(one)
    return Evidence(
        currency,
        funded,
        [one for one in funded.flows if one.currency == currency],
        steps_in(kept, currency) if said.enabled else np.empty((COLUMNS, 0)),
        [] if currency is None else counting.pop(currency, []),
        summary.not_computed(every, own),
        _reason(kept, funded, currency) if said.enabled else OFF,
        counting,
    )


def _as_said(said: Own, currency: str, funded: Funded) -> Evidence:
    """The model's own series in the place of ours."""
    known = [(one.time, one.value) for one in said.values if one.value is not None]
    steps = np.zeros((COLUMNS, len(known)))
    if known:
        steps[0], steps[4] = np.array(known).T
        steps[3, 1:] = steps[4, :-1]
    flowed = [one for one in funded.flows if one.currency == currency]
    return Evidence(currency, funded, flowed, steps, [], [], None)


def steps_in(kept: Kept, currency: str | None) -> Floats:
    """Of the books that count in a currency."""
    steps = kept.steps(
        sorted({one.currency for one in kept.books if (one.currency or kept.own) == currency})
    )
    without = summary.doubtful(kept.books, kept.own)
    return steps[:, ~np.isin(steps[2], list(without))] if without else steps


def without_account(wrong: list[NotComputed], funded: Funded) -> str | None:
    """Why there is no account, whatever currencies it has."""
    if funded.capital is None:
        return NO_CAPITAL
    if wrong:
        return f"{wrong[0].symbol} is not computed: {wrong[0].reason}"
    return None


def _reason(kept: Kept, funded: Funded, currency: str | None) -> str | None:
    reason = without_account(summary.not_computed(kept.books, kept.own), funded)
    if reason is not None:
        return reason
    others = sorted({one.currency or kept.own for one in kept.books if _is_counted(one, kept.own)})
    others += [one.currency for one in funded.flows]
    others = [one for one in others if one != currency]
    if others:
        return (
            f"There are amounts in {others[0]} too, and an account is computed in {currency} alone."
        )
    return None


def _is_counted(book: Book, own: str) -> bool:
    """Whether it has anything of an account but flows. Amounts alone would not tell: those that add
    up to nothing now did not before, and may not tomorrow."""
    state = book.state
    # A declared position of none is no amount. Without fills, the size is the declared one.
    has_any = (
        state.fills
        or (state.is_opened and state.size)
        or any(kind not in FLOWS for kind in state.cash)
    )
    return bool(has_any) and summary.reason_of(book, own) is None
