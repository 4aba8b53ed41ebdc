"""Which symbols' trades count in no sum of money, and why: the rules of the books of live models.

Currencies are never added up without a rate, and a backtest reports none.
"""

from collections.abc import Iterable

from tapeline.results.metrics.trades import Trade
from tapeline.results.rules.symbols import currency_of

ELSEWHERE = "The symbol is quoted in another currency than the result, and no rate is known here."
INVERSE = "The symbol is an inverse contract, which is not computed."
FOREIGN_FEE = "A fee of the symbol was paid in another currency, and no rate is known here."
MULTIPLIERS = "The trades of the symbol say different multipliers."


def reasons(trades: Iterable[Trade], quote_asset: str) -> dict[str, str]:
    """By symbol, the first. `quote_asset` is what a bare ticker is quoted in; empty if all trades
    are known to count in one currency."""
    own = quote_asset.strip().upper()
    found: dict[str, str] = {}
    multipliers: dict[str, float] = {}
    for one in trades:
        if one.is_declared or one.symbol in found:
            continue
        said = multipliers.setdefault(one.symbol, one.multiplier)
        reason = _of_money(one, own) or (MULTIPLIERS if one.multiplier != said else None)
        if reason is not None:
            found[one.symbol] = reason
    return found


def _of_money(one: Trade, own: str) -> str | None:
    quote = currency_of(one.symbol) or own
    if own and quote != own:
        return ELSEWHERE
    if one.is_inverse:
        return INVERSE
    return FOREIGN_FEE if one.fee and one.paid_in not in ("", quote) else None
