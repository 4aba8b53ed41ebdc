"""Reading: one snapshot, nothing stale, and no way to write."""

import threading
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

import pytest
from sqlalchemy import Connection, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from tapeline.errors import StoreUnavailable
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables.core import facts
from tests.conftest import run


def put(connection: Connection, name: str) -> None:
    connection.execute(insert(facts).values(name=name, value="0"))


def count(connection: Connection) -> int:
    found = connection.scalar(
        select(func.count()).select_from(facts).where(facts.c.name.like("t-%"))
    )
    return found or 0


def test_a_read_cannot_write(store: Store) -> None:
    with pytest.raises((DBAPIError, StoreUnavailable)):
        store.read_now(put, "t-1")
    assert store.read_now(count) == 0


def test_a_read_cannot_allow_itself_to_write_by_accident(store: Store) -> None:
    """A connection that tried goes back to the others as harmless as it was."""
    for _ in range(6):
        with pytest.raises((DBAPIError, StoreUnavailable)):
            store.read_now(put, "t-1")
    store.write_now(put, "t-2")
    assert store.read_now(count) == 1


def test_a_read_is_one_snapshot(store: Store) -> None:
    def twice(connection: Connection) -> tuple[int, int]:
        before = count(connection)
        store.write_now(put, "t-between")
        return before, count(connection)

    assert store.read_now(twice) == (0, 0)
    assert store.read_now(count) == 1


@contextmanager
def increments(store: Store, times: int) -> Iterator[None]:
    """Two rows that are always changed together, over and over."""

    def set_both(connection: Connection, value: str) -> None:
        both = update(facts).where(facts.c.name.in_(["t-a", "t-b"]))
        connection.execute(both.values(value=value))

    def work() -> None:
        for number in range(times):
            store.write_now(set_both, str(number))

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


def test_a_read_never_sees_half_of_a_write(store: Store) -> None:
    store.write_now(put, "t-a")
    store.write_now(put, "t-b")

    def pair(connection: Connection) -> tuple[str, ...]:
        return tuple(
            connection.scalar(select(facts.c.value).where(facts.c.name == name)) or ""
            for name in ("t-a", "t-b")
        )

    with increments(store, 100):
        for _ in range(100):
            first, second = store.read_now(pair)
            assert first == second


def test_a_request_reads_what_it_has_just_written(store: Store) -> None:
    async def write_and_read() -> list[int]:
        seen = []
        for number in range(20):
            await store.write(put, f"t-{number}")
            seen.append(await store.read(count))
        return seen

    assert run(write_and_read()) == list(range(1, 21))


def test_parts_are_read_while_the_one_before_is_used(store: Store) -> None:
    begun = [threading.Event() for _ in range(4)]

    def following(connection: Connection, part: int) -> int | None:
        assert count(connection) == 0
        begun[part].set()
        return part + 1 if part < 3 else None

    async def all_parts() -> list[int]:
        used = []
        async for part in store.read_ahead(following, 0):
            # The caller does not even give up its turn of the event loop, and waits for the next.
            assert begun[part].wait(30)
            used.append(part)
        return used

    assert run(all_parts()) == [1, 2, 3]


def test_a_reader_who_leaves_early_or_fails_ends_reading_ahead(store: Store) -> None:
    def following(connection: Connection, part: int) -> int | None:
        if part == 2:
            raise StoreUnavailable
        return part + 1

    async def first_part() -> int:
        async with aclosing(store.read_ahead(following, 0)) as parts:
            async for part in parts:
                return part
        raise AssertionError("there are parts")

    async def all_parts() -> list[int]:
        return [part async for part in store.read_ahead(following, 0)]

    assert run(first_part()) == 1
    with pytest.raises(StoreUnavailable):
        run(all_parts())


def test_many_readers_at_once_wait_for_nobody(store: Store) -> None:
    store.write_now(put, "t-1")
    seen: list[int] = []
    readers = [
        threading.Thread(target=lambda: seen.append(store.read_now(count))) for _ in range(20)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(10)
    assert seen == [1] * 20


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("side", ["reading", "writing"])
def test_sqlite_is_durable_and_patient(settings: Settings, store: Store, side: str) -> None:
    engine = getattr(store.database, side)
    with engine.connect() as connection:
        asked = {
            name: connection.scalar(text(f"pragma {name}"))
            for name in (
                "journal_mode", "synchronous", "foreign_keys", "busy_timeout", "query_only",
            )
        }  # fmt: skip
    assert asked == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": settings.busy_seconds * 1000,
        "query_only": int(side == "reading"),
    }


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_postgresql_readers_have_their_snapshot_and_their_limits(store: Store) -> None:
    def show(connection: Connection, name: str) -> str:
        return str(connection.scalar(text(f"show {name}")))

    assert store.read_now(show, "transaction_isolation") == "repeatable read"
    assert store.read_now(show, "transaction_read_only") == "on"
    assert store.read_now(show, "statement_timeout") == "30s"
    assert store.write_now(show, "transaction_read_only") == "off"
    assert store.write_now(show, "lock_timeout") == "5s"
