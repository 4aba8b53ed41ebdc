"""A model in a process of its own, on any Python from 3.7.

`pusher.py forever NAME` hands over numbered orders and prints each number once the call has
returned; `pusher.py try` uses everything there is.
"""

import asyncio
import decimal
import logging
import os
import sys
import threading
import time

import tapeline_client as tapeline
from tapeline_client.adapters import backtesting, bt, ccxt, pandas


def forever(name: str) -> None:
    number = 0
    while True:
        order = f"{name}-{number}"
        tapeline.market_order("BTC-USD", "buy", 1.5, id=order, exchange="x")
        os.write(1, b"%d\n" % number)
        number += 1
        if number % 50 == 0:
            time.sleep(0.001)


def use_everything() -> None:
    tapeline.default_client()._exit_timeout = 60.0  # a slow machine must not lose the last events
    tapeline.lifecycle(message="Trying", running=True)
    tapeline.event("number", {"decimal": decimal.Decimal("0.5"), "nan": float("nan")})
    tapeline.limit_order("ETH-USD", "sell", 2, price=3, id="1", exchange="x")
    order = {"id": "2", "symbol": "ETH/USD", "side": "buy", "amount": 1.0, "status": "closed"}
    assert ccxt.Orders("x").report([order, order]) == 1
    assert all(hasattr(one, "report") for one in (backtesting, bt, pandas))
    tapeline.capture_logging(level=logging.WARNING)
    logging.getLogger("model").warning("logged %d", 1)
    with tapeline.capture_output(force=True):
        print("printed")  # noqa: T201
    assert recorded(2, b=3) == 5
    asyncio.run(use_async())
    thread = threading.Thread(target=tapeline.log, args=("from a thread",))
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        tapeline.log("from a child")
        os._exit(0 if tapeline.flush(20) else 1)
    assert os.waitpid(child, 0)[1] == 0
    tapeline.log("last")


@tapeline.recorded(type="sum")
def recorded(a: int, b: int) -> int:
    return a + b


@tapeline.recorded
async def use_async() -> None:
    assert await tapeline.default_client().aflush(20)


if __name__ == "__main__":
    if sys.argv[1] == "forever":
        forever(sys.argv[2])
    else:
        use_everything()
