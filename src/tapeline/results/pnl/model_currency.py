"""The currency of a model: that of its bare tickers, and of cash that names none.

Books keep such amounts under an empty name, and readers ask here for the currency: a backtest, the
capital or a fill that arrives later may still decide it, so no order of arrival matters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.pnl.account import Capital, settings_of
from tapeline.results.pnl.books import Book, Totals, ledger_of
from tapeline.results.rules.position import exact
from tapeline.store.tables.tape import backtests

DEFAULT = "USD"
OWN = ""
"""The name under which books keep what is in it."""


def own_currency(connection: Connection, tape: int) -> str:
    totals, capital = ledger_of(connection, tape).totals, settings_of(connection, tape).capital
    return _decided(connection, tape, totals, capital)


def own_currency_of(
    connection: Connection, tape: int, every: Iterable[Book], capital: Capital | None
) -> str:
    """The same, for a reader who has the books and the settings already."""
    return _decided(connection, tape, totals_of(every), capital)


def _decided(
    connection: Connection, tape: int, totals: Mapping[str, Totals], capital: Capital | None
) -> str:
    result = connection.scalar(
        select(backtests.c.result)
        .where(backtests.c.tape == tape, backtests.c.result_seq.is_not(None))
        .order_by(backtests.c.result_seq.desc())
        .limit(1)
    )
    return decided(quote_asset(result), totals, capital)


def quote_asset(result: bytes | None) -> str:
    """That of a backtest's result; empty if it names none."""
    return asset_in({} if result is None else msgspec.json.decode(result, type=dict[str, Any]))


def asset_in(said: Mapping[str, Any]) -> str:
    """The same of a result that was decoded."""
    asset = said.get("quote_asset")
    return asset.strip().upper() if isinstance(asset, str) else ""


def decided(asset: str, totals: Mapping[str, Totals], capital: Capital | None) -> str:
    """What the newest backtest says. Else what most fills are quoted in, unless the model trades
    bare tickers, which are in dollars then; before the first fill, that of the capital."""
    if asset:
        return asset
    if OWN in totals and _is_traded(totals[OWN]):
        return DEFAULT
    filled = {name: one.fills for name, one in totals.items() if one.fills}
    if filled:
        return min(filled, key=lambda name: (-filled[name], name))
    return capital.currency if capital else DEFAULT


def totals_of(every: Iterable[Book]) -> dict[str, Totals]:
    """As a ledger keeps them."""
    found: dict[str, Totals] = {}
    with exact():
        for one in every:
            found.setdefault(one.currency, Totals()).add(one.state)
    return found


def _is_traded(one: Totals) -> bool:
    """Whether anything in it is a position, and not cash alone."""
    return bool(one.fills or one.opened or one.unrealized or one.left_out)
