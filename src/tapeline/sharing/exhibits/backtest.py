"""A backtest as a link shows it: from its report, rebased, without hidden fields."""

from functools import cached_property
from typing import Any

from tapeline.errors import NothingToShowYet
from tapeline.results.backtests import listing, reports, tear_sheet, trade_prices
from tapeline.results.charts import pyramid
from tapeline.results.charts.daily_prices import Prices
from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.deflated import Deflated
from tapeline.results.metrics.report_fields import Basis, OfSymbol, Report, Trips
from tapeline.results.metrics.trades import read as read_trades
from tapeline.results.pnl.summary import Counts
from tapeline.sharing.exhibits import benchmark as benchmarks
from tapeline.sharing.exhibits import curves, redaction
from tapeline.sharing.exhibits.answers import (
    SharedBenchmark,
    SharedCurve,
    SharedDrawdown,
    SharedHead,
    SharedMetrics,
    SharedPeriods,
    SharedTrades,
    SharedTrials,
    SharedTrips,
)
from tapeline.sharing.exhibits.exhibit import Arrow, Arrows, ChartRange, Exhibit
from tapeline.sharing.links.pseudonyms import Names
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.events import kinds
from tapeline.tape.reading import backtests

MARKED = 5_000  # trades on a curve, the newest: each of them has to be read


