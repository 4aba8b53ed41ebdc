"""The two rules: follow the trend of each coin, and expect the spread between them to come back.

From hourly closes to the share of the account that each coin should have. Python 3.7 or newer.
"""

import math

import market
from market import SYMBOLS

TREND, SPREAD = 0.4, 0.6  # how much of the account each rule may use
SHORTS = True
FAST, SLOW = 48, 192  # hours
WARM_UP = 4 * SLOW  # hours of prices before the first decision


class Average:
    """An exponential moving average."""

    def __init__(self, hours):
        self.weight, self.value = 2.0 / (hours + 1), None

    def add(self, number):
        before = number if self.value is None else self.value
        self.value = before + (number - before) * self.weight
        return self.value


class Rules:
    def __init__(self, trend=TREND, spread=SPREAD, fast=FAST, slow=SLOW, shorts=SHORTS):
        self.trend, self.spread, self.slow, self.shorts = trend, spread, slow, shorts
        self.fast_average = {symbol: Average(fast) for symbol in SYMBOLS}
        self.slow_average = {symbol: Average(slow) for symbol in SYMBOLS}
        self.variance = {symbol: Average(slow) for symbol in SYMBOLS}
        self.ratio, self.width = Average(slow // 2), Average(slow)
        self.last, self.score = {}, 0.0

    def add(self, hour):
        """The closes of one more hour."""
        for symbol in SYMBOLS:
            close = market.close(symbol, hour)
            move = close / self.last.get(symbol, close) - 1.0
            self.last[symbol] = close
            self.fast_average[symbol].add(close)
            self.slow_average[symbol].add(close)
            self.variance[symbol].add(move * move)
        apart = math.log(self.last[SYMBOLS[0]] / self.last[SYMBOLS[1]])
        off = apart - self.ratio.add(apart)
        self.score = off / (math.sqrt(self.width.add(off * off)) or 1.0)

    def targets(self):
        """The share of each coin; negative is short."""
        spread = math.tanh(self.score / 1.5) * self.spread / 2
        found = {}
        for symbol, against in zip(SYMBOLS, (-spread, spread)):
            share = self.strength(symbol) * self.trend / 2 + against
            found[symbol] = share if self.shorts else max(0.0, share)
        return found

    def strength(self, symbol):
        """How far the averages are apart, in moves that are usual for this coin: from -1 to 1."""
        usual = math.sqrt(self.variance[symbol].value * self.slow) or 1.0
        apart = self.fast_average[symbol].value / self.slow_average[symbol].value - 1.0
        return math.tanh(apart / usual / 0.3)

    def averages(self, symbol):
        """For the chart."""
        return {
            "fast average": round(self.fast_average[symbol].value, 2),
            "slow average": round(self.slow_average[symbol].value, 2),
        }
