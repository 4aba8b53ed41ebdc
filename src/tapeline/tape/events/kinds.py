"""Every kind of event in one table: its number on the tape, its addresses, the reader of its
body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tapeline.tape.events import account_bodies, bodies, exact_bodies, price_bodies, statements

CHANNELS_OF_BACKTESTS = 1_000
"""The lines of each backtest have their own channel: this number plus the backtest's."""

Reader = Callable[[Mapping[str, Any], bool], dict[str, Any]]


@dataclass(frozen=True, eq=False)  # one of each: compared by identity, on the hot path
class Kind:
    number: int
    """Its number on the tape. Never reused, never changed; zero for those beside it."""
    name: str
    """Its name for people and in exports."""
    read: Reader
    free: bool = False
    """Whether the body may hold any keys, so that its depth must be checked."""
    is_vital: bool = False
    """Trades and lifecycle: never refused because of a quota."""
    exact: exact_bodies.Decode | None = None
    """Decodes a body that has the usual shape, and fails for any other."""

    @cached_property
    def channel(self) -> int:
        """Where on the tape it is read: all orders together, whatever else changes the books
        together, everything else by its kind."""
        if 5 <= self.number <= 9:
            return 5
        return 19 if 19 <= self.number <= 21 else self.number


LIFECYCLE = Kind(1, "lifecycle", bodies.lifecycle, is_vital=True)
USED_SYMBOL = Kind(2, "used-symbol", bodies.used_symbol)
USED_EXCHANGE = Kind(3, "used-exchange", bodies.used_exchange)
EVENT = Kind(4, "event", bodies.generic, free=True)
SPOT_MARKET = Kind(
    5, "spot-market", bodies.market_order, free=True, is_vital=True, exact=exact_bodies.market_order
)
SPOT_LIMIT = Kind(
    6, "spot-limit", bodies.limit_order, free=True, is_vital=True, exact=exact_bodies.limit_order
)
SPOT_STOP = Kind(7, "spot-stop", bodies.stop_order, free=True, is_vital=True)
UPDATE_TRADE = Kind(8, "update-trade", bodies.update_trade, free=True, is_vital=True)
UPDATE_ANNOTATION = Kind(9, "update-annotation", bodies.update_annotation, is_vital=True)
SCREENER_RESULT = Kind(10, "screener-result", bodies.screener_result)
LOG = Kind(11, "log", bodies.log, exact=exact_bodies.line)
SET_PNL = Kind(12, "set-pnl", bodies.set_pnl)
SET_CUSTOM_METRIC = Kind(13, "set-custom-metric", bodies.set_custom_metric, free=True)
AUTO_PNL = Kind(14, "auto-pnl", bodies.auto_pnl)
BACKTEST_LOG = Kind(15, "backtest-log", bodies.backtest_log)
BACKTEST_STATUS = Kind(16, "backtest-status", bodies.backtest_status)
BACKTEST_RESULT = Kind(17, "backtest-result", bodies.backtest_result_header)
MARK_PRICE = Kind(18, "mark-price", bodies.mark_price, exact=exact_bodies.mark_price)
CASH = Kind(19, "cash", account_bodies.cash, is_vital=True)
POSITION = Kind(20, "position", account_bodies.position, is_vital=True)
ACCOUNT_SETTINGS = Kind(21, "account-settings", account_bodies.account_settings, is_vital=True)
ACCOUNT_VALUE = Kind(22, "account-value", account_bodies.account_value)
STATEMENT = Kind(23, "statement", statements.statement, is_vital=True)
BAR = Kind(0, "bar", price_bodies.bar)
BARS = Kind(0, "bars", price_bodies.bars)
INDICATOR = Kind(0, "indicator", price_bodies.indicator)

KINDS = (
    LIFECYCLE, USED_SYMBOL, USED_EXCHANGE, EVENT, SPOT_MARKET, SPOT_LIMIT, SPOT_STOP, UPDATE_TRADE,
    UPDATE_ANNOTATION, SCREENER_RESULT, LOG, SET_PNL, SET_CUSTOM_METRIC, AUTO_PNL, BACKTEST_LOG,
    BACKTEST_STATUS, BACKTEST_RESULT, MARK_PRICE, CASH, POSITION, ACCOUNT_SETTINGS, ACCOUNT_VALUE,
    STATEMENT,
)  # fmt: skip
BESIDE = frozenset({BAR, BARS, INDICATOR})
"""They come as events do and are not on the tape: charts need them, the record does not."""
BY_NUMBER = {kind.number: kind for kind in KINDS}

LINES = frozenset({LOG, BACKTEST_LOG})
OF_BACKTESTS = frozenset({BACKTEST_LOG, BACKTEST_STATUS, BACKTEST_RESULT})
PLAIN = frozenset({LOG, EVENT, STATEMENT})
"""Nothing is folded from them."""
ORDERS = frozenset({SPOT_MARKET, SPOT_LIMIT, SPOT_STOP})
ABOUT_ORDERS = ORDERS | {UPDATE_TRADE, UPDATE_ANNOTATION}
SEALED = ABOUT_ORDERS | {MARK_PRICE, CASH, POSITION, ACCOUNT_SETTINGS, ACCOUNT_VALUE}
"""Committed to field by field, so that a share can hide some and the rest still verifies. Marks
were not, on older tapes."""
UNFOLDED = frozenset({MARK_PRICE, POSITION, ACCOUNT_VALUE})
"""Sealed, and nothing is folded from them: the books read them from the tape."""
OF_SERVERS = frozenset({ACCOUNT_SETTINGS, STATEMENT})
"""Written by the server, for a model's owner or of its own accord; models cannot send them."""


def _addresses() -> dict[str, Kind]:
    """`/v1/model/*` also answers under `/v1/live/*` and the other way round: clients mix them."""
    found = {
        f"/v1/{room}/{kind.name}": kind
        for kind in (*KINDS, BAR, BARS, INDICATOR)
        if kind not in OF_BACKTESTS | OF_SERVERS
        for room in ("model", "live")
    }
    found["/v1/backtest/log"] = BACKTEST_LOG
    found["/v1/backtest/status"] = BACKTEST_STATUS
    found["/v1/backtest/result"] = BACKTEST_RESULT
    found["/log"] = LOG
    return found


BY_PATH = _addresses()


def by_name(counts: Mapping[int, int]) -> dict[str, int]:
    """Counts that are stored by the number of a kind."""
    return {BY_NUMBER[number].name: count for number, count in counts.items()}


def kind_at(path: str, values: Mapping[str, Any]) -> Kind | None:
    """What an address means. `/log` serves both kinds of line."""
    if path == "/log" and values.get("backtest_id") not in (None, ""):
        return BACKTEST_LOG
    return BY_PATH.get(path)
