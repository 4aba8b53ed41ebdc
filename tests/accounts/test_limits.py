"""Limits: attempts are counted in the store, forgotten on success, and over with their window."""

import pytest
from sqlalchemy import Connection, select, update

from tapeline import compose
from tapeline.accounts import limits
from tapeline.accounts.limits import WINDOW_SECONDS
from tapeline.errors import TooManyAttempts
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables import attempts


def count(store: Store, who: str = "ada", allowed: int = 3) -> None:
    store.write_now(limits.count, "account", who, allowed)


def shift(connection: Connection, seconds: float) -> None:
    connection.execute(update(attempts).values(since=attempts.c.since - seconds))


def test_attempts_over_the_limit_are_refused_until_the_window_is_over(store: Store) -> None:
    for _ in range(3):
        count(store)
    for _ in range(3):
        with pytest.raises(TooManyAttempts) as refusal:
            count(store)
    wait = refusal.value.retry_after
    assert wait is not None
    assert WINDOW_SECONDS - 60 < wait <= WINDOW_SECONDS == 900
    assert "15 minutes" in refusal.value.message
    count(store, who="bob")
    store.write_now(limits.count, "password", "ada", 3)
    store.write_now(shift, WINDOW_SECONDS - 30)
    with pytest.raises(TooManyAttempts) as refusal:
        count(store)
    assert refusal.value.retry_after is not None
    assert 0 < refusal.value.retry_after <= 30
    assert "1 minute." in refusal.value.message
    store.write_now(shift, 31)
    for _ in range(3):
        count(store)
    with pytest.raises(TooManyAttempts):
        count(store)


def test_success_forgets_the_slips_of_one_person_only(store: Store) -> None:
    for who in ("ada", "bob") * 3:
        count(store, who)
    store.write_now(limits.forget, "account", "ada")
    for _ in range(3):
        count(store, "ada")
    with pytest.raises(TooManyAttempts):
        count(store, "bob")


def test_the_count_holds_over_restarts_and_for_all_servers(
    settings: Settings, store: Store
) -> None:
    with compose.open_store(settings) as other:
        for each in (store, other, store):
            count(each)
        with pytest.raises(TooManyAttempts):
            count(other)
    with compose.open_store(settings) as restarted, pytest.raises(TooManyAttempts):
        count(restarted)


def test_who_tried_is_not_readable_and_old_counts_are_deleted(store: Store) -> None:
    count(store, "password typed as a name")
    names = select(attempts.c.name)
    (name,) = store.read_now(lambda connection: connection.scalars(names).all())
    assert "typed" not in name
    store.write_now(shift, WINDOW_SECONDS + 1)
    count(store, "bob")
    assert name not in store.read_now(lambda connection: connection.scalars(names).all())
