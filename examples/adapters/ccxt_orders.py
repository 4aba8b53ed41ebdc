"""Orders placed with ccxt, reported to Tapeline as they are placed, filled and canceled.

    pip install ccxt
    EXCHANGE_KEY=… EXCHANGE_SECRET=… python ccxt_orders.py

Trades on Binance's test network, with play money. EXCHANGE_URL names another server with
the same API. The Tapeline server and the model come from the environment or from tapeline.json.
"""

import json
import os
import time
from urllib.parse import urlsplit

import ccxt
import tapeline_client as tapeline
from tapeline_client.adapters import ccxt as adapter

SYMBOL = "BTC/USDT"


def connect():
    exchange = ccxt.binance(
        {
            "apiKey": os.environ["EXCHANGE_KEY"],
            "secret": os.environ["EXCHANGE_SECRET"],
            "options": {"fetchMarkets": ["spot"], "fetchCurrencies": False},
        }
    )
    exchange.set_sandbox_mode(True)
    address = os.environ.get("EXCHANGE_URL")
    if address:
        known = exchange.urls["api"].items()
        exchange.urls["api"] = {name: address + urlsplit(url).path for name, url in known}
    return exchange


def main():
    exchange = connect()
    orders = adapter.Orders(exchange)

    buy = exchange.create_order(SYMBOL, "limit", "buy", 0.5, 40_000)
    orders.report(buy)
    while buy["status"] == "open":
        time.sleep(0.2)
        buy = exchange.fetch_order(buy["id"], SYMBOL)
        orders.report(buy)  # sends only changes: the filled size and its price

    sale = exchange.create_order(SYMBOL, "market", "sell", 0.2)
    orders.report(sale)

    hopeful = exchange.create_order(SYMBOL, "limit", "sell", 0.3, 90_000)
    orders.report(hopeful)
    orders.report(exchange.cancel_order(hopeful["id"], SYMBOL), status="canceled")

    everything = exchange.fetch_orders(SYMBOL)
    again = orders.report(everything)  # for example after a restart: nothing counts twice
    assert tapeline.flush(30), "not sent yet; the next run sends it"
    kept = ("id", "side", "amount", "filled", "average", "status")
    shown = [{key: one[key] for key in kept} for one in everything]
    print(json.dumps({"orders": shown, "again": again}))


if __name__ == "__main__":
    main()
