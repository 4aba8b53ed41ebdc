"""A screener: runs once per scheduled time and reports which symbols have momentum.

The prices are simulated; use your own price source in `week`. Python 3.7 or newer.
"""

import random
import time

import tapeline_client as tapeline

SYMBOLS = ("AAPL", "AMZN", "GOOG", "MSFT", "NVDA", "TSLA")
HOUR = 3600


def week(symbol, moment):
    """The returns of the last five days in percent; simulated, and the same within one hour."""
    dice = random.Random("{} {}".format(symbol, int(moment // HOUR)))
    return [dice.gauss(0.1, 1.5) for _ in range(5)]


def screen(moment):
    """One row per symbol, each with the same columns."""
    rows = {}
    for symbol in SYMBOLS:
        returns = week(symbol, moment)
        momentum = round(sum(returns), 2)
        rows[symbol] = {"momentum": momentum, "last": round(returns[-1], 2), "buy": momentum > 2.0}
    return rows


if __name__ == "__main__":
    found = screen(time.time())
    print("{} of {} to buy".format(sum(row["buy"] for row in found.values()), len(found)))
    tapeline.screener_result(found)
    tapeline.close()
