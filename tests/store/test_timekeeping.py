"""The time that has passed is saved with the rows that expire by it, on both databases."""

import time

from tapeline import compose
from tapeline.settings import Settings
from tapeline.store.backends import steady, timekeeping
from tapeline.store.store import Store


def test_a_restart_goes_on_with_the_saved_time(settings: Settings) -> None:
    with compose.open_store(settings) as store:
        store.clock.catch_up(time.time() + 5_000)
        store.write_now(timekeeping.save)
    with compose.open_store(settings) as store:
        assert store.clock.now() > time.time() + 4_900
        assert store.read_now(steady.now) > time.time() + 4_900


def test_servers_that_share_a_database_count_together(store: Store, settings: Settings) -> None:
    with compose.open_store(settings) as other:
        other.clock.catch_up(time.time() + 5_000)
        other.write_now(timekeeping.save)
        store.write_now(timekeeping.save)
        assert store.clock.now() > time.time() + 4_900
        assert store.clock.jumped == 0
