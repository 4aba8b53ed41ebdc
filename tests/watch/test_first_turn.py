"""What rules find when a server begins: what was there before it, and nothing that is still to be
read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import Connection, delete

from tapeline import compose
from tapeline.settings import Settings
from tapeline.store.tables import ledger
from tests.conftest import Service, let_in, running
from tests.pushing import Model, pushing
from tests.watch.watching import add, fires, incidents

COMPUTED = (
    ledger.ledgers, ledger.books, ledger.entries, ledger.places, ledger.statements,
    ledger.late_events, ledger.curves, ledger.sketches,
)  # fmt: skip


@contextmanager
def moved(model: Model, service: Service) -> Iterator[Model]:
    """As the same people see it on another server."""
    token = model.owner.client.headers["token"]
    with service.client() as client, service.client(token=token) as owners:
        owner = replace(model.owner, client=owners)
        yield replace(model, service=service, owner=owner, client=client)


def forget_the_books(connection: Connection) -> None:
    for table in COMPUTED:
        connection.execute(delete(table))


@pytest.mark.databases("sqlite", "postgresql")
def test_books_that_are_made_again_end_no_incident(settings: Settings, password_hash: str) -> None:
    with running(settings) as first:
        owner = let_in(first, "ada@example.com", password_hash)
        with owner.client, pushing(first, owner) as model:
            order = {"id": "o", "symbol": "A-USD", "exchange": "x", "side": "buy", "size": 2.0}
            model.push("/v1/live/spot-market", order | {"executionPrice": 1.0})
            rule = add(model, "position-size", limit=1, unit="count")
            opened = fires(model, rule)
    with compose.open_store(settings) as store:  # as a migration may
        store.write_now(forget_the_books)
    with running(settings) as second, moved(model, second) as again:
        # Another rule that fires tells that the first one has been judged, twice perhaps.
        other = add(again, "position-size", name="other", limit=1, unit="count")
        fires(again, other)
        (one,) = [one for one in incidents(again) if one["rule_id"] == rule]
        assert (one["incident_id"], one["state"]) == (opened["incident_id"], "open")
