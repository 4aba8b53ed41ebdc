"""Two moving averages: hold while the fast one is above the slow one.

The same rule trades live and in `backtest`. The market is simulated, so nothing but this file is
needed; to trade for real, put your exchange into `next_price` and `report`. Python 3.7 or newer.
"""

import json
import os
import random
import signal
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

import tapeline_client as tapeline

SYMBOL, EXCHANGE, CAPITAL, FEE, DAY = "BTC-USD", "simulated", 10000.0, 0.001, 86400
STEP = 5  # seconds from one live price to the next; in a backtest a day
STATE = Path(os.environ.get("TAPELINE_STATE_DIR", ".")) / "state.json"


def beginning():
    """The state that must survive restarts. Order ids start from the clock, so none is reused."""
    account = {"cash": CAPITAL, "held": 0.0, "first": int(time.time())}
    return dict(account, day=0, price=20000.0, drift=0.0, prices=[])


def next_price(state, seed, seconds=DAY):
    """One step of the simulated market; `day` counts them. The shorter it is, the less it moves.

    Each step has its own seed, so a restart continues in the same market.
    """
    dice = random.Random("{}/{}".format(seed, state["day"]))
    state["drift"] = 0.95 * state["drift"] + dice.gauss(0.0, 0.002)
    moved = (state["drift"] + dice.gauss(0.0, 0.015)) * (seconds / DAY) ** 0.5
    state["price"] = round(state["price"] * (1.0 + moved), 2)
    state["day"] += 1


def chart(state, before, fast, slow):
    """Show the step on the price chart: as a bar, with both averages."""
    price, prices = state["price"], state["prices"]
    tapeline.bar(SYMBOL, STEP, before, max(before, price), min(before, price), price)
    if len(prices) == slow:
        tapeline.indicator("fast average", sum(prices[-fast:]) / fast, symbol=SYMBOL)
        tapeline.indicator("slow average", sum(prices) / slow, symbol=SYMBOL)


def trade(state, fast, slow, share=1.0):
    """Process the newest price; return the resulting order, or None. It buys for a share of the
    cash."""
    state["prices"] = (state["prices"] + [state["price"]])[-slow:]
    if len(state["prices"]) < slow:
        return None
    rising = sum(state["prices"][-fast:]) / fast > sum(state["prices"]) / slow
    if rising == (state["held"] > 0):
        return None
    price, side = state["price"], "buy" if rising else "sell"
    size = round(share * state["cash"] / price / (1 + FEE), 8) if rising else state["held"]
    fee = round(size * price * FEE, 2)
    state["cash"] += (-size if rising else size) * price - fee
    state["held"] = size if rising else 0.0
    return {"side": side, "size": size, "price": price, "fee": fee}


def report(order, state):
    """Report an order. Its id comes from saved state: reported twice, it is still one order."""
    name = "{}-{}".format(state["first"], state["day"])
    tapeline.market_order(
        SYMBOL,
        order["side"],
        order["size"],
        id=name,
        exchange=EXCHANGE,
        annotation="averages crossed",
    )
    tapeline.update_trade(name, executionPrice=order["price"], fee=order["fee"], status="filled")


def save(state, unsaved):
    """Write the whole file or nothing, even if the power fails. Return why it was not written.

    A full disk is no reason to stop trading: say it once, and try again at the next save.
    """
    new = STATE.with_suffix(".new")
    try:
        new.write_text(json.dumps(state))
        new.replace(STATE)
    except OSError as error:
        if not unsaved:
            print("the state cannot be saved for now: {}".format(error), flush=True)
        return str(error)
    if unsaved:
        print("the state is saved again", flush=True)
    return ""


def live(fast=12, slow=48, seed=4, share=0.1):
    """A price every few seconds, until it is stopped. Quick averages, so that you soon see an
    order; each is small, because quick trading costs fees."""
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    state = json.loads(STATE.read_text()) if STATE.exists() else beginning()
    unsaved = ""
    tapeline.used_exchange(EXCHANGE)
    tapeline.used_symbol(SYMBOL)
    print("step {}, {} {} held".format(state["day"], state["held"], SYMBOL), flush=True)
    while not stopping.wait(STEP if state["day"] > slow else 0):  # first, build up a history
        before = state["price"]
        next_price(state, seed, STEP)
        tapeline.mark_price(SYMBOL, state["price"])
        order = trade(state, fast, slow, share)
        chart(state, before, fast, slow)
        if order:
            report(order, state)
        unsaved = save(state, unsaved)
        worth = state["cash"] + state["held"] * state["price"]
        print("price {:.2f}, worth {:.2f}".format(state["price"], worth), flush=True)
    print("stopped, position kept", flush=True)
    tapeline.close()


def backtest(start="2025-01-01", days=365, fast=10, slow=30, seed=4):
    """Tapeline calls this with the backtest's arguments; the return value is the result."""
    begin = datetime.strptime(start, "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp()
    state, values, trades = beginning(), [], []
    for day in range(days):
        moment = begin + day * DAY
        next_price(state, seed)
        order = trade(state, fast, slow)
        if order:
            trades.append(dict(order, symbol=SYMBOL, exchange=EXCHANGE, time=moment))
        values.append({"time": moment, "value": state["cash"] + state["held"] * state["price"]})
    return {
        "symbols": [SYMBOL],
        "quote_asset": "USD",
        "start_time": begin,
        "stop_time": begin + days * DAY,
        "account_values": values,
        "trades": trades,
    }


if __name__ == "__main__":
    live()
