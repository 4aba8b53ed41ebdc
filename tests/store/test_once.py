"""Idempotency: one key is carried out once, over both databases and over two servers."""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import Connection, func, insert, select

from tapeline import compose
from tapeline.errors import IdempotencyKeyReused
from tapeline.settings import Settings
from tapeline.store.encryption import Cipher
from tapeline.store.facts import claim
from tapeline.store.once import KEPT_SECONDS, RequestKey, answered, once
from tapeline.store.store import Store
from tapeline.store.tables.core import answers, facts

REQUEST = RequestKey(
    "ada", "/project/create", "key-1", b'{"name":"Beta"}', Cipher(bytes(range(32)))
)
NOW = 1_800_000_000.0


class Refused(Exception):
    """The act's own error."""


def act_of(connection: Connection, name: str = "t-1") -> Callable[[], bytes]:
    def act() -> bytes:
        connection.execute(insert(facts).values(name=name, value=""))
        return b'{"made":"%s"}' % name.encode()

    return act


def carry_out(
    connection: Connection, request: RequestKey = REQUEST, now: float = NOW, name: str = "t-1"
) -> bytes:
    return once(connection, request, now, act_of(connection, name))


def made(connection: Connection) -> int:
    ours = select(func.count()).select_from(facts).where(facts.c.name.like("t-%"))
    return connection.scalar(ours) or 0


def test_a_repeat_gets_the_first_answer_and_does_nothing(store: Store) -> None:
    first = store.write_now(carry_out)
    assert store.write_now(carry_out, name="t-other") == first
    assert store.read_now(answered, REQUEST, NOW) == first
    assert store.read_now(made) == 1


def test_another_body_is_refused(store: Store) -> None:
    store.write_now(carry_out)
    other = replace(REQUEST, body=b"{}")
    with pytest.raises(IdempotencyKeyReused):
        store.write_now(carry_out, other)
    with pytest.raises(IdempotencyKeyReused):
        store.read_now(answered, other, NOW)


@pytest.mark.parametrize("change", [{"scope": "bob"}, {"path": "/other"}, {"key": "key-2"}])
def test_the_same_key_elsewhere_is_another_request(store: Store, change: dict[str, str]) -> None:
    store.write_now(carry_out)
    store.write_now(carry_out, replace(REQUEST, **change), name="t-other")  # type: ignore[arg-type]
    assert store.read_now(made) == 2


def test_a_failure_is_not_remembered(store: Store) -> None:
    def fail(connection: Connection) -> bytes:
        def act() -> bytes:
            act_of(connection)()
            raise Refused

        return once(connection, REQUEST, NOW, act)

    with pytest.raises(Refused):
        store.write_now(fail)
    assert store.read_now(answered, REQUEST, NOW) is None
    assert store.read_now(made) == 0
    store.write_now(carry_out)
    assert store.read_now(made) == 1


def test_an_answer_is_forgotten_after_a_day_and_its_row_goes(store: Store) -> None:
    store.write_now(carry_out)
    later = NOW + KEPT_SECONDS + 1
    assert store.read_now(answered, REQUEST, later) is None
    store.write_now(carry_out, replace(REQUEST, key="key-2"), later, "t-2")
    rows = select(func.count()).select_from(answers)
    assert store.read_now(lambda connection: connection.scalar(rows)) == 1


def test_two_servers_carry_one_key_out_once(settings: Settings) -> None:
    """The second waits for the first, which is still under way, and answers the same."""
    with compose.open_store(settings) as one, compose.open_store(settings) as two:
        acting, may_end = threading.Event(), threading.Event()

        def slowly(connection: Connection) -> bytes:
            def act() -> bytes:
                acting.set()
                assert may_end.wait(10)
                return act_of(connection)()

            return once(connection, REQUEST, NOW, act)

        first = one.writer.submit(slowly)
        assert acting.wait(10)
        second = two.writer.submit(lambda connection: carry_out(connection, name="t-second"))
        with pytest.raises(TimeoutError):
            second.result(0.2)
        may_end.set()
        assert first.result(10) == second.result(10) == b'{"made":"t-1"}'
        assert one.read_now(made) == 1


def test_the_second_server_acts_when_the_first_one_fails(settings: Settings) -> None:
    with compose.open_store(settings) as one, compose.open_store(settings) as two:
        acting, may_end = threading.Event(), threading.Event()

        def fail(connection: Connection) -> bytes:
            def act() -> bytes:
                acting.set()
                assert may_end.wait(10)
                raise Refused

            return once(connection, REQUEST, NOW, act)

        first = one.writer.submit(fail)
        assert acting.wait(10)
        second = two.writer.submit(lambda connection: carry_out(connection, name="t-second"))
        may_end.set()
        with pytest.raises(Refused):
            first.result(10)
        assert second.result(10) == b'{"made":"t-second"}'
        assert one.read_now(made) == 1


def test_many_repeats_at_once_over_two_servers_act_once(settings: Settings) -> None:
    with compose.open_store(settings) as one, compose.open_store(settings) as two:
        waiting = [
            store.writer.submit(partial(carry_out, name=f"t-{number}"))
            for number in range(40)
            for store in (one, two)
        ]
        assert len({answer.result(20) for answer in waiting}) == 1
        assert one.read_now(made) == 1


def test_a_fact_is_claimed_by_one_alone(settings: Settings) -> None:
    with compose.open_store(settings) as one, compose.open_store(settings) as two:
        waiting = [
            store.writer.submit(partial(claim, name="first_account", value="x"))
            for _ in range(10)
            for store in (one, two)
        ]
        assert sorted(answer.result(10) for answer in waiting) == [False] * 19 + [True]
