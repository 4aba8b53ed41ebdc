"""The account: what it holds, what its orders cost, and how it reports them. Python 3.7 or newer.

Its state is saved after every order, so a restart goes on with the same positions. Every order id
comes from that state: an order that is reported twice is still one order.
"""

import json
import os
from pathlib import Path

import market
import tapeline_client as tapeline
from market import SYMBOLS

CAPITAL = 100000.0
STATE = Path(os.environ.get("TAPELINE_STATE_DIR", ".")) / "account.json"


class Account:
    def __init__(self):
        self.cash, self.orders = CAPITAL, 0
        self.held = dict.fromkeys(SYMBOLS, 0.0)

    def worth(self, prices):
        return self.cash + sum(self.held[symbol] * prices[symbol] for symbol in SYMBOLS)

    def apply(self, symbol, size, price, fee):
        """One fill; a negative size sells. The order as a backtest lists it."""
        self.cash -= size * price + fee
        self.held[symbol] = round(self.held[symbol] + size, 8)
        self.orders += 1
        name, side = "order-{}".format(self.orders), "buy" if size > 0 else "sell"
        order = {"id": name, "symbol": symbol, "side": side, "size": abs(size)}
        return dict(order, price=price, fee=fee)

    def save(self):
        """The whole file or nothing, even if the power fails."""
        new = STATE.with_suffix(".new")
        new.write_text(json.dumps(vars(self)))
        new.replace(STATE)


def load():
    """The account as it was saved. None at the very first start."""
    if not STATE.exists():
        return None
    account = Account()
    vars(account).update(json.loads(STATE.read_text()))
    return account


def report(order, why, moment=None):
    """Tell Tapeline about an order that was filled; without a moment, right now."""
    tapeline.market_order(
        order["symbol"],
        order["side"],
        order["size"],
        id=order["id"],
        exchange=market.EXCHANGE,
        instrument="margin",  # one can be short
        executionPrice=order["price"],
        fee=order["fee"],
        status="filled",
        annotation=why,
        time=moment,
    )
