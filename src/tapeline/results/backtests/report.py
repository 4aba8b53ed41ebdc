"""The report about a backtest: computed once, stored, read often.

Pure: pieces of the result in, a report and its rows out. `reporter` decides when and where.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

import msgspec
import numpy as np

from tapeline.results.charts import pyramid
from tapeline.results.metrics import all_metrics, calendar_returns, deflated, drawdowns, formulas
from tapeline.results.metrics import metric as measuring
from tapeline.results.metrics.account import Account, Floats, Lacking, from_pieces, ordered
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.report_fields import (
    ROUND_TRIPS,
    TRIPS_IN_PIECE,
    Basis,
    OfSymbol,
    Period,
    Report,
    Rolled,
    Row,
    Trips,
)
from tapeline.results.metrics.round_trips import LEFT_OUT, Matched, RoundTrip, match
from tapeline.results.metrics.trades import read

LISTED = 1_000  # open positions and symbols, so that a report stays small

T = TypeVar("T")


def make(
    contents: Callable[[str], Sequence[bytes]], header: Mapping[str, Any]
) -> tuple[Report, Iterator[Row]]:
    """`contents` gives the stored pieces of a list of the result, in order."""
    with np.errstate(all="ignore"):  # values that are not finite become a reason
        return _make(contents, header)


def _make(
    contents: Callable[[str], Sequence[bytes]], header: Mapping[str, Any]
) -> tuple[Report, Iterator[Row]]:
    series = ordered(*from_pieces(contents("equity")))
    long_only = header.get("positions") == "long_only"
    account = Account(series)
    quote_asset = str(header.get("quote_asset") or "")
    matched = match(read(contents("trades")), long_only=long_only, quote_asset=quote_asset)
    subject = Subject(account, matched)
    rolled = _or_none(lambda: calendar_returns.rolling(account))
    months = _or_none(lambda: calendar_returns.by_month(account))
    years = _or_none(lambda: calendar_returns.by_year(account))
    report = Report(
        basis=basis(account),
        computed=all_metrics.compute(subject),
        drawdowns=_or(lambda: drawdowns.deepest(account, subject.drawdowns), []),
        months=_periods(months),
        years=_periods(years),
        periods_reason=None if months else _reason(lambda: calendar_returns.by_month(account)),
        rolling=Rolled(
            rolled.window if rolled else None,
            None if rolled else _reason(lambda: calendar_returns.rolling(account)),
        ),
        trips=_trips(matched),
        trial=_or_none(lambda: _trial(subject)),
    )
    rows = chain(
        pyramid.build("equity", series.times, series.values),
        _drawdown_rows(account),
        _rolling_rows(rolled),
        _trip_rows(matched.trips),
        _indicator_rows(contents, header),
    )
    return report, rows


def basis(account: Account) -> Basis:
    known = _or_none(lambda: account.known)
    found = Basis(notes=account.series.notes)
    if known is not None:
        times, values = known
        found.first, found.last = float(times[0]), float(times[-1])
        found.first_value, found.last_value = float(values[0]), float(values[-1])
        found.days = len(account.days)
    try:
        found.periods_per_year = account.periods_per_year
    except Lacking as lacking:
        found.reason = lacking.reason
    return found


def _or_none(make_it: Callable[[], T]) -> T | None:
    try:
        with np.errstate(all="ignore"):
            return make_it()
    except (Lacking, ZeroDivisionError, OverflowError):
        return None


def _or(make_it: Callable[[], T], otherwise: T) -> T:
    found = _or_none(make_it)
    return otherwise if found is None else found


def _reason(make_it: Callable[[], Any]) -> str | None:
    try:
        make_it()
    except Lacking as lacking:
        return lacking.reason
    return None


def _periods(groups: calendar_returns.Groups | None) -> list[Period]:
    return [] if groups is None else groups.shown


def _trial(subject: Subject) -> deflated.Trial | None:
    """None if it is not made of finite numbers."""
    returns = subject.account.several_returns
    found = deflated.Trial(
        sharpe=formulas.sharpe_per_period(subject),
        periods_per_year=subject.account.periods_per_year,
        returns=len(returns),
        skew=measuring.skew(returns),
        kurtosis=measuring.excess_kurtosis(returns) + 3.0,
    )
    return found if np.isfinite([found.sharpe, found.skew, found.kurtosis]).all() else None


def _trips(matched: Matched) -> Trips:
    by_symbol: dict[str, list[RoundTrip]] = {}
    for trip in matched.trips:
        by_symbol.setdefault(trip.symbol, []).append(trip)
    symbols = [_of_symbol(symbol, trips) for symbol, trips in by_symbol.items()]
    symbols.sort(key=lambda one: -abs(one.profit or 0.0))
    return Trips(
        count=len(matched.trips),
        fees=_sum([one.fees for one in matched.trips]),
        profit=_sum([one.profit for one in matched.trips]),
        open=matched.open[-LISTED:],
        open_count=len(matched.open),
        symbols=symbols[:LISTED],
        warnings=list(_warnings(matched)),
        open_fees=_sum([one.fees for one in matched.open]),
    )


def _of_symbol(symbol: str, trips: list[RoundTrip]) -> OfSymbol:
    every = [trip.profit for trip in trips]
    profits = np.array([one for one in every if one is not None])
    return OfSymbol(symbol, len(trips), _sum(every), _or_none(lambda: measuring.win_rate(profits)))


def _sum(amounts: list[float | None]) -> float | None:
    """Of all of them, or nothing."""
    known = [one for one in amounts if one is not None]
    return sum(known) if len(known) == len(amounts) else None


def _warnings(matched: Matched) -> Iterator[str]:
    for count, what in (
        (matched.oversold, "sold more than was held; the rest was left out"),
        (matched.unsized, "came without a size and were matched with nothing"),
        (matched.unpriced, "came without a price; their round trips have no profit"),
        (matched.sideless, "are neither a buy nor a sell"),
        (matched.left_out, LEFT_OUT),
    ):
        if count:
            yield f"{count:,} of {matched.trades:,} trades {what}."


def _drawdown_rows(account: Account) -> Iterator[Row]:
    drawdown = _or_none(lambda: account.drawdown)
    if drawdown is not None:
        yield from pyramid.build("drawdown", account.times, drawdown)


def _rolling_rows(rolled: calendar_returns.Rolling | None) -> Iterator[Row]:
    if rolled is not None:
        yield from pyramid.build("rolling_sharpe", rolled.times, rolled.sharpe)
        yield from pyramid.build("rolling_volatility", rolled.times, rolled.volatility)


def _trip_rows(trips: list[RoundTrip]) -> Iterator[Row]:
    for piece, start in enumerate(range(0, len(trips), TRIPS_IN_PIECE)):
        some = trips[start : start + TRIPS_IN_PIECE]
        yield Row(ROUND_TRIPS, 0, piece, zlib.compress(msgspec.json.encode(some), 1))


def _indicator_rows(
    contents: Callable[[str], Sequence[bytes]], header: Mapping[str, Any]
) -> Iterator[Row]:
    for facts in (header.get("indicators") or {}).values():
        name = f"indicator-{(facts or {}).get('place')}"
        times, values = _in_order(contents(name))
        yield from pyramid.build(name, times, values)


def _in_order(contents: Sequence[bytes]) -> tuple[Floats, Floats]:
    series = ordered(*from_pieces(contents))
    return series.times, series.values
