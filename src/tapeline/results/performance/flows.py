"""Money that goes into an account and out of it: the capital, and all that came later."""

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.pnl.account import Capital, Settings
from tapeline.results.pnl.model_currency import own_currency
from tapeline.results.rules.position import FLOW, Spec, number
from tapeline.store.tables.ledger import books, entries

MOST = 10_000  # flows that an answer lists, the newest; the account has all of them
TOGETHER = 1_000  # read at once

Source = Literal["owner", "deposit"]

_spec = msgspec.json.Decoder(Spec)


class Flow(msgspec.Struct, gc=False):
    time: float
    type: str
    amount: float
    currency: str
    tie: int = 0


class Funded(NamedTuple):
    """The capital, who said so, and what came or went besides."""

    capital: Capital | None
    source: Source | None
    flows: list[Flow]
    deposited_at: float | None = None
    """When the deposit came that is the capital."""


def capital_of(
    connection: Connection, tape: int, settings: Settings
) -> tuple[Capital | None, Source | None]:
    """At the price of the flows until the first deposit."""
    if settings.capital is not None:
        return settings.capital, "owner"
    every = _flows(connection, tape, own_currency(connection, tape))
    found = split(settings, list(_until_deposited(every)))
    return found.capital, found.source


def split(settings: Settings, flows: list[Flow]) -> Funded:
    """Where the owner set no capital, the first deposit is it, and not a flow."""
    if settings.capital is not None:
        return Funded(settings.capital, "owner", flows)
    deposits = [one for one in flows if one.type == "deposit"]
    if not deposits:
        return Funded(None, None, flows)
    # Of several at one moment the largest, whichever arrived first.
    first = min(deposits, key=lambda one: (one.time, -one.amount, one.currency))
    rest = [one for one in flows if one is not first]
    return Funded(Capital(first.amount, first.currency), "deposit", rest, first.time)


def flows_of(connection: Connection, tape: int, own: str) -> list[Flow]:
    """In the order of their times. `own`: the model's own currency."""
    return sorted(_flows(connection, tape, own), key=lambda one: (one.time, one.tie))


def _until_deposited(flows: Iterable[Flow]) -> Iterator[Flow]:
    """Those until the moment of the first deposit, that one included."""
    deposited = math.inf
    for one in flows:
        if one.time > deposited:
            return
        if one.type == "deposit":
            deposited = one.time
        yield one


def _flows(connection: Connection, tape: int, own: str) -> Iterator[Flow]:
    """By time. However many there are: without one of them, the account would be worth something
    else."""
    query = (
        select(entries.c.time, entries.c.tie, entries.c.spec, books.c.currency)
        .join(books, (books.c.tape == entries.c.tape) & (books.c.book == entries.c.book))
        .where(entries.c.tape == tape, entries.c.notice == FLOW)
        .order_by(entries.c.time)
        .execution_options(yield_per=TOGETHER)
    )
    with connection.execute(query) as rows:
        for row in rows:
            spec = _spec.decode(row.spec)
            amount = number(spec.size or Decimal(0))
            yield Flow(row.time, spec.word or "", amount, row.currency or own, row.tie)
