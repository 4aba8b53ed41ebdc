"""A process of its own that asks one exchange for candles, so that no request waits and ccxt's
memory is only used meanwhile.

Run as `python -m tapeline.prices.source.exchange`: the order comes as JSON on standard input, and
what the exchange says goes to standard output. It ends when everything was asked for, when its time
is over, or when the exchange is away; and with its server.
"""

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import ccxt
import msgspec

from tapeline import lifetime, memory
from tapeline.prices.source import names
from tapeline.prices.source.messages import (
    MINUTE,
    TIMEFRAMES,
    Asked,
    Away,
    Candles,
    Listing,
    Order,
    Refused,
    Row,
    Said,
    Wanted,
)

MEMORY = 1_500_000_000  # bytes of addresses: an answer without an end ends here
PAGES = 12
"""Requests for one interval of a market in one go; the rest follows the next time."""
LONGEST_PAGE = 5_000
PATIENCE = 3
"""Markets in a row without an answer, after which the exchange counts as away."""


class _Late(BaseException):
    """Not an `Exception`: ccxt and its libraries would take it for one of their own."""


def main() -> None:
    out = _standard_output()
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    lifetime.end_with(order.parent)
    memory.be_expendable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for said in answers(order):
        out.write(msgspec.json.encode(said) + b"\n")
        out.flush()


def answers(order: Order) -> Iterator[Said]:
    ends = time.monotonic() + order.seconds
    exchange = _opened(order)
    try:
        with _within(3 * order.patience):  # the list of markets is long
            markets: dict[str, Any] = exchange.load_markets()
    except (Exception, _Late) as error:  # noqa: BLE001 - whatever it was, there is no list
        yield Away(_why(error))
        return
    there = [name for name, one in markets.items() if one.get("active") is not False]
    listed = names.listed((one.market for one in order.wanted), there)
    yield Listing(listed)
    without = 0
    for one in order.wanted:
        if one.market not in listed or time.monotonic() > ends:
            continue
        try:
            yield from _asked(exchange, listed[one.market], one, order.patience)
            without = 0
        except (ccxt.DDoSProtection, ccxt.ExchangeNotAvailable) as error:
            yield Away(_why(error))  # asking on would make it worse
            return
        except (Exception, _Late) as error:  # noqa: BLE001 - the others are asked for anyway
            yield Refused(one.market, _why(error))
            without += isinstance(error, _Late | ccxt.NetworkError)
            if without >= PATIENCE:
                yield Away(_why(error))
                return


def _asked(exchange: Any, name: str, wanted: Wanted, patience: float) -> Iterator[Said]:
    for interval, since in wanted.since.items():
        if TIMEFRAMES[interval] in exchange.timeframes:
            for rows in _pages(exchange, name, interval, since, patience):
                yield Candles(wanted.market, interval, rows)
    yield Asked(wanted.market)


def _pages(
    exchange: Any, name: str, interval: int, since: float, patience: float
) -> Iterator[list[Row]]:
    """From `since` on, until the newest."""
    for _ in range(PAGES):
        with _within(patience):
            rows = exchange.fetch_ohlcv(name, TIMEFRAMES[interval], since=int(since * 1000))
        found = [_row(one) for one in rows[:LONGEST_PAGE]]
        if found:
            yield found
        reached = max((one[0] / 1000 for one in found if one[0] is not None), default=None)
        now = time.time()
        if reached is None:  # perhaps it is not listed for so long: look where it may have begun
            if interval == MINUTE or now - since < 2 * interval:
                return
            since = (since + now) / 2
        elif reached <= since or reached > now - interval:
            return
        else:
            since = reached + interval


def _opened(order: Order) -> Any:
    chosen = {"enableRateLimit": True, "timeout": int(order.patience * 1000)}
    exchange = getattr(ccxt, order.exchange)(chosen)
    if order.url:
        exchange.urls["api"] = _moved(exchange.urls["api"], order.url)
    return exchange


def _moved(known: Any, url: str) -> Any:
    """The same addresses at another server."""
    if isinstance(known, dict):
        return {key: _moved(one, url) for key, one in known.items()}
    return url.rstrip("/") + urlsplit(known).path if isinstance(known, str) else known


def _row(one: Any) -> Row:
    """What is not a number becomes null, which those who receive it leave out."""
    values = list(one)[:6] if isinstance(one, list | tuple) else []
    return [value if type(value) in (int, float) else None for value in values]


def _why(error: BaseException) -> str:
    """For people: of an exchange's answer nothing is repeated, it may hold anything."""
    if isinstance(error, _Late | ccxt.RequestTimeout):
        return "It did not answer in time."
    if isinstance(error, ccxt.DDoSProtection):  # also where a limit on requests is reached
        return "It refuses more requests for now."
    if isinstance(error, ccxt.OnMaintenance):
        return "It is under maintenance."
    if isinstance(error, ccxt.AuthenticationError):
        return "It has no prices for those without an account."
    if isinstance(error, ccxt.NetworkError):
        return f"It cannot be reached ({type(error).__name__})."
    return f"Its answer cannot be used ({type(error).__name__})."


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """For a whole answer, however slowly each of its bytes comes."""
    signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_late(_number: int, _frame: FrameType | None) -> None:
    raise _Late


def _standard_output() -> BinaryIO:
    """For our answers alone: what a library prints goes to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


if __name__ == "__main__":
    main()
