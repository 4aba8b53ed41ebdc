"""Numbers for people, as the pages write them (`web/src/format/numbers.ts`): on shared pages and in
commands. One list of examples holds the two together.

A model may report any number, and sums of those overflow: every double can be written here.
"""

import math
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Literal

MINUS, NOTHING, ENDLESS = "\N{MINUS SIGN}", "\N{EN DASH}", "\N{INFINITY}"
# Currencies shown with two decimals; others are shown with more where it matters.
TWO_DIGITS = {"USD", "EUR", "GBP", "CHF", "AUD", "CAD", "NZD", "USDT", "USDC", "BUSD"}
# Enough for what exchanges quote (112.578125, 151.12345).
DIGITS_OF_A_PRICE = 10
DIGITS_OF_AN_AVERAGE = 6  # of different prices, which has no tick
DIGITS_OF_A_SIZE = 6  # of one that is far below 1
MOST_DECIMALS = 20
# Of an amount below 1 whose currency nobody knows: it may be dollars or bitcoins.
DIGITS_OF_AN_AMOUNT = 4
# The smallest part of a bitcoin; what is below it is the noise of sums.
DECIMALS_OF_A_COIN = 8
# What nobody reads digit by digit: 1.2e305 stands for it.
ABSURD = Decimal("1e24")
_SOMETHING = f"123456789{ENDLESS}"
_EVERY_DIGIT = Context(prec=700)  # of any double, in front of the point and behind it


def quantity(value: float | None) -> str:
    """A size: the more decimals, the smaller it is."""
    if value is None:
        return ""
    magnitude = abs(value)
    small = max(8, _decimals(value, DIGITS_OF_A_SIZE))
    most = 0 if not magnitude else 2 if magnitude >= 1000 else 4 if magnitude >= 1 else small
    return _signed(value, _plain(value, 2 if magnitude >= 1000 else 0, most))


def price(value: float | None) -> str:
    """With the digits that it came with, unless those are the noise of an average."""
    if value is None:
        return ""
    own = len(Decimal(repr(value)).normalize().as_tuple().digits)
    kept = DIGITS_OF_AN_AVERAGE if own > DIGITS_OF_A_PRICE else DIGITS_OF_A_PRICE
    return _signed(value, _plain(value, 2, max(2, _decimals(value, kept))))


def integer(value: float | None) -> str:
    return "" if value is None else _signed(value, _plain(value, 0, 0))


def ratio(value: float | None) -> str:
    """With two decimals, or more if two would round it to zero."""
    if value is None:
        return ""
    size = abs(value)
    most = 2 if size == 0 or size >= 0.1 else 4 if size >= 0.001 else 6
    return _signed(value, _plain(value, 2, most))


def percent(share: float | None) -> str:
    return "" if share is None else f"{_signed(share, _plain(share, 2, 2, times=100))} %"


def days(count: float | None) -> str:
    """A duration in a unit that fits: a record may cover an hour or ten years."""
    if count is None:
        return ""
    hours, minutes = count * 24, count * 24 * 60
    if count >= 2:
        return f"{_plain(count, 0, 0 if count >= 100 else 1)} days"
    if hours >= 1:
        return f"{_plain(hours, 0, 1)} h"
    if minutes >= 1 or minutes == 0:
        return f"{_plain(minutes, 0, 1)} min"
    return f"{_plain(minutes * 60, 0, 1)} s"


def money(value: float | None, currency: str | None) -> str:
    return "" if value is None else amount(value, currency) + _unit(currency)


def gain(value: float | None, currency: str | None) -> str:
    """Money with its sign, for gains and losses."""
    return "" if value is None else signed_amount(value, currency) + _unit(currency)


def amount(value: float | None, currency: str | None) -> str:
    """Money with the digits of its currency but not its name, where that is said once for all."""
    return "" if value is None else _signed(value, _digits(value, currency))


def signed_amount(value: float | None, currency: str | None) -> str:
    text = amount(value, currency)
    return text if value is None or value <= 0 or is_nothing(text) else f"+{text}"


def hundredths(value: float | None) -> str:
    """Of what counts in hundreds: percents, and an index."""
    return "" if value is None else _signed(value, _plain(value, 2, 2))


def tone(text: str) -> Literal["gain", "loss", ""]:
    """Of a figure as it is written: 0.00 is neither a gain nor a loss, however it was rounded."""
    if is_nothing(text):
        return ""
    return "loss" if text.startswith(("-", MINUS)) else "gain"


def without_sign_of_nothing(text: str) -> str:
    """0.00 for -0.00."""
    return text.lstrip(f"-{MINUS}") if is_nothing(text) else text


def is_nothing(text: str) -> bool:
    """Whether a written figure has no digit but 0; its currency may have others."""
    return not any(one in text.split(maxsplit=1)[0] for one in _SOMETHING) if text else True


def _decimals(value: float, digits: int) -> int:
    """The decimals that so many significant digits need."""
    exponent = Decimal(repr(value)).adjusted() if value else 0
    return min(MOST_DECIMALS, digits - 1 - exponent)


def _digits(value: float, currency: str | None) -> str:
    magnitude = abs(value)
    if currency in TWO_DIGITS or (not currency and magnitude >= 1):
        return _plain(value, 2, 2)
    if not currency:
        return _plain(value, 2, min(DECIMALS_OF_A_COIN, _decimals(value, DIGITS_OF_AN_AMOUNT)))
    most = 2 if magnitude >= 100 else 4 if magnitude >= 1 else DECIMALS_OF_A_COIN
    return _plain(value, 2, most)


def _plain(value: float, least: int, most: int, *, times: int = 1) -> str:
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else ENDLESS
    with localcontext(_EVERY_DIGIT):
        exact = Decimal(repr(abs(value))) * times
        if exact >= ABSURD:
            return _short(exact)
        rounded = exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
        whole, _, decimals = f"{rounded:,f}".partition(".")
    kept = decimals.rstrip("0").ljust(least, "0")
    return f"{whole}.{kept}" if kept else whole


def _short(value: Decimal) -> str:
    digits, exponent = f"{value:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def _signed(value: float, text: str) -> str:
    return f"{MINUS}{text}" if value < 0 and not is_nothing(text) else text


def _unit(currency: str | None) -> str:
    return f"\N{NO-BREAK SPACE}{currency}" if currency else ""
