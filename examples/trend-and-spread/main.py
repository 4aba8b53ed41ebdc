"""Two rules on two coins, long and short. Python 3.7 or newer.

It decides every four hours, and works towards the decision in small orders, so as not to move the
price. The same rules (rules.py) trade live and in `backtest`. The market is simulated (market.py):
to trade for real, put your exchange there.
"""

import logging
import signal
import threading
import time
from datetime import datetime, timezone

import market
import past
import tapeline_client as tapeline
from account import Account, load, report
from market import HOUR, MINUTE, SYMBOLS
from rules import WARM_UP, Rules

DECISION = 4 * HOUR  # from one decision to the next
SLICES = 160  # orders towards one decision, at most: one every two minutes
SMALLEST = 10.0  # dollars; exchanges take no smaller ones
PAUSE = 5.0  # seconds between two looks at the market
log = logging.getLogger("model")


class Trader:
    """Works from what was held at the last decision to what was decided, a little every minute."""

    def __init__(self, account, now):
        self.account, self.rules, self.exchange = account, Rules(), market.Exchange()
        self.hour = int(now // HOUR) - WARM_UP
        self.bars, self.minute = {}, None
        self.decide(int(now // DECISION) * DECISION)

    def learn(self, until):
        """The closes of all hours that have ended."""
        while (self.hour + 1) * HOUR <= until:
            self.rules.add(self.hour)
            self.hour += 1

    def decide(self, moment):
        self.learn(moment)
        self.decided, self.start = moment, dict(self.account.held)
        worth = self.account.worth(self.rules.last)
        shares = self.rules.targets()
        self.goal = {one: shares[one] * worth / self.rules.last[one] for one in SYMBOLS}
        words = ", ".join("{} {:+.1%}".format(one, shares[one]) for one in SYMBOLS)
        log.info("decided: %s of %.0f USD", words, worth)
        tapeline.event(
            "decision",
            args={"worth": round(worth, 2), "shares": _rounded(shares, 4)},
            response=_rounded(self.goal, 6),
        )

    def look(self, now):
        """One look at the market: report prices, and once a minute trade."""
        self.learn(now)
        prices = {symbol: market.price(symbol, now) for symbol in SYMBOLS}
        is_new_minute, self.minute = now // MINUTE != self.minute, now // MINUTE
        for symbol, price in prices.items():
            tapeline.mark_price(symbol, price)
            self.draw(symbol, price, is_new_minute)
        if now - self.decided >= DECISION:
            self.decide(int(now // DECISION) * DECISION)
        if is_new_minute:
            for symbol in SYMBOLS:
                self.work(symbol, prices[symbol], now)
            log.debug("worth %.2f USD", self.account.worth(prices))

    def draw(self, symbol, price, is_new):
        """The minute under way as a bar, and the averages over it."""
        if is_new or symbol not in self.bars:
            self.bars[symbol] = [price, price, price, price]
            past.draw_rules(self.rules, symbol)
        first, high, low, _ = self.bars[symbol]
        self.bars[symbol] = [first, max(high, price), min(low, price), price]
        tapeline.bar(symbol, "1m", *self.bars[symbol])

    def work(self, symbol, price, now):
        """Trade what the schedule lacks, if it is worth an order."""
        done = min(1.0, (now - self.decided) / DECISION)
        way = self.goal[symbol] - self.start[symbol]
        size = round(self.start[symbol] + way * done - self.account.held[symbol], 6)
        if abs(size) < abs(way) / SLICES or abs(size) * price < SMALLEST:
            return
        try:
            order = self.account.apply(symbol, size, *self.exchange.fill(symbol, size, now))
        except market.Refused:
            log.exception("%s order refused; the next minute tries again", symbol)
            return
        report(order, "{:.0%} of the way to {:+.4f}".format(done, self.goal[symbol]))
        self.account.save()  # not earlier: a crash in between must not lose the report
        log.info("%s %s %s at %s", order["side"], order["size"], symbol, order["price"])


def _rounded(numbers, digits):
    return {name: round(number, digits) for name, number in numbers.items()}


def live():
    """Trade until it is stopped. Positions stay open."""
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    log.setLevel(logging.DEBUG)
    tapeline.capture_logging("model", level=logging.DEBUG)
    tapeline.used_exchange(market.EXCHANGE)
    for symbol in SYMBOLS:
        tapeline.used_symbol(symbol)
    account = load() or past.bring_in(Account(), time.time())
    trader = Trader(account, time.time())
    while not stopping.wait(PAUSE):
        trader.look(time.time())
    log.warning("stopped; positions are kept")
    tapeline.close()


def backtest(start="2026-05-15", days=180, **arguments):
    """Tapeline calls this with the backtest's arguments; the return value is the result."""
    begin = datetime.strptime(start, "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp()
    account, rules, values, scores, trades = Account(), Rules(**arguments), [], [], []
    for moment, worth, orders in past.replay(account, begin, days * 24, rules):
        values.append({"time": moment, "value": worth})
        scores.append({"time": moment, "value": round(rules.score, 3)})
        trades += [dict(one, time=moment, exchange=market.EXCHANGE) for one, _ in orders]
    return {
        "symbols": list(SYMBOLS),
        "quote_asset": "USD",
        "start_time": begin,
        "stop_time": begin + days * 24 * HOUR,
        "account_values": values,
        "trades": trades,
        "indicators": {
            "score": {"values": scores, "display_name": "Spread score", "type": "number"}
        },
    }


if __name__ == "__main__":
    live()
