"""What the owner of a link chose to leave visible. Every question of redaction is asked here."""

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
    """Symbols and exchanges become S1, S2, … and E1, E2, …; prices, which would tell, are left
    out."""
    hide_sizes: bool = False
    """No sizes, fees or profits of single trades and positions."""
    hide_logs: bool = False
    """No log lines and no annotations."""
    delay_hours: Hours = 0
    """Everything as it stood so many hours ago."""
    base: Base | None = None
    """The capital behind a live model, in its quote currency: with it, percentages and ratios are
    known. Never shown under `percent_only`."""

    @property
    def shows_money(self) -> bool:
        """Amounts of the whole account."""
        return not self.percent_only

    @property
    def shows_sizes(self) -> bool:
        """Amounts of single trades and positions."""
        return not (self.percent_only or self.hide_sizes)

    @property
    def shows_symbols(self) -> bool:
        return not self.hide_symbols

    @property
    def shows_prices(self) -> bool:
        """A price and its time tell the symbol to whoever knows the market."""
        return not self.hide_symbols

    @property
    def shows_texts(self) -> bool:
        """Nobody can take symbols or amounts out of free text, so what hides one hides it."""
        return not (self.hide_logs or self.percent_only or self.hide_symbols or self.hide_sizes)
