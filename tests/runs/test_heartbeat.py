"""A host is up while its server holds its name and says so every few seconds."""

import pytest
from sqlalchemy import Connection

from tapeline.runs import heartbeat
from tapeline.store import facts
from tapeline.store.store import Store

pytestmark = pytest.mark.parametrize("settings", ["postgresql"], indirect=True)


def _up(store: Store, host: str = "h") -> bool:
    return store.read_now(heartbeat.is_up, store.database, host)


def test_a_frozen_server_that_keeps_its_session_is_silent(store: Store) -> None:
    """Nobody takes an open session for a sign of life."""
    assert not _up(store)
    assert store.database.claim("h")
    assert _up(store), "an earlier version has no heartbeat"
    store.write_now(heartbeat.beat, "h")
    assert _up(store)

    def freeze(connection: Connection) -> float:
        last = heartbeat.last_of(connection, "h")
        assert last is not None
        facts.put(connection, heartbeat.BEAT + "h", repr(last - heartbeat.SILENT_AFTER))
        return last - heartbeat.SILENT_AFTER

    since = store.write_now(freeze)
    assert not _up(store)
    assert store.read_now(heartbeat.last_of, "h") == since
    store.write_now(heartbeat.beat, "h")
    assert _up(store), "it goes on"


def test_a_host_whose_server_ended_is_down_at_once(store: Store) -> None:
    assert store.database.claim("h")
    store.write_now(heartbeat.beat, "h")
    store.database.give_back("h")
    assert not _up(store)
