"""What the owner of a link chose to show. Every decision about redaction is made here.

Money is price times size: anyone who knows two of them knows the third. So a link never shows two
of the three while it hides the other one.
"""

from typing import Annotated

import msgspec

LONGEST_DELAY = 24 * 365

Hours = Annotated[int, msgspec.Meta(ge=0, le=LONGEST_DELAY)]
Base = Annotated[float, msgspec.Meta(ge=0.01, le=1e15)]


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing is hidden unless it is chosen."""

    percent_only: bool = False
    """No amounts of money and no sizes anywhere: curves are rebased."""
    hide_symbols: bool = False
    """Symbols and exchanges become S1, S2, … and E1, E2, …; prices and sizes, which would tell, are
    left out."""
    hide_sizes: bool = False
    """The same as `percent_only`: a curve in money and the market's prices tell every size."""
    hide_logs: bool = False
    """No log lines and no annotations."""
    delay_hours: Hours = 0
    """Everything as it stood so many hours ago."""
    base: Base | None = None
    """The capital behind a live model, in its quote currency: with it, percentages and ratios are
    known. Never shown under `percent_only`."""

    @property
    def shows_money(self) -> bool:
        """Amounts of the account, of trades and of positions: the curve is the sum of all trades,
        so one cannot be shown without the other."""
        return not (self.percent_only or self.hide_sizes)

    @property
    def shows_symbols(self) -> bool:
        return not self.hide_symbols

    @property
    def shows_prices(self) -> bool:
        """A price and its time reveal the symbol to anyone who knows the market."""
        return self.shows_symbols

    @property
    def shows_sizes(self) -> bool:
        """Quantities: with prices they reveal amounts of money, with amounts they reveal prices."""
        return self.shows_money and self.shows_prices

    @property
    def shows_foreign_amounts(self) -> bool:
        """Fees as they were reported, and amounts in a currency that is named: quantities of some
        asset. Beside what it was worth in money, each reveals a price."""
        return self.shows_sizes

    @property
    def shows_texts(self) -> bool:
        """Symbols and amounts cannot be removed from free text, so hiding either hides the text."""
        return self.shows_sizes and not self.hide_logs
