"""A simulated exchange with two coins, in place of your own. Python 3.7 or newer.

Prices depend on nothing but the time: restarts, backtests and other models see the same market. It
repeats every 26 weeks, so that the last half year looks alike on whatever day you come.
"""

import math
import random
from functools import lru_cache

SYMBOLS, EXCHANGE = ("BTC-USD", "ETH-USD"), "simulated"
MINUTE, HOUR = 60, 3600
ROUND = 26 * 7 * 24  # hours until the market repeats
SEED = 80
FEE, SLIPPAGE = 0.0004, 0.0003  # of what is traded; a market order crosses the spread


class Refused(Exception):
    """The exchange did not take an order."""


class Exchange:
    """Takes market orders. Its sessions end with the hour, as those of real ones do: the next order
    is refused, and opens a new one."""

    def __init__(self):
        self.session = None

    def fill(self, symbol, size, moment):
        """Buy, or sell a negative size. The price, and the fee."""
        if self.session != moment // HOUR:
            self.session = moment // HOUR
            raise Refused("401 Unauthorized: the session has expired")
        return cost(size, price(symbol, moment))


def price(symbol, moment):
    """The last price at a moment, with the small jumps of single trades."""
    path = _minutes(symbol, int(moment // HOUR))
    minute, part = divmod(moment % HOUR / MINUTE, 1)
    before, after = path[int(minute)], path[int(minute) + 1]
    jump = random.Random("{}/{}".format(symbol, int(moment))).gauss(0.0, 0.00003)
    return round((before + (after - before) * part) * (1.0 + jump), 2)


def close(symbol, hour):
    """The last price of an hour, which is counted from 1970."""
    return _closes()[symbol][hour % ROUND]


def hourly_bar(symbol, hour):
    """Open, high, low and close of an hour."""
    return _bar(_minutes(symbol, hour))


def minute_bar(symbol, minute):
    """Those of a minute, which is counted from 1970, too."""
    return _bar([price(symbol, minute * MINUTE + second) for second in (0, 15, 30, 45, 59)])


def cost(size, last):
    """What a market order pays: its price is worse than the last one, and there is a fee."""
    paid = round(last * (1.0 + math.copysign(SLIPPAGE, size)), 2)
    return paid, round(abs(size) * paid * FEE, 4)


def _bar(prices):
    return tuple(round(one, 2) for one in (prices[0], max(prices), min(prices), prices[-1]))


@lru_cache(maxsize=1)
def _closes():
    """Both coins follow a common path that trends for days; the spread between them comes back."""
    dice, drift, spread = random.Random(SEED), 0.0, 0.0
    steps = [(dice.gauss(0, 1), dice.gauss(0, 1), dice.gauss(0, 1)) for _ in range(ROUND)]
    moves, spreads = [], []
    for noise, news, apart in steps * 2:  # the first time only to end where it begins
        drift = 0.99 * drift + news
        spread = 0.98 * spread + 0.0038 * apart
        moves.append(0.006 * (noise + 0.015 * drift))
        spreads.append(spread)
    moves, spreads = moves[ROUND:], spreads[ROUND:]
    mean, level, common = sum(moves) / ROUND, 0.0, []
    for move in moves:
        level += move - mean
        common.append(level)
    pairs = list(zip(common, spreads))
    return {
        "BTC-USD": [68000.0 * math.exp(one - apart / 2) for one, apart in pairs],
        "ETH-USD": [2600.0 * math.exp(1.2 * one + apart / 2) for one, apart in pairs],
    }


@lru_cache(maxsize=16)
def _minutes(symbol, hour):
    """The 61 prices from the beginning of an hour to its end, on one of the random paths."""
    first, last = close(symbol, hour - 1), close(symbol, hour)
    path = _paths()[(hour * 7 + SYMBOLS.index(symbol) * 31) % 97]
    return [(first + (last - first) * minute / 60) * step for minute, step in enumerate(path)]


@lru_cache(maxsize=1)
def _paths():
    """97 ways through an hour: random walks that are bent to end where they begin."""
    dice, paths = random.Random(SEED), []
    for _ in range(97):
        walk = [0.0]
        for _ in range(60):
            walk.append(walk[-1] + dice.gauss(0.0, 0.0007))
        paths.append([1.0 + step - walk[-1] * place / 60 for place, step in enumerate(walk)])
    return paths
