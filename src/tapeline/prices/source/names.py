"""Which market of an exchange a symbol means. Pure functions.

Only an exact name counts: `BTC-USD` is the market `BTC/USD`, and never `BTC/USDT`. A symbol itself
is not sent to an exchange. It is looked up among the markets that the exchange lists.
"""

import re
from collections.abc import Iterable

_PART = r"[A-Z0-9.$_]"
_PAIR = re.compile(
    rf"({_PART}{{1,30}})[/-]({_PART}{{2,30}}(?::{_PART}{{1,30}}(?:-{_PART}{{1,30}}){{0,3}})?)"
)


def market_of(symbol: str) -> str | None:
    """The name under which exchanges of ccxt would list a symbol; None if it is not a pair."""
    found = _PAIR.fullmatch(symbol.strip().upper())
    return None if found is None else f"{found[1]}/{found[2]}"


def symbols_of(market: str) -> tuple[str, str]:
    """The spellings that models use for a market."""
    return market, market.replace("/", "-", 1)


def listed(wanted: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """Of each wanted market that is listed, the name in the exchange's own spelling. Two that
    differ only in their case are left out: nobody could say which one is meant."""
    by_upper: dict[str, set[str]] = {}
    for name in names:
        by_upper.setdefault(name.upper(), set()).add(name)
    found = {one: by_upper.get(one, set()) for one in wanted}
    return {one: next(iter(some)) for one, some in found.items() if len(some) == 1}
