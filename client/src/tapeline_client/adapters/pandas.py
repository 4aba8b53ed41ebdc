"""An equity curve and a table of trades as pandas has them, as a backtest's result.

from tapeline_client.adapters import pandas as tapeline_pandas

tapeline_pandas.report(equity, trades, symbol="BTC-USD")
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from tapeline_client.adapters import results
from tapeline_client.errors import InvalidEvent
from tapeline_client.events import Events

# What columns are called in the tables people have, in any case; the first that is there counts.
NAMES = {
    "time": ("time", "timestamp", "datetime", "date"),
    "symbol": ("symbol", "ticker", "asset", "instrument"),
    "side": ("side", "action", "direction"),
    "size": ("size", "quantity", "qty", "amount", "units", "shares"),
    "price": ("price", "execution_price", "fill_price", "average"),
    "fee": ("fee", "fees", "commission"),
    "id": ("id", "order_id", "trade_id"),
    "annotation": ("annotation", "tag", "reason", "comment"),
}
SIDES = {"buy": "buy", "long": "buy", "b": "buy", "sell": "sell", "short": "sell", "s": "sell"}


def result(
    equity: Any,
    trades: Any = None,
    *,
    symbol: str | None = None,
    quote_asset: str = "USD",
    metrics: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A Series of account values by date, and a DataFrame of trades.

    A trade has a time (a column or the index), a symbol (or `symbol` for all), a size, and a side
    unless sales have a negative size. Further columns are kept.
    """
    if not hasattr(equity, "index") or callable(equity.index) or not hasattr(equity, "dtype"):
        raise results.unexpected("equity curve", "a Series with an index of dates", "pandas")
    times = results.times_of(equity.index)
    if not times:
        raise InvalidEvent("The equity curve is empty.")
    made = list(_trades(trades, symbol)) if trades is not None else []
    found = sorted({one["symbol"] for one in made}) or ([symbol] if symbol else [])
    if not found:
        raise InvalidEvent("Which symbol? Pass `symbol`, or trades that name theirs.")
    return {
        "symbols": found,
        "quote_asset": quote_asset,
        "start_time": min(times),
        "stop_time": max(times),
        "account_values": results.curve(times, equity),
        "trades": made,
        "metrics": results.plain_metrics(metrics),
        "indicators": {},
    }


def report(
    equity: Any,
    trades: Any = None,
    *,
    symbol: str | None = None,
    quote_asset: str = "USD",
    metrics: Mapping[str, Any] | None = None,
    client: Events | None = None,
    backtest_id: str | None = None,
    time_elapsed: float | None = None,
    description: str | None = None,
) -> str:
    """Send it; the id under which it is found. In a backtest of the platform that is the run's."""
    made = result(equity, trades, symbol=symbol, quote_asset=quote_asset, metrics=metrics)
    return results.send(made, client, backtest_id, time_elapsed, description)


def _trades(table: Any, symbol: str | None) -> Iterator[dict[str, Any]]:
    columns = getattr(table, "columns", None)
    if columns is None:
        raise results.unexpected("table of trades", "a DataFrame", "pandas")
    by_word = {str(one).strip().lower(): one for one in columns}
    known = {key: _column(by_word, names) for key, names in NAMES.items()}
    if known["size"] is None:
        raise InvalidEvent(f"The trades need a column of sizes, such as `{NAMES['size'][0]}`.")
    times = list(table.index) if known["time"] is None else list(table[known["time"]])
    rest = [one for one in columns if one not in known.values()]
    for number, (at, row) in enumerate(zip(times, table.to_dict("records"))):
        said = {key: None if name is None else row[name] for key, name in known.items()}
        yield {
            **{str(one): row[one] for one in rest},
            **_trade(number, at, said, symbol),
        }


def _trade(number: int, at: Any, said: dict[str, Any], symbol: str | None) -> dict[str, Any]:
    size = results.number(said["size"])
    if not size:
        raise InvalidEvent(f"Trade {number} has no size.")
    side = "sell" if size < 0 else "buy"
    if said["side"] is not None:
        side = SIDES.get(str(getattr(said["side"], "value", said["side"])).lower(), "")
        if not side:
            raise InvalidEvent(f"Trade {number}: side must be buy or sell, not {said['side']!r}.")
    whose = said["symbol"] or symbol
    if not whose:
        raise InvalidEvent(f"Trade {number} names no symbol: pass `symbol`, or a column of them.")
    optional = {"price": results.number(said["price"]), "fee": results.number(said["fee"])}
    return {
        "id": str(number + 1 if said["id"] is None else said["id"]),
        "symbol": str(whose),
        "side": side,
        "size": abs(size),
        "time": results.moment(at),
        "annotation": "" if said["annotation"] is None else str(said["annotation"]),
        **{key: value for key, value in optional.items() if value is not None},
    }


def _column(columns: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((columns[name] for name in names if name in columns), None)