class BacktestExhibit(Exhibit):
    @cached_property
    def row(self) -> Any:
        row = backtests.find(self.connection, self.found.tape, self.share.backtest_id or "")
        if row.upload is None or (row.result_seq or 0) > self.cut.seq:
            raise NothingToShowYet(None if self.cut.moment else listing.NO_RESULT)
        return row

    @property
    def upload(self) -> str:
        return str(self.row.upload)

    @property
    def edition(self) -> object:
        return self.choices, self.upload

    @cached_property
    def header(self) -> dict[str, Any]:
        return backtests.header(self.row)

    @cached_property
    def report(self) -> Report:
        return reports.load(self.connection, self.upload)

    @cached_property
    def symbols(self) -> list[str]:
        """Symbols that the result names, then those it traded, in the order they appear."""

        def find() -> list[str]:
            said = [one for one in self.header.get("symbols") or [] if isinstance(one, str)]
            contents = result_pieces.contents(self.connection, self.upload, "trades")
            traded = (one.symbol for one in read_trades(contents))
            return list(dict.fromkeys([*said, *traded]))

        found = self.context.kept.get(("symbols", self.upload), find)
        assert isinstance(found, list)
        return found

    @cached_property
    def names(self) -> Names:
        return Names(self.context.cipher, self.share, self.symbols)

    @property
    def currency(self) -> str:
        """Empty if its name is hidden."""
        choices = self.choices
        shown = choices.shows_money and choices.shows_symbols
        return str(self.header.get("quote_asset") or "") if shown else ""

    @cached_property
    def head(self) -> SharedHead:
        report, choices = self.report, self.choices
        return SharedHead(
            kind="backtest",
            title=self.title,
            hidden=redaction.hidden(choices),
            as_of=self.as_of,
            expires_at=self.share.expires_at,
            first=report.basis.first,
            last=report.basis.last,
            symbols=[name for one in self.symbols if (name := self.names.symbol(one))],
            exchanges=[],
            currency=self.currency or None,
            base=None,
            source="backtest",
            lifecycle=None,
            figures=curves.figures(self.metrics.computed, self.currency),
            trades=self.header.get("trades", {}).get("count", 0),
            late=0,
            counts=Counts(),
            trials=_shown(self.trials),
            seals=self.seals(),
        )

    @cached_property
    def trials(self) -> Deflated:
        """Of those that were there by then."""
        tape, trial = self.found.tape, self.report.trial
        if self.cut.moment is None:
            return listing.trials_of(self.connection, tape, trial)
        return listing.trials_until(self.connection, tape, self.cut.seq, trial)

    def curve(self, wanted: ChartRange) -> SharedCurve:
        times, values = self._series("equity", wanted)
        first = self.report.basis.first_value
        line = curves.backtest_line(times, values, first, self.choices)
        items, _ = curves.points(line, None, None, wanted.points)
        levels = pyramid.index(self.connection, self.upload, "equity")
        total = levels[0].count if levels else 0
        return SharedCurve(unit=line.unit, items=items, total=total, marks=[])

    def drawdown(self, wanted: ChartRange) -> SharedDrawdown:
        report = self.report
        line = curves.Line("percent", *self._series("drawdown", wanted))
        items, _ = curves.points(line, None, None, wanted.points)
        return SharedDrawdown(
            unit="percent",
            items=items,
            deepest=report.drawdowns,
            reason=report.computed["max_drawdown"].reason,
        )

    def benchmark(self, points: int) -> SharedBenchmark:
        def find(_span: benchmarks.Span) -> dict[str, Prices]:
            traded = trade_prices.traded_prices(self.connection, self.upload)
            return {name: traded[name] for name in trade_prices.most_traded(traded)}

        account = trade_prices.account_of(self.connection, self.upload)
        return benchmarks.beside(account, find, self.choices, points)

    def periods(self) -> SharedPeriods:
        return curves.backtest_periods(self.report)

    @cached_property
    def metrics(self) -> SharedMetrics:
        custom = self.header.get("metrics") if self.choices.shows_texts else None
        return SharedMetrics(
            curves.chosen_metrics(self.report.computed, self.choices), all_metrics.custom(custom)
        )

    def trades(self, before: int | None, limit: int) -> SharedTrades:
        found = result_pieces.items(
            self.connection, self.upload, "trades", before=before, limit=limit
        )
        items = [redaction.trade(*one, self.choices, self.names) for one in found]
        return SharedTrades(items, str(found[-1][0]) if len(found) == limit else None)

    def arrows(self) -> Arrows:
        newest = self.trades(None, MARKED).items
        marked = [Arrow(one.time, one.side) for one in newest if one.time is not None and one.side]
        return Arrows(marked, max(0, self.head.trades - len(newest)))

    def round_trips(self, before: int | None, limit: int) -> SharedTrips:
        _ = self.report
        found = reports.round_trips(self.connection, self.upload, before=before, limit=limit)
        items = [redaction.trip(*one, self.choices, self.names) for one in found]
        return SharedTrips(items, str(found[-1][0]) if len(found) == limit else None)

    def tear_sheet(self) -> dict[str, Any]:
        """The content of the tear sheet, without what this link hides."""
        times, values = self._series("equity", ChartRange(points=tear_sheet.DETAIL))
        first = self.report.basis.first_value
        line = curves.backtest_line(times, values, first, self.choices)
        return tear_sheet.facts(
            self.connection,
            self.upload,
            backtest={
                "label": self.title,
                "description": None,
                "symbols": self.head.symbols,
                "quote_asset": self.currency,
                "metrics": {"custom": self.metrics.custom},
            },
            model_name="Shared",
            trials=self.trials,
            report=self._redacted(),
            equity=(line.times, line.values),
        )

    def _redacted(self) -> Report:
        report, money = self.report, self.choices.shows_money
        basis, trips = report.basis, report.trips
        shown = curves.chosen_metrics(report.computed, self.choices)
        symbols = [
            OfSymbol(
                self.names.symbol(one.symbol) or "",
                one.round_trips,
                one.profit if money else None,
                one.win_rate,
            )
            for one in trips.symbols
        ]
        if not money:  # they are sorted by profit
            symbols.sort(key=lambda one: (-one.round_trips, one.symbol))
        return Report(
            basis=Basis(
                first=basis.first,
                last=basis.last,
                notes=basis.notes,
                days=basis.days,
                periods_per_year=basis.periods_per_year,
                reason=basis.reason,
            ),
            computed={name: report.computed[name] for name in shown},
            drawdowns=report.drawdowns,
            months=report.months,
            years=report.years,
            periods_reason=report.periods_reason,
            rolling=report.rolling,
            trips=Trips(
                count=trips.count,
                fees=0.0,
                profit=None,
                open=[],
                open_count=trips.open_count,
                symbols=symbols,
                warnings=trips.warnings,
            ),
            trial=None,
        )

    @property
    def log_channel(self) -> int:
        return kinds.CHANNELS_OF_BACKTESTS + int(self.row.no)

    def _series(self, name: str, wanted: ChartRange) -> tuple[Any, Any]:
        _ = self.report
        return pyramid.within(
            self.connection,
            self.upload,
            name,
            points=wanted.points,
            start=wanted.start,
            end=wanted.end,
        )


def _shown(found: Deflated) -> SharedTrials:
    return SharedTrials(found.count, found.deflated_sharpe, found.explanation, found.reason)
