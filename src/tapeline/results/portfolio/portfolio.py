"""A portfolio as its owner sees it: one answer with all that a page about it shows."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec
import numpy as np
from sqlalchemy import Connection

from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.account import DAY, Account, Floats, Integers, led, ordered
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.report_fields import Shown
from tapeline.results.performance import standing
from tapeline.results.performance.account_line import RUINED
from tapeline.results.performance.answers import ShownBenchmark
from tapeline.results.performance.standing import Lines, Standing
from tapeline.results.pnl import model_currency
from tapeline.results.pnl.together import no_rate
from tapeline.results.portfolio import correlation, growth, lines
from tapeline.results.portfolio.answers import (
    Correlations,
    Exposures,
    Portfolio,
    PortfolioModel,
)
from tapeline.results.portfolio.attention import attention
from tapeline.results.portfolio.compared import compared
from tapeline.results.portfolio.exposure import Owned, exposures
from tapeline.results.portfolio.growth import Growth
from tapeline.results.portfolio.holding import Holding, until
from tapeline.results.portfolio.lines import Line
from tapeline.results.portfolio.member import Head, Holdings, heads
from tapeline.results.portfolio.rates_by_day import Rates
from tapeline.results.rules.position import ZERO, exact, number
from tapeline.tape.backtest_results.series import thinned

NOTHING = "No model here has an account yet. Set the capital of one, or report its first deposit."
NOT_BEGUN = "It has not reported anything yet."
MOST_DAYS = 10_000
FRESH = 60.0  # seconds: how old a price is depends on the clock
MOST_CELLS = 1_000_000  # models times days: what is computed at once
SHOWN = ("Return", "Risk")  # groups of metrics; nobody matches the trades of all models


class Wanted(NamedTuple):
    """How much to show."""

    currency: str | None
    points: int
    correlated: int
    """Models in the matrix, the largest accounts."""
    benchmark: str | None = None
    """A symbol to compare with."""
    exchange: str = ""
    """The price source; empty: none."""


class Outline(NamedTuple):
    currency: str
    standing: Standing | None
    """None: no model has an account."""
    lines: Lines | None
    """By days; the `time` of a point is the beginning of its day."""
    left_out: dict[str, str]
    """Models without an account by name, and why."""
    exposure: Exposures


class Part(NamedTuple):
    """One model, with what is known of its account."""

    head: Head
    found: Holding
    lacking: list[str]
    """Currencies of its own that no rate converts."""
    reason: str | None
    own: Integers
    """The days on which something changed it."""

    @property
    def in_account(self) -> bool:
        return self.reason is None


def remembered(
    connection: Connection, projects: list[str], known: Holdings, wanted: Wanted, now: float
) -> bytes:
    """The answer in JSON, as it was made for the same state of all models, or made now."""
    found = heads(connection, projects)
    state = (tuple(projects), wanted, int(now // FRESH), tuple(map(Head.state, found)))
    return known.answers.get(
        state, lambda: msgspec.json.encode(portfolio(connection, found, known, wanted, now))
    )


def portfolio(
    connection: Connection, found: list[Head], known: Holdings, wanted: Wanted, now: float
) -> Portfolio:
    with exact():
        whole = _assembled(connection, found, known, wanted, now)
        answer = whole.answer(now)
        if wanted.benchmark is not None:
            answer.benchmark = whole.beside(connection, wanted.benchmark)
        return answer


def outline(
    connection: Connection, found: list[Head], known: Holdings, currency: str | None, now: float
) -> Outline:
    """What limits are about, and nothing else of it."""
    with exact():
        wanted = Wanted(currency, points=0, correlated=0)
        return _assembled(connection, found, known, wanted, now).outline(now)


def _assembled(
    connection: Connection, found: list[Head], known: Holdings, wanted: Wanted, now: float
) -> "_Assembly":
    today = int(now // DAY)
    held = [(head, until(known.of(connection, head), today)) for head in found]
    every = [one for one in held if belongs(*one)]
    quote = wanted.currency or usual_currency([one for _, one in every])
    tapes = {head.project_id: head.tape for head, _ in every if head.tape}
    rates = Rates(connection, quote, tapes)
    parts = [_part(rates, head, found) for head, found in every]
    return _Assembly(rates, parts, wanted, today)


def belongs(head: Head, found: Holding) -> bool:
    """A screener only ranks symbols: it has no account, unless it trades after all."""
    return head.type != "screener" or found.capital is not None or bool(found.fills or found.flowed)


def usual_currency(every: Sequence[Holding]) -> str:
    """That of most capitals; without any, of most models."""
    capitals = Counter(one.capital.currency for one in every if one.capital)
    counted = capitals or Counter(one.currency for one in every if one.totals)
    return min(counted, key=lambda name: (-counted[name], name), default=model_currency.DEFAULT)


def _part(rates: Rates, head: Head, found: Holding) -> Part:
    needed = found.currencies | {one.currency for one in found.positions}
    lacking = sorted(one for one in needed if rates.newest(head.project_id, one) is None)
    reason, own = found.reason, lines.own_days(found)
    if reason is None and not len(own):
        reason = NOT_BEGUN
    missing = [one for one in lacking if one in found.currencies]
    if reason is None and missing:
        reason = no_rate(missing[0], rates.quote)
    return Part(head, found, lacking, reason, own)


class _Assembly:
    def __init__(self, rates: Rates, parts: list[Part], wanted: Wanted, today: int) -> None:
        self._rates = rates
        self._parts = parts
        self._wanted = wanted
        self._in_account = [one for one in parts if one.in_account]
        self._days, self._cut = self._axis(today)
        self._lines = [self._line(one) for one in self._in_account]

    def answer(self, now: float) -> Portfolio:
        members = [self._member(one) for one in self._parts]
        ruined: set[str] = set()
        answer = Portfolio(
            currency=self._rates.quote,
            profit=number(sum((self._profit(one) for one in self._parts), ZERO)),
            models=members,
            exposure=self._exposure(),
            correlation=Correlations(models=[], values=[], days=[], least_days=0),
            attention=[],
            rates=self._rates.used(),
            without_rate=sorted({name for one in self._parts for name in one.lacking}),
            reason=NOTHING,
        )
        if self._lines:
            ruined = self._add_account(answer, {one.model_id: one for one in members})
        answer.attention = [
            one
            for part in self._parts
            for one in attention(
                part.head,
                part.found,
                part.lacking,
                is_ruined=part.head.model_id in ruined,
                quote=self._rates.quote,
                now=now,
            )
        ]
        members.sort(key=lambda one: (not one.in_account, -(one.contribution or 0.0)))
        return answer

    def outline(self, now: float) -> Outline:
        left_out = {one.head.name: one.reason for one in self._parts if one.reason is not None}
        if not self._lines:
            return Outline(self._rates.quote, None, None, left_out, self._exposure())
        whole = growth.together(self._lines)
        value = sum((self._value(one) for one in self._in_account), ZERO)
        whole.values[-1] = number(value)
        times = self._days * DAY
        with np.errstate(all="ignore"):
            earned = np.cumsum(np.diff(whole.values, prepend=0.0) - whole.flows)
        lines = Lines(
            np.append(times[:1] - DAY, times),
            np.append([0.0], earned),
            np.append([1.0], whole.factor),
            np.append([0.0], whole.values),
        )
        reached = standing.standing(lines, self._rates.quote, None, now)
        return Outline(self._rates.quote, reached, lines, left_out, self._exposure())

    def _exposure(self) -> Exposures:
        return exposures(
            Owned(one.head.model_id, held, self._rates.converter(one.head.project_id))
            for one in self._parts
            for held in one.found.positions
        )

    def beside(self, connection: Connection, name: str) -> ShownBenchmark:
        if not self._lines:
            return ShownBenchmark(name=name, reason=NOTHING)
        whole = growth.together(self._lines)
        if whole.is_ruined:
            return ShownBenchmark(name=name, reason=RUINED)
        return compared(
            connection,
            _account(self._days, whole),
            [one.head for one in self._parts],
            name,
            points=self._wanted.points,
            exchange=self._wanted.exchange,
        )

    def _add_account(self, answer: Portfolio, members: dict[str, PortfolioModel]) -> set[str]:
        """The models whose own returns mean nothing any more."""
        whole = growth.together(self._lines)
        values = [self._value(one) for one in self._in_account]
        answer.account_value = number(sum(values, ZERO))
        # Doubles were added up for the chart; where it ends we know better.
        whole.values[-1] = answer.account_value
        answer.invested = float(whole.flows.sum())
        answer.gain = answer.account_value - answer.invested
        answer.left_out_days = self._cut
        self._draw(answer, whole)
        alone = [growth.growth_of(one) for one in self._lines]
        for place, (part, reached) in enumerate(zip(self._in_account, alone, strict=True)):
            one = members[part.head.model_id]
            one.account_value = number(values[place])
            one.since = float(self._days[self._lines[place].since]) * DAY
            one.gain = _known(whole.gains[place])
            one.contribution = None if whole.is_ruined else _known(whole.contributions[place])
            one.total_return = _known(reached[-1] - 1.0)
        largest = sorted(range(len(values)), key=lambda place: (-values[place], place))
        chosen = sorted(largest[: self._wanted.correlated])
        answer.correlation = correlation.correlations(
            [self._in_account[one].head.model_id for one in chosen],
            [correlation.returns(self._lines[one], alone[one]) for one in chosen],
            len(values) - len(chosen),
        )
        return {
            part.head.model_id
            for part, reached in zip(self._in_account, alone, strict=True)
            if np.isnan(reached[-1])
        }

    def _draw(self, answer: Portfolio, whole: Growth) -> None:
        times, points = self._days * DAY, self._wanted.points
        answer.reason = RUINED if whole.is_ruined else None
        answer.account = thinned(times, whole.values, points)
        moved = whole.flows != 0
        answer.flows = thinned(times[moved], whole.flows[moved], points)
        if not whole.is_ruined:
            answer.total_return = float(whole.factor[-1]) - 1.0
            answer.max_drawdown = float(whole.drawdown.min())
            answer.returns = thinned(times, whole.factor - 1.0, points)
            answer.drawdown = thinned(times, whole.drawdown, points)
        answer.metrics = _metrics(self._days, whole)

    def _axis(self, today: int) -> tuple[Integers, int]:
        """The days on which anything changed, and how many earlier ones are left out."""
        own = [one.own for one in self._in_account]
        if not own:
            return np.empty(0, dtype="i8"), 0
        # The newest rate may be newer than everything that it converts.
        newest = [min(int(one.time // DAY), today) for one in self._rates.used()]
        last = max([int(days[-1]) for days in own] + newest)
        first = max(min(int(days[0]) for days in own), last - MOST_DAYS + 1)
        rated = [
            self._rates.read(project, currency, first, last)
            for project, currency in sorted(self._converted())
        ]
        days = np.unique(np.concatenate([*own, *rated, [last]])).astype("i8")
        most = min(MOST_DAYS, max(2, MOST_CELLS // len(own)))
        kept = days[days >= first][-most:]
        return kept, len(days) - len(kept)

    def _converted(self) -> set[tuple[str, str]]:
        return {
            (one.head.project_id, name) for one in self._in_account for name in one.found.currencies
        }

    def _line(self, part: Part) -> Line:
        project = part.head.project_id
        rates = {one: self._rates.by_day(project, one, self._days) for one in part.found.currencies}
        return lines.line(part.found, part.own, self._days, rates)

    def _value(self, part: Part) -> Decimal:
        convert = self._rates.converter(part.head.project_id)
        return sum((convert(*one) or ZERO for one in _amounts(part.found.balances)), ZERO)

    def _profit(self, part: Part) -> Decimal:
        """Of the currencies that have a rate."""
        convert = self._rates.converter(part.head.project_id)
        return sum((convert(*one) or ZERO for one in _amounts(part.found.totals)), ZERO)

    def _member(self, part: Part) -> PortfolioModel:
        found, head = part.found, part.head
        whole = not set(part.lacking) & set(found.totals)
        return PortfolioModel(
            model_id=head.model_id,
            project_id=head.project_id,
            name=head.name,
            in_account=part.in_account,
            reason=part.reason,
            capital=found.capital,
            profit=number(self._profit(part)) if whole else None,
            profits={name: number(one) for name, one in found.totals.items()},
        )


def _amounts(by_currency: dict[str, Decimal]) -> list[tuple[Decimal, str]]:
    return [(amount, currency) for currency, amount in by_currency.items()]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _metrics(days: Integers, whole: Growth) -> dict[str, Shown]:
    """As every account has them."""
    closes = _closes(days)
    earned = np.diff(whole.values, prepend=0.0) - whole.flows
    money = Account(ordered(*led(0.0, closes, np.cumsum(earned))), is_live=True, is_money=True)
    return all_metrics.of_groups(SHOWN, Subject(_account(days, whole), money=money))


def _account(days: Integers, whole: Growth) -> Account:
    """The day before the first close is its start."""
    return Account(ordered(*led(1.0, _closes(days), whole.factor)), is_live=True)


def _closes(days: Integers) -> Floats:
    return np.asarray(days.astype("f8") * DAY + 1.0)
