"""Accounts: one per address, however it is spelt and however many ask at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, text

from tapeline import compose
from tapeline.accounts import users
from tapeline.accounts.actor import OPERATOR
from tapeline.accounts.users import User
from tapeline.errors import EmailTaken, Invalid, NoSuchUser
from tapeline.settings import Settings
from tapeline.store.store import Store


def add(store: Store, email: str, name: str = "") -> User:
    return store.write_now(users.add, email=email, name=name, password_hash="hash")


def test_an_address_is_one_account_however_it_is_spelt(store: Store) -> None:
    ada = add(store, " Ada@Example.COM ")
    assert (ada.email, ada.name) == ("ada@example.com", "ada")
    with pytest.raises(EmailTaken):
        add(store, "ADA@example.com")
    assert store.read_now(users.find, "  aDa@example.com") == ada
    assert store.read_now(users.everyone) == [ada]
    assert store.read_now(users.get, ada.id) == ada


def test_a_name_is_optional_and_has_at_most_120_characters(store: Store) -> None:
    assert add(store, "a@example.com", "  Ada Lovelace ").name == "Ada Lovelace"
    assert add(store, "b@example.com", "x" * 120).name == "x" * 120
    with pytest.raises(Invalid) as refusal:
        add(store, "c@example.com", "x" * 121)
    assert refusal.value.field == "name"
    for wrong in ("a\nb", "a\x1b[2Kb", "a\u202eb", "a\x9bb"):
        with pytest.raises(Invalid) as refusal:
            add(store, "c@example.com", wrong)
        assert refusal.value.field == "name"
    # Nobody is refused for a name that they did not choose.
    assert add(store, "x" * 200 + "@example.com").name == "x" * 120


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "ada",
        "@",
        "ada@",
        "@example.com",
        "a da@x.org",
        "a@b@c",
        "a@\x01",
        "x" * 255,
        "a\u202eb@x.com",
        "a\x9b@x.com",
        "a@x\u2066.com",
        "a\x7f@x.com",
    ],
)
def test_what_cannot_be_an_address_is_refused(wrong: str) -> None:
    with pytest.raises(Invalid) as refusal:
        users.normal_email(wrong)
    assert refusal.value.field == "email"


def test_one_of_two_gets_an_address_that_both_ask_for_at_once(
    settings: Settings, store: Store
) -> None:
    """The first holds its transaction open until the second, on another server, waits for it."""
    inserted = threading.Event()

    def slowly(connection: Connection) -> None:
        users.add(connection, email="ada@example.com", name="", password_hash="first")
        inserted.set()
        if connection.dialect.name == "postgresql":
            waiting = text("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")
            deadline = time.monotonic() + 60
            while not connection.scalar(waiting) and time.monotonic() < deadline:
                connection.execute(text("select pg_sleep(0.01), pg_stat_clear_snapshot()"))

    with compose.open_store(settings) as other, ThreadPoolExecutor(2) as pool:
        first = pool.submit(store.write_now, slowly)
        assert inserted.wait(10)
        second = pool.submit(add, other, "ada@example.com")
        assert first.exception() is None
        assert isinstance(second.exception(), EmailTaken)
    assert [user.password_hash for user in store.read_now(users.everyone)] == ["first"]


def test_accounts_are_disabled_and_enabled_by_address(store: Store) -> None:
    ada = add(store, "ada@example.com")
    store.write_now(users.set_disabled, OPERATOR, "ADA@example.com", disabled=True)
    assert store.read_now(users.get, ada.id).disabled_at == pytest.approx(time.time(), abs=60)
    store.write_now(users.set_disabled, OPERATOR, "ada@example.com", disabled=False)
    assert store.read_now(users.get, ada.id) == ada
    with pytest.raises(NoSuchUser):
        store.write_now(users.set_disabled, OPERATOR, "bob@example.com", disabled=True)
