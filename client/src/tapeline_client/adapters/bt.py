"""What `bt.run()` returns, as results: value of the portfolio, transactions, metrics.

from tapeline_client.adapters import bt as tapeline_bt

found = bt.run(bt.Backtest(strategy, data))
tapeline_bt.report(found)
"""

from __future__ import annotations

from typing import Any, Iterator

from tapeline_client.adapters import results
from tapeline_client.errors import InvalidEvent
from tapeline_client.events import Events

RATIOS = ("sharpe", "sortino", "calmar", "skew", "kurt", "rf")


def result(found: Any, name: str | None = None, *, quote_asset: str = "USD") -> dict[str, Any]:
    """One of the backtests of a `bt.backtest.Result`, by its name if there are several."""
    name = _chosen(found, name)
    strategy = found.backtests[name].strategy
    times = results.times_of(strategy.values.index)
    trades = list(_trades(found, name))
    known = [str(one) for one in found.backtests[name].data.columns]
    return {
        "symbols": sorted({one["symbol"] for one in trades}) or known,
        "quote_asset": quote_asset,
        "start_time": times[0],
        "stop_time": times[-1],
        "account_values": results.curve(times, strategy.values),
        "trades": trades,
        "metrics": dict(_metrics(found[name].stats)),
        "indicators": {},
    }


def report(
    found: Any,
    name: str | None = None,
    *,
    quote_asset: str = "USD",
    client: Events | None = None,
    backtest_id: str | None = None,
    time_elapsed: float | None = None,
    description: str | None = None,
) -> str:
    """Send it; the id under which it is found. In a backtest of the platform that is the run's."""
    made = result(found, name, quote_asset=quote_asset)
    words = description or _chosen(found, name)
    return results.send(made, client, backtest_id, time_elapsed, words)


def _chosen(found: Any, name: str | None) -> str:
    backtests = getattr(found, "backtests", None)
    if not isinstance(backtests, dict) or not hasattr(found, "get_transactions"):
        raise results.unexpected("result of bt", "what bt.run() returns", "bt")
    if name is None and len(backtests) == 1:
        return str(next(iter(backtests)))
    if name not in backtests:
        names = ", ".join(str(one) for one in backtests)
        raise InvalidEvent(f"Which backtest? `name` must be one of: {names}.")
    return str(name)


def _trades(found: Any, name: str) -> Iterator[dict[str, Any]]:
    rows = [
        (date, symbol, float(row["quantity"]), float(row["price"]))
        for (date, symbol), row in found.get_transactions(name).iterrows()
    ]
    # Commissions are known by the day; within one they go with the value traded.
    fees = getattr(found.backtests[name].strategy, "fees", None)
    traded: dict[Any, float] = {}
    for date, _, quantity, price in rows:
        traded[date] = traded.get(date, 0.0) + abs(quantity * price)
    for number, (date, symbol, quantity, price) in enumerate(rows, 1):
        paid = results.number(fees.get(date)) if fees is not None else None
        share = abs(quantity * price) / (traded[date] or 1.0)
        yield {
            "id": str(number),
            "symbol": str(symbol),
            "side": "buy" if quantity > 0 else "sell",
            "size": abs(quantity),
            "price": price,
            "fee": (paid or 0.0) * share,
            "time": results.moment(date),
            "annotation": "",
        }


def _metrics(stats: Any) -> Iterator[tuple[str, Any]]:
    """bt's figures are shares, but for ratios and counts of days."""
    for name, value in stats.items():
        if name in ("start", "end"):
            continue
        figure = results.number(value)
        title = str(name).replace("_", " ").capitalize()
        if any(one in str(name) for one in RATIOS):
            kind = "number"
        else:
            kind = "days" if str(name).endswith("_days") else "percent"
        yield str(name), results.metric(title, figure, kind)
