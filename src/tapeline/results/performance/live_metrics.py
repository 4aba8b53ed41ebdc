"""Metrics of a live model: as an account where its capital is known, else of money alone."""

import hashlib
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.recently_used import RecentlyUsed
from tapeline.results.metrics.report_fields import Measured
from tapeline.results.performance.trip_answers import TripGroups
from tapeline.results.pnl import books, summary
from tapeline.results.pnl.account import settings_of
from tapeline.results.pnl.model_currency import own_currency
from tapeline.store.tables.tape import states

REMEMBERED = 500  # models whose metrics are kept at hand
NO_SERIES = "There is no profit and loss yet."

Key = tuple[int, str, bytes]


class Measures(NamedTuple):
    metrics: dict[str, Measured]
    trips: TripGroups
    currency: str | None = None
    """Of those in money."""


NOTHING = Measures({}, TripGroups(reason=NO_SERIES))


class LiveMetrics:
    """Computed once for each state of a model's books, settings and own series."""

    def __init__(self) -> None:
        self._known = RecentlyUsed[Key, Measures](REMEMBERED)

    def of(self, connection: Connection, tape: int, model_id: str) -> Measures | None:
        """None when there is no series."""
        state = _state(connection, tape)
        if state is None:
            return None
        key = (tape, model_id, state)
        return self._known.get(key, lambda: measured(connection, tape, model_id, None))


def measured(connection: Connection, tape: int, model_id: str, symbol: str | None) -> Measures:
    """Of the whole, or of one symbol by itself."""
    from tapeline.results.metrics import all_metrics  # noqa: PLC0415 - numpy: start-up stays light
    from tapeline.results.performance import live_trips  # noqa: PLC0415
    from tapeline.results.performance.evidence import evidence  # noqa: PLC0415

    said, long_only = summary.own_of(connection, tape), settings_of(connection, tape).long_only
    found = evidence(connection, tape, said, symbol)
    # Asked of the books first: to sort a million entries only to find that they are too many would
    # take longer than all the rest.
    trips = None
    if not said.values and sum(one.state.fills for one in found.books) <= live_trips.MOST:
        trips = live_trips.of_books(connection, tape, found.books, long_only=long_only)
    reason = "The trades behind the model's own series are not known."
    groups = TripGroups(reason=reason if said.values else live_trips.TOO_MANY)
    if trips is not None:
        groups = live_trips.groups(trips, live_trips.versions_of(connection, model_id))
        groups.by_currency = live_trips.counted(
            connection, tape, found.elsewhere, long_only=long_only
        )
        if found.currency is not None and groups.count:
            groups.by_currency[found.currency] = groups.count
    subject = found.subject(None if trips is None else trips.matched)
    return Measures(all_metrics.compute(subject), groups, found.currency)


def _state(connection: Connection, tape: int) -> bytes | None:
    """What tells one state of all that is measured from the next."""
    names = ("pnl", "auto_pnl", "account")
    query = select(states.c.name, states.c.value).where(
        states.c.tape == tape, states.c.name.in_(names)
    )
    said = {row.name: bytes(row.value) for row in connection.execute(query)}
    own = summary.own_of(connection, tape)
    ledger, currency = books.ledger_of(connection, tape), own_currency(connection, tape)
    main = summary.main_currency(summary.in_currencies(ledger.totals, currency))
    if not own.values and (main is None or not own.enabled):
        return None
    return hashlib.sha256(
        msgspec.json.encode([ledger.version, currency, *sorted(said.items())])
    ).digest()
