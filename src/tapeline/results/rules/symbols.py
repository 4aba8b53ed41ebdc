"""What a symbol says of itself: what is traded, and what it is quoted in."""

from functools import lru_cache

SHORTEST_CURRENCY = 2  # letters: BRK-B is a share of class B, not one that is quoted in B


@lru_cache(maxsize=4_096)
def pair(symbol: str) -> tuple[str, str]:
    """What is traded, and what it is quoted in; empty for a bare ticker."""
    first, separator, quote = symbol.replace("/", "-").rpartition("-")
    quote = quote.partition(":")[0].strip().upper()
    known = quote if separator and len(quote) >= SHORTEST_CURRENCY else ""
    return first.strip().upper(), known


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
