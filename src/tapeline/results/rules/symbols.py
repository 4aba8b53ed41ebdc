"""What a symbol says of itself: what is traded, and what it is quoted in."""

import re
from functools import lru_cache

SHORTEST_CURRENCY = 2  # letters: BRK-B is a share of class B, not one that is quoted in B
OPTIONS = frozenset({"C", "P", "CALL", "PUT", "OPTION"})
"""At the end of a symbol whose price may be in what is traded, as those of options on coins are."""
CONTRACTS = frozenset(
    {"SWAP", "PERP", "PERPETUAL", "FUTURE", "FUTURES", "FUT", "QUARTER", "QUARTERLY", "SPOT"}
    | {"MARGIN", "CFD", "INTX", "CDE"}  # the last two: Coinbase's exchanges for contracts
)
_MONTH = "JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
_DAY = r"(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
_EXPIRY = re.compile(rf"((20)?\d\d)?{_DAY}|\d{{0,2}}({_MONTH})(20)?\d\d")
"""240927, 20240927, 0927, 27SEP24, SEP24."""


@lru_cache(maxsize=4_096)
def pair(symbol: str) -> tuple[str, str]:
    """What is traded, and what it is quoted in; empty for a bare ticker."""
    whole = symbol.strip().upper()
    parts = [one.strip() for one in whole.replace("/", "-").split("-")]
    while len(parts) > 1 and (parts[-1] in CONTRACTS or _EXPIRY.fullmatch(parts[-1])):
        parts.pop()
    quote = parts.pop().partition(":")[0].strip()  # BTC/USDT:USDT says what it is settled in too
    if not parts or not _is_currency(quote):
        return whole, ""
    return "-".join(parts), quote


def currency_of(symbol: str) -> str:
    """What a symbol is quoted in; empty for a bare ticker, which its model knows."""
    return pair(symbol)[1]


@lru_cache(maxsize=4_096)
def of_rates(one: str, other: str) -> tuple[str, ...]:
    """The symbols whose marks are rates between two currencies, either way round."""
    return (f"{one}-{other}", f"{one}/{other}", f"{other}-{one}", f"{other}/{one}")


def spellings(symbol: str) -> tuple[str, ...]:
    """A symbol, and the same with the other separator between its currencies."""
    return tuple(dict.fromkeys((symbol, symbol.replace("/", "-"), symbol.replace("-", "/"))))


def _is_currency(said: str) -> bool:
    """No share class, no option and no strike price."""
    return len(said) >= SHORTEST_CURRENCY and said not in OPTIONS and not said.isdigit()
