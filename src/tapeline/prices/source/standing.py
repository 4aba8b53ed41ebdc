"""How the price source stands: what was asked, what went wrong, when it asks again.

One fact of the installation for each exchange, so that every server knows it, and a restart forgets
no pause.
"""

from collections.abc import Iterable, Sequence

import msgspec
from sqlalchemy import Connection, select

from tapeline.prices.source.messages import DAY, HOUR, MINUTE, Wanted
from tapeline.store import facts
from tapeline.store.backends import steady
from tapeline.store.tables.prices import price_series

SHARED = 0
"""The tape under which bars of exchanges are stored. No model has it."""
HISTORY = {MINUTE: 12 * HOUR, HOUR: 60 * DAY, DAY: 3_650 * DAY}
"""Seconds that a new market is asked for, by interval."""
LONGEST_PAUSE = 6 * HOUR
SELDOM = HOUR
"""Seconds from one request for bars of an hour and of a day to the next."""


class Market(msgspec.Struct, omit_defaults=True):
    name: str = ""
    """As the exchange lists it; empty: it does not."""
    asked_at: float = 0.0
    """On the steady clock, as all but `answered_at`."""
    seldom_at: float = 0.0
    due_at: float = 0.0
    failures: int = 0
    """In a row."""
    problem: str = ""
    answered_at: float | None = None
    """For people."""


class Standing(msgspec.Struct, omit_defaults=True):
    due_at: float = 0.0
    failures: int = 0
    problem: str = ""
    answered_at: float | None = None
    markets: dict[str, Market] = {}


def of(connection: Connection, exchange: str) -> Standing:
    known = facts.get(connection, _fact(exchange))
    return Standing() if known is None else msgspec.json.decode(known, type=Standing)


def keep(connection: Connection, exchange: str, standing: Standing) -> None:
    facts.put(connection, _fact(exchange), msgspec.json.encode(standing).decode())


def is_due(connection: Connection, exchange: str) -> bool:
    return of(connection, exchange).due_at <= steady.now(connection)


def pause(every: float, failures: int) -> float:
    """Seconds until the next request: twice as long after each failure in a row."""
    return min(max(every, LONGEST_PAUSE), every * 2.0 ** min(failures, 20))


def due(connection: Connection, exchange: str, markets: Iterable[str], wall: float) -> list[Wanted]:
    """What to ask for, the markets that wait for the longest time first."""
    known, now = of(connection, exchange).markets, steady.now(connection)
    asked = [(known.get(one, Market()), one) for one in markets]
    asked = [(one, name) for one, name in asked if one.due_at <= now]
    asked.sort(key=lambda pair: pair[0].asked_at)
    newest = _newest(connection, exchange, [name for _, name in asked])
    return [
        Wanted(name, _since(one, {i: newest.get((name, i)) for i in HISTORY}, now, wall))
        for one, name in asked
    ]


def _since(
    one: Market, newest: dict[int, float | None], now: float, wall: float
) -> dict[int, float]:
    is_seldom_due = not one.seldom_at or one.seldom_at <= now - SELDOM
    return {
        interval: max(newest[interval] or 0.0, wall - seconds)
        for interval, seconds in HISTORY.items()
        if interval == MINUTE or is_seldom_due
    }


def _newest(
    connection: Connection, exchange: str, markets: Sequence[str]
) -> dict[tuple[str, int], float]:
    one = price_series.c
    query = select(one.symbol, one.interval, one.newest).where(
        one.tape == SHARED, one.name == exchange, one.symbol.in_(markets)
    )
    return {(row.symbol, row.interval): row.newest for row in connection.execute(query)}


def _fact(exchange: str) -> str:
    return f"price source {exchange}"
