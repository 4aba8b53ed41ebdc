"""A spot exchange of our own that speaks as Binance does, for the real ccxt to trade on.

A limit order at or above the price is filled in two steps, one at each look; others stay open. A
market order is filled at once.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

PRICE = 41_000.0
FEE = 0.001
MARKET = {
    "symbol": "BTCUSDT",
    "status": "TRADING",
    "baseAsset": "BTC",
    "baseAssetPrecision": 8,
    "quoteAsset": "USDT",
    "quotePrecision": 8,
    "quoteAssetPrecision": 8,
    "baseCommissionPrecision": 8,
    "quoteCommissionPrecision": 8,
    "orderTypes": ["LIMIT", "MARKET", "STOP_LOSS_LIMIT"],
    "icebergAllowed": True,
    "quoteOrderQtyMarketAllowed": True,
    "isSpotTradingAllowed": True,
    "isMarginTradingAllowed": False,
    "permissions": ["SPOT"],
    "permissionSets": [["SPOT"]],
    "filters": [
        {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1e6", "tickSize": "0.01"},
        {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000", "stepSize": "0.00001"},
    ],
}


class Exchange:
    """The orders of one account."""

    def __init__(self) -> None:
        self.orders: dict[int, dict[str, Any]] = {}

    def place(self, said: dict[str, str]) -> dict[str, Any]:
        number, now = len(self.orders) + 1, int(time.time() * 1000)
        size = float(said["quantity"])
        order = {
            "symbol": said["symbol"], "orderId": number, "orderListId": -1,
            "clientOrderId": said.get("newClientOrderId", f"own-{number}"),
            "price": said.get("price", "0.00"), "origQty": str(size), "executedQty": "0",
            "cummulativeQuoteQty": "0", "status": "NEW", "timeInForce": "GTC",
            "type": said["type"], "side": said["side"], "stopPrice": "0", "time": now,
            "updateTime": now, "transactTime": now, "workingTime": now, "isWorking": True,
            "fills": [],
        }  # fmt: skip
        self.orders[number] = order
        if said["type"] == "MARKET":
            self._fill(order, size, PRICE)
            paid = {"price": str(PRICE), "qty": str(size), "tradeId": number}
            paid |= {"commission": str(size * PRICE * FEE), "commissionAsset": "USDT"}
            order["fills"] = [paid]
        return order

    def look(self, number: int) -> dict[str, Any]:
        order = self.orders[number]
        left = float(order["origQty"]) - float(order["executedQty"])
        if order["status"] in {"NEW", "PARTIALLY_FILLED"} and float(order["price"]) <= PRICE:
            first = order["status"] == "NEW"
            self._fill(order, left * 0.4 if first else left, float(order["price"]))
        return order

    def cancel(self, number: int) -> dict[str, Any]:
        order = self.orders[number]
        order.update(status="CANCELED", updateTime=int(time.time() * 1000))
        return order

    def _fill(self, order: dict[str, Any], size: float, price: float) -> None:
        done = round(float(order["executedQty"]) + size, 8)
        whole = done >= float(order["origQty"])
        order.update(
            executedQty=str(done),
            cummulativeQuoteQty=str(round(done * price, 8)),
            status="FILLED" if whole else "PARTIALLY_FILLED",
            updateTime=int(time.time() * 1000),
        )


@contextmanager
def open_exchange() -> Iterator[tuple[Exchange, str]]:
    """The exchange and its address."""
    exchange = Exchange()

    class Counter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, said = self._asked()
            if path.endswith("/exchangeInfo"):
                self._answer({"timezone": "UTC", "serverTime": 0, "symbols": [MARKET]})
            elif path.endswith("/allOrders"):
                self._answer(list(exchange.orders.values()))
            elif path.endswith("/order"):
                self._answer(exchange.look(int(said["orderId"])))
            else:
                self._answer({"code": -1, "msg": f"there is no {path}"}, 404)

        def do_POST(self) -> None:
            self._answer(exchange.place(self._asked()[1]))

        def do_DELETE(self) -> None:
            self._answer(exchange.cancel(int(self._asked()[1]["orderId"])))

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

        def _asked(self) -> tuple[str, dict[str, str]]:
            where = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            return where.path, dict(parse_qsl(where.query) + parse_qsl(body))

        def _answer(self, value: Any, status: int = 200) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Counter) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield exchange, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
