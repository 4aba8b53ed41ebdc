"""Which markets are worth asking for: those of the symbols that models use, in fair shares.

A tenant could use thousands of symbols, and an exchange answers few requests a second. So tenants
take turns, each with the symbols that it used last.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, zip_longest

from sqlalchemy import Connection, func, select

from tapeline.accounts import tenants
from tapeline.prices.source import names
from tapeline.store.backends import steady
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import books
from tapeline.store.tables.tape import tapes, used

MOST = 300
"""Markets of one exchange."""
OF_PROJECT = 300
RECENT = 30 * 86_400.0
"""Seconds since the last order or price of a symbol that counts as used."""

ByProject = Mapping[str, Iterable[str]]
More = Callable[[Connection], ByProject]


def markets(connection: Connection, more: More) -> list[str]:
    """`more`: other symbols that projects need prices of, by project. They come first."""
    by_project: dict[str, list[str]] = defaultdict(list)
    for project, symbol in chain(_pairs(more(connection)), _traded(connection), _used(connection)):
        by_project[project].append(symbol)
    by_tenant: dict[str, dict[str, None]] = defaultdict(dict)
    owners = tenants.of_projects(connection, by_project)
    for project, symbols in by_project.items():
        known = (names.market_of(one) for one in symbols[:OF_PROJECT])
        by_tenant[owners[project]].update(dict.fromkeys(one for one in known if one))
    return in_turns(by_tenant)[:MOST]


def in_turns(by_tenant: Mapping[str, Iterable[str]]) -> list[str]:
    """One of each tenant, then a second one of each."""
    rounds = zip_longest(*by_tenant.values())
    return list(dict.fromkeys(one for some in rounds for one in some if one is not None))


def is_used(connection: Connection, project_id: str, market: str) -> bool:
    """Whether a model of this project ever used a market. Others must not learn from prices that
    are there what is traded elsewhere on this server."""
    for table, column in ((books, books.c.symbol), (used, used.c.name)):
        query = (
            select(tapes.c.no)
            .join(models, models.c.id == tapes.c.model_id)
            .join(table, table.c.tape == tapes.c.no)
            .where(
                models.c.project_id == project_id, func.upper(column).in_(names.symbols_of(market))
            )
        )
        if connection.execute(query.limit(1)).first() is not None:
            return True
    return False


def _pairs(found: ByProject) -> Iterator[tuple[str, str]]:
    return ((project, symbol) for project, symbols in found.items() for symbol in symbols)


def _traded(connection: Connection) -> Iterator[tuple[str, str]]:
    """The newest first."""
    newest = func.max(books.c.last_time)
    query = (
        select(models.c.project_id, books.c.symbol)
        .join(tapes, tapes.c.model_id == models.c.id)
        .join(books, books.c.tape == tapes.c.no)
        .where(~books.c.is_cash, books.c.last_time >= steady.ago(connection, RECENT))
        .group_by(models.c.project_id, books.c.symbol)
        .order_by(newest.desc())
    )
    return ((row.project_id, row.symbol) for row in connection.execute(query))


def _used(connection: Connection) -> Iterator[tuple[str, str]]:
    """As models said with `used-symbol`."""
    query = (
        select(models.c.project_id, used.c.name)
        .join(tapes, tapes.c.model_id == models.c.id)
        .join(used, used.c.tape == tapes.c.no)
        .where(used.c.what == "symbol")
        .order_by(tapes.c.no.desc(), used.c.seq.desc())
    )
    return ((row.project_id, row.name) for row in connection.execute(query))
