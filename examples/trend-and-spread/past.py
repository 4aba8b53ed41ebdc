"""The past: what the rules would have done, for backtests and for the first start.

At its first start the model brings in half a year of simulated trading, as you would bring in the
trades that you made before you came to Tapeline. Nobody can check them: Tapeline marks everything
that it receives long after it happened as late, and so it does with these. Python 3.7 or newer.
"""

import logging

import market
import tapeline_client as tapeline
from account import CAPITAL, report
from market import HOUR, MINUTE, SYMBOLS
from rules import WARM_UP, Rules

DAYS, DAY = 180, 24 * HOUR
DECISION = 4  # hours
FINE = 12 * HOUR  # of the newest past, in which the price chart has every minute
SMALLEST = 0.004  # of the account
log = logging.getLogger("model")


def replay(account, begin, hours, rules):
    """Trade hour after hour. Each gives its end, the worth of the account, and its orders."""
    first = int(begin // HOUR)
    for hour in range(first - WARM_UP, first):
        rules.add(hour)
    for hour in range(first, first + hours):
        rules.add(hour)
        orders = list(_decide(account, rules)) if (hour + 1) % DECISION == 0 else []
        yield (hour + 1) * HOUR, account.worth(rules.last), orders


def _decide(account, rules):
    worth = account.worth(rules.last)
    for symbol, share in rules.targets().items():
        price = rules.last[symbol]
        size = round(share * worth / price - account.held[symbol], 6)
        if abs(size) * price >= SMALLEST * worth:
            order = account.apply(symbol, size, *market.cost(size, price))
            yield order, "{:+.1%} of the account".format(share)


def bring_in(account, now):
    """Report half a year of trading, up to the last decision but one: the last is traded live."""
    hours = DAYS * 24
    end = (now // (DECISION * HOUR) - 1) * DECISION * HOUR
    begin, rules = end - hours * HOUR, Rules()
    log.warning("bringing in %d days of simulated trading, from before this model ran", DAYS)
    tapeline.cash("deposit", CAPITAL, currency="USD", id="capital", time=begin)
    for moment, _, orders in replay(account, begin, hours, rules):
        for order, why in orders:
            report(order, why + ", brought in", moment)
        for symbol in SYMBOLS:
            if moment % (DECISION * HOUR) == 0:
                tapeline.mark_price(symbol, round(rules.last[symbol], 2), time=moment)
            if moment % DAY == 0 or moment > now - FINE:
                draw_rules(rules, symbol, moment)
    for hour in range(int(end // HOUR), int(now // HOUR)):
        rules.add(hour)
        for symbol in SYMBOLS:
            draw_rules(rules, symbol, (hour + 1) * HOUR)
    for symbol in SYMBOLS:
        _draw(symbol, "1h", HOUR, begin, now, market.hourly_bar)
        _draw(symbol, "1m", MINUTE, now - FINE, now, market.minute_bar)
    account.save()
    log.info("%d orders brought in; all later ones are reported as they happen", account.orders)
    return account


def draw_rules(rules, symbol, moment=None):
    """What the rules see: two averages over the prices of the coin, and the spread below."""
    for name, average in rules.averages(symbol).items():
        tapeline.indicator(name, average, symbol=symbol, time=moment)
    tapeline.indicator("score", round(rules.score, 3), pane="spread", time=moment)


def _draw(symbol, name, seconds, begin, end, bar):
    """Bars that have ended, for the price chart."""
    numbers = range(int(begin // seconds), int(end // seconds))
    columns = zip(*(bar(symbol, one) for one in numbers))
    tapeline.bars(symbol, name, [one * seconds for one in numbers], *columns)
