"""What `Backtest.run()` of backtesting.py returns, as a result: equity, trades, all its figures.

from tapeline_client.adapters import backtesting

stats = Backtest(data, Strategy).run()
backtesting.report(stats, symbol="GOOG")
"""

from __future__ import annotations

from typing import Any, Iterator

from tapeline_client.adapters import results
from tapeline_client.errors import InvalidEvent
from tapeline_client.events import Events

MONEY, PERCENT, COUNT = "[$]", "[%]", "#"


def result(
    stats: Any, *, symbol: str, quote_asset: str = "USD", indicators: bool = True
) -> dict[str, Any]:
    """A backtest's result: what `backtest_result` takes, and what a `backtest` function of the
    platform may return."""
    try:
        equity, trades = stats["_equity_curve"], stats["_trades"]
    except (KeyError, TypeError, IndexError):
        raise results.unexpected(
            "result of backtesting.py", "what Backtest.run() returns", "backtesting"
        ) from None
    times = results.times_of(equity.index)
    if not times:
        raise InvalidEvent("This backtest has no bars.")
    found = {
        "symbols": [symbol],
        "quote_asset": quote_asset,
        "start_time": times[0],
        "stop_time": times[-1],
        "account_values": results.curve(times, equity["Equity"]),
        "trades": sorted(
            [*_closed(trades, symbol), *_open(stats, symbol)], key=lambda one: one["time"]
        ),
        "metrics": dict(_metrics(stats)),
        "indicators": {},
    }
    if indicators:
        found["indicators"] = dict(_indicators(stats, times))
    return found


def report(
    stats: Any,
    *,
    symbol: str,
    quote_asset: str = "USD",
    indicators: bool = True,
    client: Events | None = None,
    backtest_id: str | None = None,
    time_elapsed: float | None = None,
    description: str | None = None,
) -> str:
    """Send it; the id under which it is found. In a backtest of the platform that is the run's."""
    made = result(stats, symbol=symbol, quote_asset=quote_asset, indicators=indicators)
    return results.send(made, client, backtest_id, time_elapsed, description)


def _closed(trades: Any, symbol: str) -> Iterator[dict[str, Any]]:
    """Two orders for each trade. The entry of a short one is a sale."""
    for number, row in enumerate(trades.to_dict("records"), 1):
        size, entry, left = float(row["Size"]), float(row["EntryPrice"]), float(row["ExitPrice"])
        fee = results.number(row.get("Commission")) or 0.0
        for kind, price in (("Entry", entry), ("Exit", left)):
            buys = (size > 0) == (kind == "Entry")
            yield {
                "id": f"{number}-{kind.lower()}",
                "symbol": symbol,
                "side": "buy" if buys else "sell",
                "size": abs(size),
                "price": price,
                # One sum is known for both ends; commissions go with the value traded.
                "fee": fee * price / (entry + left),
                "time": results.moment(row[kind + "Time"]),
                "annotation": _words(row.get("Tag")),
            }


def _open(stats: Any, symbol: str) -> Iterator[dict[str, Any]]:
    """What is still held at the end counts in the equity, but is not among the trades."""
    for number, trade in enumerate(getattr(stats.get("_strategy"), "trades", ()), 1):
        yield {
            "id": f"open-{number}",
            "symbol": symbol,
            "side": "buy" if trade.size > 0 else "sell",
            "size": abs(float(trade.size)),
            "price": float(trade.entry_price),
            "time": results.moment(trade.entry_time),
            "annotation": _words(getattr(trade, "tag", None)),
        }


def _words(tag: Any) -> str:
    return "" if tag is None or str(tag) == "nan" else str(tag)


def _metrics(stats: Any) -> Iterator[tuple[str, Any]]:
    """Every figure it has, under its own name."""
    for name, value in stats.items():
        if str(name).startswith("_") or name in ("Start", "End"):
            continue
        title = str(name).replace(MONEY, "").replace(PERCENT, "").strip()
        figure = results.number(value)
        length = results.days(value)
        if length is not None:
            made = results.metric(title, length, "days")
        elif PERCENT in name:
            made = results.metric(title, None if figure is None else figure / 100, "percent")
        elif MONEY in name:
            made = results.metric(title, figure, "money")
        elif str(name).startswith(COUNT):
            made = results.metric(title.lstrip("# "), figure, "count")
        else:
            made = results.metric(title, figure, "number")
        yield results.word(str(name)), made


def _indicators(stats: Any, times: list[float]) -> Iterator[tuple[str, Any]]:
    strategy = stats.get("_strategy")
    for number, values in enumerate(getattr(strategy, "_indicators", ()), 1):
        name = str(getattr(values, "name", None) or f"Indicator {number}")
        rows = list(values) if getattr(values, "ndim", 1) > 1 else [values]
        for place, row in enumerate(rows, 1):
            if len(row) != len(times):
                continue
            title = name if len(rows) == 1 else f"{name} {place}"
            yield (
                f"{results.word(title) or 'indicator'}_{number}",
                {"values": results.curve(times, row), "display_name": title, "type": "number"},
            )
