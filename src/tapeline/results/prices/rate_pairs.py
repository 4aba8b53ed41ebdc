"""Pairs of currencies that projects need rates of: where models count in several currencies, or pay
fees in another one."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.prices.source import names
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.tape import tapes

MOST = 8
"""Currencies of a project that are looked at."""

_totals = msgspec.json.Decoder(dict[str, msgspec.Raw])
_rated = msgspec.json.Decoder(dict[str, list[int]])


class Place(NamedTuple):
    """A tape that needs the price of a market, under a symbol."""

    tape: int
    symbol: str
    market: str
    is_rate: bool = False


class _Needs(NamedTuple):
    currencies: dict[str, int]
    """With the first tape that counts in it."""
    fees: set[tuple[int, str]]
    """Tapes, and symbols whose marks would convert their fees."""


def wanted(connection: Connection) -> dict[str, list[str]]:
    """By project, both ways round: an exchange lists one of them at most."""
    found = {}
    for project, needs in _by_project(connection).items():
        pairs = [f"{one}-{other}" for one, other, _ in _pairs(needs)]
        found[project] = [*pairs, *sorted({symbol for _, symbol in needs.fees})]
    return found


def places(connection: Connection, listed: set[str]) -> list[Place]:
    """Where rates of these markets are written: what a project needs, once; fees, on each tape."""
    found: dict[tuple[int, str], Place] = {}
    for needs in _by_project(connection).values():
        some = [(tape, f"{one}-{other}") for one, other, tape in _pairs(needs)]
        for tape, symbol in [*some, *needs.fees]:
            market = names.market_of(symbol)
            if market in listed:
                name = names.symbols_of(market)[1]
                found[tape, name] = Place(tape, name, market, is_rate=True)
    return list(found.values())


def _pairs(needs: _Needs) -> Iterator[tuple[str, str, int]]:
    for one, other in combinations(sorted(needs.currencies)[:MOST], 2):
        tape = min(needs.currencies[one], needs.currencies[other])
        yield one, other, tape
        yield other, one, tape


def _by_project(connection: Connection) -> dict[str, _Needs]:
    found: dict[str, _Needs] = defaultdict(lambda: _Needs({}, set()))
    query = (
        select(models.c.project_id, ledgers.c.tape, ledgers.c.totals, ledgers.c.rated)
        .join(tapes, tapes.c.model_id == models.c.id)
        .join(ledgers, ledgers.c.tape == tapes.c.no)
        .order_by(ledgers.c.tape)
    )
    for row in connection.execute(query):
        needs = found[row.project_id]
        for currency in _totals.decode(row.totals):
            if currency:
                needs.currencies.setdefault(currency, row.tape)
        needs.fees.update((row.tape, symbol) for symbol in _rated.decode(row.rated))
    return found
