"""What a model, a project or everything holds now: positions at their last price."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection

from tapeline.results.pnl import model_currency, summary
from tapeline.results.pnl.account import settings_of
from tapeline.results.pnl.books import books_of
from tapeline.results.rules.position import exact, number
from tapeline.watch.facts.fact import Fact, Gathering


class Holds(msgspec.Struct, frozen=True, kw_only=True):
    symbol: str
    currency: str
    size: float
    """Negative for a short position."""
    value: float | None
    """In its currency; None while no price of it is known."""


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    currency: str | None = None
    gross: float | None = None
    """In that currency; None where `trouble` says why."""
    net: float | None = None
    positions: list[Holds] = []
    """Of a model."""
    trouble: str | None = None
    again_in: float | None = None


def gather(gathering: Gathering) -> Mapping[str, Exposure]:
    connection, sources, now = gathering.connection, gathering.sources, gathering.now
    found = {}
    for subject in gathering.wanted:
        if subject.kind in ("project", "all"):
            outline, again_in = sources.portfolios.of(connection, subject.id, now)
            held = outline.exposure
            trouble = no_rates(held.without_rate, outline.currency)
            found[subject.id] = Exposure(
                currency=outline.currency,
                gross=held.gross,
                net=held.net,
                trouble=trouble,
                again_in=again_in,
            )
        elif subject.tape is not None:
            found[subject.id] = of_model(connection, subject.tape)
    return found


def no_rates(lacking: list[str], currency: str) -> str | None:
    if not lacking:
        return None
    return f"Something is held in {lacking[0]}, and no rate to {currency} is known."


def of_model(connection: Connection, tape: int) -> Exposure:
    every, capital = books_of(connection, tape), settings_of(connection, tape).capital
    own = model_currency.own_currency_of(connection, tape, every, capital)
    positions, wrong = [], None
    with exact():
        for book in every:
            state = book.state
            if book.is_cash or not state.size:
                continue
            reason = summary.reason_of(book, own)
            if reason is not None:
                wrong = wrong or f"{book.symbol} is not computed: {reason}"
                continue
            positions.append(
                Holds(
                    symbol=book.symbol,
                    currency=book.currency or own,
                    size=number(state.size),
                    value=None if state.price is None else number(state.value),
                )
            )
    return summed(positions, wrong, own)


def summed(positions: list[Holds], wrong: str | None, own: str) -> Exposure:
    currencies = sorted({one.currency for one in positions}) or [own]
    unpriced = [one.symbol for one in positions if one.value is None]
    trouble = wrong
    if trouble is None and unpriced:
        trouble = f"No price of {unpriced[0]} is known."
    if trouble is None and len(currencies) > 1:
        trouble = f"Positions are in {' and '.join(currencies[:2])}, and are not added up."
    values = [one.value or 0.0 for one in positions]
    return Exposure(
        currency=currencies[0] if len(currencies) == 1 else None,
        gross=None if trouble else sum(map(abs, values)),
        net=None if trouble else sum(values),
        positions=positions,
        trouble=trouble,
    )


EXPOSURE = Fact(
    name="exposure",
    gather=gather,
    changed_by=frozenset({"books"}),
    is_partial=lambda found: found.again_in is not None,
)
