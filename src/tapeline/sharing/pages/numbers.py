"""Numbers of a shared page as the owner's pages write them (`web/src/format/numbers.ts`); one list
of examples holds the two together."""

from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

MINUS, NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"
# Currencies shown with two decimals; others are shown with more where it matters.
TWO_DIGITS = {"USD", "EUR", "GBP", "CHF", "AUD", "CAD", "NZD", "USDT", "USDC", "BUSD"}
_EVERY_DIGIT = Context(prec=700)  # of any double, in front of the point and behind it


def quantity(value: float | None) -> str:
    """A size: up to eight decimals, fewer for larger values."""
    if value is None:
        return ""
    magnitude = abs(value)
    most = 0 if not magnitude else 2 if magnitude >= 1000 else 4 if magnitude >= 1 else 8
    return _signed(value, _plain(value, 2 if magnitude >= 1000 else 0, most))


def price(value: float | None) -> str:
    if value is None:
        return ""
    return _signed(value, _plain(value, 2, 2 if abs(value) >= 1 else 8))


def money(value: float | None, currency: str | None) -> str:
    if value is None:
        return ""
    return _signed(value, _digits(value, currency)) + _unit(currency)


def gain(value: float | None, currency: str | None) -> str:
    """Money with its sign, for gains and losses."""
    if value is None:
        return ""
    text = _digits(value, currency)
    is_nothing = not any(digit in text for digit in "123456789")
    sign = "" if is_nothing else "+" if value > 0 else MINUS
    return f"{sign}{text}{_unit(currency)}"


def _digits(value: float, currency: str | None) -> str:
    if currency is None or currency in TWO_DIGITS:
        return _plain(value, 2, 2)
    magnitude = abs(value)
    return _plain(value, 2, 2 if magnitude >= 100 else 4 if magnitude >= 1 else 8)


def _plain(value: float, least: int, most: int) -> str:
    with localcontext(_EVERY_DIGIT):
        exact = Decimal(repr(abs(value)))
        rounded = exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
        whole, _, decimals = f"{rounded:,f}".partition(".")
    kept = decimals.rstrip("0").ljust(least, "0")
    return f"{whole}.{kept}" if kept else whole


def _signed(value: float, text: str) -> str:
    return f"{MINUS}{text}" if value < 0 else text


def _unit(currency: str | None) -> str:
    return f"\N{NO-BREAK SPACE}{currency}" if currency else ""
