"""Two moving averages on a simulated market: buy when the fast one crosses above the slow one.

Live it trades one simulated day every few seconds and pushes every order. `backtest` runs years of
them at once. Only the standard library, Python 3.7 or newer.
"""

import json
import os
import random
import time
import urllib.request

SYMBOL, EXCHANGE, CASH, FEE = "BTC-USD", "simulated", 10_000.0, 0.001
DAY = 86400


def market(seed):
    """Prices of one simulated day after another."""
    dice, price, drift = random.Random(seed), 20_000.0, 0.0
    while True:
        drift = 0.97 * drift + dice.gauss(0.0, 0.003)
        price *= 1.0 + drift + dice.gauss(0.0, 0.015)
        yield price


class Crossing:
    """Says `buy`, `sell` or nothing for each new price."""

    def __init__(self, fast, slow):
        self.fast, self.slow, self.prices, self.holds = fast, slow, [], False

    def decide(self, price):
        self.prices = (self.prices + [price])[-self.slow :]
        if len(self.prices) < self.slow:
            return None
        above = sum(self.prices[-self.fast :]) / self.fast > sum(self.prices) / self.slow
        if above == self.holds:
            return None
        self.holds = above
        return "buy" if above else "sell"


def push(path, body):
    """Send an event to the platform; without one, print it."""
    address = os.environ.get("TAPELINE_URL")
    if not address:
        print(path, json.dumps(body))
        return
    headers = {
        "Content-Type": "application/json",
        "model_id": os.environ["TAPELINE_MODEL_ID"],
        "api_key": os.environ["TAPELINE_API_KEY"],
        "api_pass": os.environ["TAPELINE_API_PASS"],
    }
    request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
    urllib.request.urlopen(request, timeout=30).read()


def order(number, side, size, price, annotation):
    """One order as the platform reads it."""
    name = "{}-{}".format(os.environ.get("TAPELINE_RUN_ID", "local"), number)
    return {
        "id": name,
        "symbol": SYMBOL,
        "exchange": EXCHANGE,
        "side": side,
        "size": round(size, 8),
        "price": round(price, 2),
        "fee": round(size * price * FEE, 2),
        "annotation": annotation,
    }


def live(pause=3.0):
    """Trade for ever, with a past to begin with."""
    push("/v1/model/used-exchange", {"exchange": EXCHANGE})
    push("/v1/model/used-symbol", {"symbol": SYMBOL})
    crossing, cash, held, number = Crossing(5, 15), CASH, 0.0, 0
    prices = market(time.time())
    for _ in range(crossing.slow):
        crossing.decide(next(prices))
    crossing.holds = False
    for price in prices:
        print("price {:.2f}, worth {:.2f}".format(price, cash + held * price), flush=True)
        push("/v1/live/mark-price", {"symbol": SYMBOL, "price": round(price, 2)})
        side = crossing.decide(price)
        if side:
            number += 1
            size = cash / price / (1 + FEE) if side == "buy" else held
            push("/v1/live/spot-limit", order(number, side, size, price, "averages crossed"))
            change = size * price
            cash, held = (0.0, size) if side == "buy" else (change * (1 - FEE), 0.0)
        time.sleep(pause)


def backtest(days=365, fast=10, slow=30, seed=7):
    """Called by the platform with the backtest's arguments; what it returns is the result."""
    start = time.time() // DAY * DAY - days * DAY
    crossing, cash, held = Crossing(fast, slow), CASH, 0.0
    values, trades = [], []
    for day, price in zip(range(days), market(seed)):
        moment = start + day * DAY
        side = crossing.decide(price)
        if side:
            size = cash / price / (1 + FEE) if side == "buy" else held
            cash, held = (0.0, size) if side == "buy" else (size * price * (1 - FEE), 0.0)
            trades.append(dict(order(len(trades) + 1, side, size, price, ""), time=moment))
        values.append({"time": moment, "value": cash + held * price})
    gain = values[-1]["value"] / CASH - 1.0 if values else 0.0
    return {
        "symbols": [SYMBOL],
        "quote_asset": "USD",
        "start_time": start,
        "stop_time": start + days * DAY,
        "account_values": values,
        "trades": trades,
        "metrics": {"gain": {"value": gain, "display_name": "Gain", "type": "percent"}},
        "indicators": {},
    }


if __name__ == "__main__":
    live()
