"""A live record as a link shows it: from the books, or replayed up to the delay."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import func, select

from tapeline.fair_threads import checkpoint
from tapeline.results.changes import stored_figures
from tapeline.results.changes.change import Change, with_changes
from tapeline.results.changes.figures import Assessed
from tapeline.results.changes.listing import paged
from tapeline.results.changes.stored import Place
from tapeline.results.charts import chart_window, timeline
from tapeline.results.charts.chart_window import Window
from tapeline.results.charts.daily_prices import Prices, daily_prices, of_closes
from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.account import Account
from tapeline.results.performance import buy_and_hold, reported_values
from tapeline.results.performance.evidence import Evidence, Kept, assembled, kept_of
from tapeline.results.pnl import late_entries, quoted_fills, summary
from tapeline.results.pnl.account import Settings
from tapeline.results.pnl.books import ledger_of
from tapeline.results.pnl.late_entries import Late
from tapeline.results.pnl.summary import Counts, NotComputed, Own, Position, Source
from tapeline.results.rules.position import exact, number
from tapeline.sharing.exhibits import benchmark as benchmarks
from tapeline.sharing.exhibits import corrections, curves, profits, redaction, then
from tapeline.sharing.exhibits.answers import (
    SharedBenchmark,
    SharedCorrections,
    SharedCurve,
    SharedDrawdown,
    SharedHead,
    SharedMetrics,
    SharedPeriods,
    SharedPositions,
    SharedTrades,
)
from tapeline.sharing.exhibits.curves import LiveAccount
from tapeline.sharing.exhibits.exhibit import Arrow, Arrows, ChartRange, Exhibit
from tapeline.sharing.exhibits.replay import Replay
from tapeline.sharing.exhibits.unexplained import unexplained
from tapeline.sharing.links.pseudonyms import Names
from tapeline.store.tables.tape import orders
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels, order_list, order_marks
from tapeline.tape.reading.order_list import Filter

SLICES = 500  # of time, in which many orders are counted for the curve


Line = tuple[Any, Any] | None
"""Times and values of a curve."""


class Reported(NamedTuple):
    """What the model said besides its books, and when."""

    lifecycle: dict[str, Any]
    custom: dict[str, Any]
    orders: int
    late_entries: Late


class Facts(NamedTuple):
    """Everything read about a live model, before anything is hidden."""

    reported: Reported
    source: Source
    currency: str | None
    counts: Counts
    positions: list[Position]
    line: Line
    settings: Settings
    evidence: Evidence
    not_computed: list[NotComputed]
    totals: dict[str, float]
    """Profit and loss by currency, that of the curve first."""


class LiveExhibit(Exhibit):
    @cached_property
    def replay(self) -> Replay | None:
        """Only where there is a delay."""
        if self.cut.moment is None:
            return None
        hours = self.choices.delay_hours
        return self.context.replays.at(self.connection, self.found.tape, hours, self.cut.seq)

    @cached_property
    def facts(self) -> Facts:
        return self._now() if self.replay is None else self._then(self.replay)

    @cached_property
    def names(self) -> Names:
        currencies = self.facts.totals
        return Names(self.context.cipher, self.share, self.symbols, self.exchanges, currencies)

    @cached_property
    def symbols(self) -> list[str]:
        """In the order they first appeared."""
        if self.replay is not None:
            return self.replay.symbols
        books = sorted(self._kept.books, key=lambda book: book.book)
        traded = list(dict.fromkeys(book.symbol for book in books if book.symbol))
        # Hidden ones are numbered: a later order would take the number of one only mentioned.
        return [*traded, *self._only_used(traded)] if self.choices.shows_symbols else traded

    @cached_property
    def exchanges(self) -> list[str]:
        if self.replay is not None:
            return self.replay.exchanges
        return channels.used_names(self.connection, self.found.tape, "exchange")

    @cached_property
    def live(self) -> LiveAccount:
        facts = self.facts
        checkpoint()  # the visitor may have left
        return curves.account_of(facts.evidence, facts.line, self.choices.base)

    @property
    def account(self) -> Account:
        return self.live.subject.account

    @cached_property
    def head(self) -> SharedHead:
        facts, choices, times = self.facts, self.choices, self.account.series.times
        shown = choices.shows_money and choices.shows_symbols
        changes = self.assessed.folded.counts
        return SharedHead(
            kind="live",
            title=self.title,
            hidden=redaction.hidden(choices),
            as_of=self.as_of,
            expires_at=self.share.expires_at,
            first=float(times[0]) if len(times) else None,
            last=float(times[-1]) if len(times) else None,
            symbols=[name for one in self.symbols if (name := self.names.symbol(one))],
            exchanges=[name for one in self.exchanges if (name := self.names.exchange(one))],
            currency=facts.currency if shown else None,
            base=self.live.capital if choices.shows_money else None,
            source=facts.source,
            lifecycle=redaction.lifecycle(facts.reported.lifecycle),
            figures=curves.figures(self.metrics.computed, (facts.currency or "") if shown else ""),
            trades=facts.reported.orders,
            late=changes.orders,
            changes=changes,
            reported=corrections.reported(self.assessed.figures, self.live.capital, choices),
            unexplained=unexplained(self._account_values(), facts.evidence, choices),
            late_entries=facts.reported.late_entries,
            counts=facts.counts,
            trials=None,
            seals=self.seals(),
            not_computed=[
                redaction.not_computed(one, choices, self.names)
                for one in sorted(facts.not_computed, key=self._by_name)
            ],
            settings=[redaction.settings(one, choices) for one in reversed(facts.settings.changes)],
            by_currency=self._by_currency() if choices.shows_money else {},
            other_currencies=max(0, len(facts.totals) - 1),
        )

    def curve(self, wanted: ChartRange) -> SharedCurve:
        profit = curves.profit_line(self.facts.line)
        line = curves.live_line(profit, self.live, self.choices)
        items, total = curves.points(line, wanted.start, wanted.end, wanted.points)
        marks = timeline.marks(
            self.connection,
            self.share.model_id,
            Window(wanted.start, wanted.end),
            math.inf if self.cut.moment is None else self.cut.moment,
        )
        shown = [redaction.mark(one) for one in marks]
        return SharedCurve(unit=line.unit, items=items, total=total, marks=shown)

    def drawdown(self, wanted: ChartRange) -> SharedDrawdown:
        line, deepest, reason = curves.live_drawdown(self.account, self.choices)
        items, _ = curves.points(line, wanted.start, wanted.end, wanted.points)
        return SharedDrawdown(unit=line.unit, items=items, deepest=deepest, reason=reason)

    def benchmark(self, points: int) -> SharedBenchmark:
        return benchmarks.beside(self.account, self._traded_prices, self.choices, points)

    def periods(self) -> SharedPeriods:
        return curves.live_periods(self.account)

    @cached_property
    def metrics(self) -> SharedMetrics:
        live = self.live
        checkpoint()
        computed = curves.chosen_metrics(curves.live_metrics(live), self.choices)
        custom = all_metrics.custom(self.facts.reported.custom) if self.choices.shows_texts else {}
        return SharedMetrics(computed, custom)

    def trades(self, before: int | None, limit: int) -> SharedTrades:
        end = self.cut.seq + 1
        before = end if before is None else min(before, end)
        if self.replay is None:
            items, following = order_list.listed(
                self.connection, self.found.tape, Filter(), before=before, limit=limit
            )
            items = quoted_fills.with_fills(self.connection, self.found.tape, items)
        else:
            known = quoted_fills.quotes(self.replay.books().books, self.replay.quote)
            some = self.replay.orders_before(before, limit)
            items = [then.item(self.replay, known, *one) for one in some]
            following = items[-1]["seq"] if len(items) == limit else None
        shown = [
            redaction.order(one, one["fill"], self.choices, self.names)
            for one in with_changes(items, self._changes_of(items))
        ]
        return SharedTrades(shown, None if following is None else str(following))

    def corrections(self, before: int | None, limit: int) -> SharedCorrections:
        some, following = paged(self.assessed.folded.changes, before, limit)
        shown = [corrections.shown(one, self.choices, self.names) for one in some]
        return SharedCorrections(shown, following, self.assessed.folded.unlisted)

    @cached_property
    def assessed(self) -> Assessed:
        """Changes after the fact, as far as the link looks, and profit and loss without them."""
        tape, changes = self.found.tape, self.context.changes
        if self.replay is not None:
            folded = changes.at(self.connection, self._place)
            return profits.replayed(self.connection, tape, self.replay, folded)
        known = stored_figures.Books(self._kept.books, self._kept.own)
        key = (ledger_of(self.connection, tape).version, known.quote)
        return changes.assessed(
            self.connection,
            self._place,
            key,
            lambda folded: stored_figures.of_tape(self.connection, tape, folded, known),
        )

    def _changes_of(self, items: list[dict[str, Any]]) -> dict[str, list[Change]]:
        ids = [one["id"] for one in items]
        return self.context.changes.of_orders(self.connection, self._place, ids)

    @property
    def _place(self) -> Place:
        hours = self.choices.delay_hours
        return Place(self.found.tape, self.cut.seq, self.context.late_after, hours)

    def arrows(self) -> Arrows:
        if self.replay is not None:
            return Arrows(list(then.arrows(self.replay)))
        found = order_marks.marks(self.connection, self.found.tape, None, None, SLICES)
        return Arrows([Arrow(one.time, one.side, one.count) for one in found.items])

    def positions(self) -> SharedPositions:
        return SharedPositions(
            [
                redaction.position(one, self.choices, self.names)
                for one in sorted(self.facts.positions, key=self._by_name)
            ]
        )

    def _traded_prices(self, span: benchmarks.Span) -> dict[str, Prices]:
        """Of marks and fills, as far as the link looks."""
        traded = buy_and_hold.most_traded(self.facts.evidence.books)
        if self.replay is not None:
            closes = self.replay.books().closes
            return {one.symbol: of_closes(closes.get(one.book, {}), *span) for one in traded}
        return {
            one.symbol: daily_prices(self.connection, self.found.tape, one.book, *span)
            for one in traded
        }

    def _account_values(self) -> tuple[Any, Any]:
        """As the exchange said them, as far as the link looks."""
        currency, end = self.facts.evidence.currency, self.cut.seq + 1
        return reported_values.reported(self.connection, self.found.tape, currency, end)

    def _by_currency(self) -> dict[str, float]:
        totals = self.facts.totals
        return {
            name: one
            for it, one in totals.items()
            if (name := self.names.currency(it)) and math.isfinite(one)
        }

    def _by_name(self, one: Position | NotComputed) -> tuple[int, str]:
        # By the shown name: the order of the real ones would reveal something about them.
        name = self.names.symbol(one.symbol) or ""
        return len(name), name

    @property
    def log_channel(self) -> int:
        return kinds.LOG.channel

    @cached_property
    def _kept(self) -> Kept:
        """The books of today, read once for a request."""
        return kept_of(self.connection, self.found.tape)

    def _now(self) -> Facts:
        connection, tape, kept = self.connection, self.found.tape, self._kept
        here = (orders.c.tape == tape, orders.c.seq.is_not(None))
        every = connection.scalar(select(func.count()).where(*here)) or 0

        def line(names: list[str]) -> Line:
            without = summary.doubtful(kept.books, kept.own)
            return chart_window.whole(connection, tape, names, without=without)

        return _facts(
            kept,
            summary.own_of(connection, tape),
            line,
            Reported(
                lifecycle=channels.state(connection, tape, "lifecycle") or {},
                custom=channels.state(connection, tape, "metrics") or {},
                orders=every,
                late_entries=late_entries.late(connection, tape, self.context.late_after),
            ),
        )

    def _only_used(self, symbols: list[str]) -> list[str]:
        used = channels.used_names(self.connection, self.found.tape, "symbol")
        return [name for name in used if name not in symbols]

    def _then(self, replay: Replay) -> Facts:
        return _facts(
            then.kept(replay),
            Own(replay.enabled, summary.own_points(replay.own)),
            lambda names: then.line(replay, names),
            Reported(
                lifecycle=replay.lifecycle,
                custom=replay.metrics,
                orders=len(replay.places),
                late_entries=replay.late(self.context.late_after),
            ),
        )


def _facts(kept: Kept, own: Own, line: Callable[[list[str]], Line], reported: Reported) -> Facts:
    """The same from the books of today and from those of an earlier time."""
    every, quote = (kept.books if own.enabled else []), kept.own
    with exact():
        sums = summary.sums_of(every, quote)
        named = summary.in_currencies(sums, quote)
        totals = {name: number(one.total) for name, one in named.items()}
        positions = summary.shown_positions(every, quote)
    currency = summary.main_currency(named)
    names = [name for name in sums if (name or quote) == currency]
    return Facts(
        reported=reported,
        source="model" if own.values else "computed" if own.enabled else "off",
        currency=currency,
        counts=summary.counted(every),
        positions=positions,
        line=summary.own_line(own.values) if own.values or not own.enabled else line(names),
        settings=kept.settings,
        evidence=assembled(kept, own),
        not_computed=summary.not_computed(every, quote),
        totals=_totals(totals, currency),
    )


def _totals(sums: dict[str, float], main: str | None) -> dict[str, float]:
    return dict(sorted(sums.items(), key=lambda one: (one[0] != main, one[0])))
