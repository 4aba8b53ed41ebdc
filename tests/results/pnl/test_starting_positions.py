"""Models of an earlier version say on their tapes that they are long only."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from tapeline import compose
from tapeline.results.pnl import starting_positions
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.reading import whole_tape
from tapeline.tape.record import verify
from tests.results.pnl.bookkeeping import Books, appender_in
from tests.results.pnl.test_profit_and_loss import MARKET, order

SAID = {"positions": "long_only"}


@pytest.fixture
def appender(tmp_path: Path) -> Appender:
    return appender_in(tmp_path / "signing")


def events(books: Books) -> list[tuple[int, dict[str, Any]]]:
    def read(connection: Connection) -> list[tuple[int, dict[str, Any]]]:
        assert verify.first_break(connection, books.tape) is None
        found = whole_tape.records(connection, books.tape)
        return [(one.seq, msgspec.json.decode(one.body)) for one in found]

    return books.store.read_now(read)


def test_long_only_models_say_so_once_and_their_books_stay_as_they_are(
    store: Store, appender: Appender
) -> None:
    """On both databases: tapes are locked while others may do the same."""
    old = Books(store, appender, positions="long_only")
    silent = Books(store, appender, positions="long_only")
    chosen = Books(store, appender, positions="long_only")
    funded = Books(store, appender, positions="long_only")
    new = Books(store, appender)
    old.push((1, MARKET, order(1, "sell", price=100.0, fee=2.0)))
    chosen.push((1, "account-settings", {"positions": "signed"}))
    funded.push((1, "account-settings", {"capital": {"amount": 5.0, "currency": "USD"}}))
    before = old.pnl()
    for _ in range(2):
        starting_positions.write(store, appender)
    assert events(old)[1:] == [(2, SAID)]
    assert old.pnl() == before
    assert [events(one) for one in (silent, new)] == [[(1, SAID)], []]
    assert [len(events(one)) for one in (chosen, funded)] == [1, 2]
    assert [one.pnl().position_mode for one in (old, chosen, funded)] == [
        "long_only", "signed", "long_only",
    ]  # fmt: skip


def test_a_model_that_never_sent_anything_gets_a_tape_for_it(
    store: Store, appender: Appender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting_positions, "TOGETHER", 2)
    monkeypatch.setattr("tests.results.pnl.bookkeeping.tapes.open_tape", lambda *_: 0)
    some = [Books(store, appender, positions="long_only") for _ in range(5)]
    monkeypatch.undo()
    starting_positions.write(store, appender)
    for one in some:
        one.tape = store.write_now(tapes.open_tape, one.model)
        assert events(one) == [(1, SAID)]


def test_a_server_writes_it_when_it_starts(sqlite_settings: Settings) -> None:
    with compose.open_store(sqlite_settings) as store:
        books = Books(store, appender_in(sqlite_settings.data / "keys"), positions="long_only")
    with compose.open_services(sqlite_settings) as services:
        books.store = services.store
        assert events(books) == [(1, SAID)]
