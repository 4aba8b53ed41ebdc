"""A screener: runs once per tick of its schedule and says which simulated symbols have momentum.

Only the standard library, Python 3.7 or newer.
"""

import json
import os
import random
import time
import urllib.request

SYMBOLS = ("AAPL", "AMZN", "GOOG", "MSFT", "NVDA", "TSLA")
HOUR = 3600


def screen(moment):
    """Every symbol with the same keys; the same within one hour."""
    result = {}
    for symbol in SYMBOLS:
        dice = random.Random("{} {}".format(symbol, int(moment // HOUR)))
        week = [dice.gauss(0.1, 1.5) for _ in range(5)]
        momentum = round(sum(week), 2)
        result[symbol] = {"momentum": momentum, "last": round(week[-1], 2), "buy": momentum > 2.0}
    return result


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


if __name__ == "__main__":
    found = screen(time.time())
    print("{} of {} to buy".format(sum(one["buy"] for one in found.values()), len(found)))
    push("/v1/live/screener-result", {"result": found})
