"""Limits: attempts are counted in the store, wait longer each time, drain, and stay bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, func, select, update

from tapeline import compose
from tapeline.accounts import limits
from tapeline.accounts.limits import DAY, FINE, LONGEST_WAIT, QUARTER, Counter
from tapeline.errors import TooManyAttempts
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables.core import attempts


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait is over while a test runs, however slow the machine."""
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 100.0)


def counter(who: str = "ada", free: int = 3, what: str = "account") -> Counter:
    return Counter(what, who, free)


def count(store: Store, who: str = "ada", free: int = 3) -> None:
    store.write_now(limits.count, [counter(who, free)])


def shift(connection: Connection, seconds: float) -> None:
    connection.execute(update(attempts).values(since=attempts.c.since - seconds))


def refused(store: Store, who: str = "ada", free: int = 3) -> int:
    """Seconds that the next attempt has to wait; asking changes nothing."""
    with pytest.raises(TooManyAttempts):
        store.read_now(limits.refuse_if_over, [counter(who, free)])
    with pytest.raises(TooManyAttempts) as refusal:
        count(store, who, free)
    assert refusal.value.retry_after is not None
    return refusal.value.retry_after


def test_what_is_over_waits_longer_each_time_but_never_for_ever(store: Store) -> None:
    for _ in range(3):
        count(store)
    waits = []
    for _ in range(6):
        waits.append(refused(store))
        assert refused(store) <= waits[-1], "a refusal grows no number"
        store.write_now(shift, waits[-1] + 0.1)
        count(store)
    assert [round(one, -2) for one in waits] == [100, 200, 400, 800, 900, 900]
    count(store, who="bob")
    store.write_now(limits.count, [counter(what="password")])


def test_a_refusal_says_when(store: Store) -> None:
    for _ in range(3):
        count(store)
    for earlier, said in ((0, "in 2 minutes."), (70, "in 30 seconds."), (29.5, "in 1 second.")):
        store.write_now(shift, earlier)
        with pytest.raises(TooManyAttempts, match=r"Too many attempts\. Try again ") as refusal:
            count(store)
        if "minutes" in said:
            assert refusal.value.message.endswith(said)
    assert refusal.value.retry_after is not None
    advised = Counter("account", "ada", 3, advice="Do something else.")
    with pytest.raises(TooManyAttempts, match=r"\. Do something else\.$"):
        store.write_now(limits.count, [advised])


def test_a_refusal_by_one_counts_for_none(store: Store) -> None:
    for _ in range(3):
        count(store)
    for _ in range(5):
        with pytest.raises(TooManyAttempts):
            store.write_now(limits.count, [counter("everybody"), counter("ada")])
    names = store.read_now(lambda connection: connection.scalars(select(attempts.c.name)).all())
    assert names == [counter("ada").name]


def test_the_count_drains(store: Store) -> None:
    for _ in range(3):
        count(store)
    store.write_now(shift, DAY / 3 + 1)
    count(store)
    assert refused(store)
    store.write_now(shift, DAY + 1)
    for _ in range(3):
        count(store)
    assert refused(store)


@given(
    free=st.integers(1, 100),
    drains_in=st.sampled_from([QUARTER, DAY]),
    gaps=st.lists(st.floats(0, 2 * DAY), max_size=60),
)
def test_an_honest_pace_never_waits_and_no_pace_beats_the_waits(
    free: int, drains_in: float, gaps: list[float]
) -> None:
    made = Counter("account", "ada", free, drains_in)
    since, kept, now, in_all = 0.0, 0, 0.0, 0
    for gap in gaps:
        now += gap
        wait = made.wait(since, kept, now)
        assert wait <= LONGEST_WAIT
        if wait <= 0:
            kept = round((made.level(since, kept, now) + 1) * FINE)
            since, in_all = now, in_all + 1
    # What drained, what was free, and one for each of the longest waits.
    assert in_all <= free + now * free / drains_in + 20 + now / LONGEST_WAIT
    steady, at = 0, 0.0
    for _ in range(50):
        assert made.wait(at, steady, at + drains_in / free) <= 0
        steady = round((made.level(at, steady, at + drains_in / free) + 1) * FINE)
        at += drains_in / free


def test_success_forgets_the_slips_of_one_person_only(store: Store) -> None:
    for who in ("ada", "bob") * 3:
        count(store, who)
    store.write_now(limits.forget, counter("ada"))
    for _ in range(3):
        count(store, "ada")
    assert refused(store, "bob")
    store.write_now(limits.take_back, counter("bob"))
    count(store, "bob")
    assert refused(store, "bob")


def test_the_count_holds_over_restarts_and_for_all_servers(
    settings: Settings, store: Store
) -> None:
    with compose.open_store(settings) as other:
        for each in (store, other, store):
            count(each)
        assert refused(other)
    with compose.open_store(settings) as restarted:
        assert refused(restarted)


def test_who_tried_is_not_readable(store: Store) -> None:
    count(store, "password typed as a name")
    (name,) = store.read_now(lambda connection: connection.scalars(select(attempts.c.name)).all())
    assert "typed" not in name


def test_what_strangers_make_us_remember_is_bounded(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "KEPT", 10)
    monkeypatch.setattr(limits, "TRIMMED_ONCE_IN", 1)
    for _ in range(3):
        count(store)
    for number in range(50):
        store.write_now(limits.count, [counter(f"stranger {number}", what="key")])
    size = select(func.count()).select_from(attempts)
    assert store.read_now(lambda connection: connection.scalar(size)) == 1 + 10
    # A flood of one kind washes nothing of another away, and of its own kind the oldest.
    assert refused(store)
    store.write_now(shift, DAY + 1)
    count(store, "bob")
    assert store.read_now(lambda connection: connection.scalar(size)) == 1


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_address_stands_for_its_network(address: str, network: str) -> None:
    assert limits.network_of(address) == network
