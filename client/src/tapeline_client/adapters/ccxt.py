"""Orders as ccxt returns them: created, partly filled, filled, canceled; prices as it fetches them.

from tapeline_client.adapters import ccxt as tapeline_ccxt

orders = tapeline_ccxt.Orders(exchange)
orders.report(exchange.create_order("BTC/USDT", "limit", "buy", 0.5, 40_000))
orders.report(exchange.fetch_orders("BTC/USDT"))
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any, Iterable, Mapping

import tapeline_client
from tapeline_client.adapters import prices, results
from tapeline_client.errors import InvalidEvent
from tapeline_client.events import Events

REMEMBERED = 10_000
"""How many orders are remembered, to skip unchanged ones."""
STATUSES = {"closed": "filled", "canceled": "canceled", "cancelled": "canceled"}
OVER = ("canceled", "cancelled", "expired", "rejected", "closed")


class Orders:
    """The orders of one exchange. An order that has not changed since is not sent again.

    `exchange` is the one of ccxt, or its name. Of ccxt's own, the tickers and candles that the
    model fetches are reported too, as marks and bars.
    """

    def __init__(self, exchange: Any, client: Events | None = None) -> None:
        self.exchange = str(getattr(exchange, "id", exchange))
        self._client: Any = client or tapeline_client._default
        self._said: OrderedDict[str, str] = OrderedDict()
        self._used: set[str] = set()
        self._prices = prices.Prices(self._client)
        self._parse_timeframe = getattr(exchange, "parse_timeframe", None)
        prices.tap(exchange, "fetch_ticker", self._heard_ticker)
        if self._parse_timeframe is not None:
            prices.tap(exchange, "fetch_ohlcv", self._heard_candles)

    def _heard_ticker(self, ticker: Any, symbol: Any, *_: Any, **_keys: Any) -> None:
        self._prices.mark(symbol, ticker.get("last"))

    def _heard_candles(
        self, candles: Any, symbol: Any, timeframe: str = "1m", *_: Any, **_keys: Any
    ) -> None:
        assert self._parse_timeframe is not None
        rows = ([_seconds(row[0]), *row[1:]] for row in candles)
        self._prices.bars(symbol, self._parse_timeframe(timeframe), rows)

    def report(self, order: Mapping[str, Any] | Iterable[Any], **known: Any) -> int:
        """Send an order, or each of a list, if it changed; return how many did.

        Exchanges answer some calls with little more than an id. Pass fields that they left out
        in `known`: `report(exchange.cancel_order(id), status="canceled")`.
        """
        if not isinstance(order, Mapping):
            if isinstance(order, (str, bytes)) or not hasattr(order, "__iter__"):
                raise results.unexpected("order", "what ccxt returns for one", "ccxt")
            return sum(self.report(one, **known) for one in order)
        said = {**known, **{key: value for key, value in order.items() if value is not None}}
        if said.get("id") in (None, ""):
            raise InvalidEvent("This order has no id: pass an order as ccxt returns it.")
        if ":" in str(said.get("symbol") or ""):
            raise InvalidEvent(f"{said['symbol']} is not a spot market; send spot orders only.")
        return int(self._report(str(said["id"]), said))

    def _report(self, number: str, said: dict[str, Any]) -> bool:
        update = _update(said)
        news = json.dumps(update, sort_keys=True, default=str)
        if self._said.get(number) == news:
            return False
        if number not in self._said:
            if _is_complete(said):
                self._post(number, said)
            elif not update:
                raise InvalidEvent(
                    f"Order {number} came without symbol, side or amount: pass them too, or what "
                    "fetch_order returns."
                )
        if update:
            self._client.update_trade(number, **update)
        self._said[number] = news
        self._said.move_to_end(number)
        if len(self._said) > REMEMBERED:
            self._said.popitem(last=False)
        return True

    def _post(self, number: str, said: dict[str, Any]) -> None:
        """The fields of an order that never change, so that sending them again is a repeat."""
        self._use(str(said["symbol"]))
        size = results.number(said.get("amount"))
        price = results.number(said.get("price"))
        active = results.number(said.get("triggerPrice") or said.get("stopPrice"))
        body: dict[str, Any] = {
            "symbol": said["symbol"],
            "side": said["side"],
            "size": size or None,
            "funds": None if size else said.get("cost"),
            "id": number,
            "exchange": self.exchange,
            "time": _seconds(said.get("timestamp")),
        }
        if said.get("clientOrderId"):
            body["client_order_id"] = str(said["clientOrderId"])
        kind = str(said.get("type") or ("limit" if price else "market"))
        if active:
            self._client.stop_order(price=price or active, active=active, **body)
        elif "market" in kind or not price:
            self._client.market_order(**body)
        else:
            self._client.limit_order(price=price, **body)

    def _use(self, symbol: str) -> None:
        if not self._used:
            self._client.used_exchange(self.exchange)
        if symbol not in self._used:
            self._used.add(symbol)
            self._client.used_symbol(symbol)


def _is_complete(said: Mapping[str, Any]) -> bool:
    sized = said.get("amount") or said.get("cost")
    return bool(said.get("symbol") and said.get("side") and sized)


def _update(said: Mapping[str, Any]) -> dict[str, Any]:
    """The state of an order, in the keys that profit and loss reads."""
    update: dict[str, Any] = {}
    filled = results.number(said.get("filled"))
    status = str(said.get("status") or "")
    if status:
        update["status"] = STATUSES.get(status, status)
        if status == "open" and filled:
            update["status"] = "partially_filled"
    if filled is not None and (filled or status):
        # Zero is sent too: a limit order without fills must not count.
        update["filled_size"] = filled
    price = results.number(said.get("average"))
    if price is None and filled:
        cost = results.number(said.get("cost"))
        price = cost / filled if cost else results.number(said.get("price"))
    if filled and price:
        update["executionPrice"] = price
        at = said.get("lastTradeTimestamp") or (said.get("timestamp") if status in OVER else None)
        if at:
            update["executionTime"] = _seconds(at)
    update.update(_fees(said, price))
    return update


def _fees(said: Mapping[str, Any], price: float | None) -> dict[str, Any]:
    """In the quote currency if that is known; fees in a third currency are kept as they are, and
    do not count."""
    base, _, quote = str(said.get("symbol") or "").partition("/")
    paid: dict[str, float] = {}
    for one in said.get("fees") or [said.get("fee")]:
        cost = results.number((one or {}).get("cost"))
        if cost:
            currency = str(one.get("currency") or quote)
            paid[currency] = paid.get(currency, 0.0) + cost
    if not paid:
        return {}
    total = paid.get(quote, 0.0) + (paid.get(base, 0.0) * price if price else 0.0)
    others = {name: cost for name, cost in paid.items() if name != quote}
    return {**({"fee": total} if total else {}), **({"fees_paid": others} if others else {})}


def _seconds(milliseconds: Any) -> float | None:
    found = results.number(milliseconds)
    return None if found is None else found / 1000
