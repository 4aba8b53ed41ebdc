"""Who is told first, and by which server."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tapeline.background import Background
from tapeline.fair_line import Owner
from tapeline.settings import Settings
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.watch.sending.jobs import AT_ONCE
from tapeline.watch.sending.post_office import OF_A_TENANT
from tapeline.watch.telling import outbox
from tapeline.watch.telling.delivering import Telling, whose_turn
from tests.receivers import Receiver, http_receiver
from tests.waiting import wait_for
from tests.watch.telling.queued import REFUSED, Queue

pytestmark = pytest.mark.databases("sqlite")


@pytest.fixture
def queue(store: Store) -> Queue:
    return Queue(store)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with http_receiver() as made:
        yield made


def put_some(queue: Queue, receiver: Receiver, count: int) -> None:
    for number in range(count):
        channel = queue.channel(f"c{number}", address=f"{receiver.url}/{number}")
        queue.put(queue.incident(), channel)


def test_one_tenant_has_not_all_the_places(
    queue: Queue, settings: Settings, receiver: Receiver
) -> None:
    receiver.answers.clear()
    put_some(queue, receiver, OF_A_TENANT + 2)

    async def act() -> None:
        background = Background()
        chosen = replace(settings, alerts_may_reach="127.0.0.1")
        telling = Telling(chosen, queue.store, queue.cipher, background, lambda: False)
        async with background.running():
            await asyncio.to_thread(wait_for, lambda: len(receiver.received) == OF_A_TENANT)
            await telling.turn()  # in which more could have begun
            assert sum(row.attempts for row in queue.rows().values()) == OF_A_TENANT
            assert len(receiver.received) == OF_A_TENANT
            receiver.answers.set()
            await asyncio.to_thread(wait_for, lambda: len(receiver.received) == OF_A_TENANT + 2)
            await asyncio.to_thread(
                wait_for, lambda: all(row.delivered_at for row in queue.rows().values())
            )

    asyncio.run(act())


def test_a_copy_that_nobody_released_tells_nobody(
    queue: Queue, settings: Settings, receiver: Receiver
) -> None:
    put_some(queue, receiver, 1)
    is_copy = [True]

    async def act() -> None:
        background = Background()
        chosen = replace(settings, alerts_may_reach="127.0.0.1")
        telling = Telling(chosen, queue.store, queue.cipher, background, lambda: is_copy[0])
        await telling.turn()
        assert [row.attempts for row in queue.rows().values()] == [0]
        is_copy[0] = False
        async with background.running():
            await asyncio.to_thread(
                wait_for, lambda: all(row.delivered_at for row in queue.rows().values())
            )

    asyncio.run(act())


def test_an_address_that_the_key_does_not_open_is_shown_as_failing(
    queue: Queue, settings: Settings, receiver: Receiver
) -> None:
    put_some(queue, receiver, 1)

    async def act() -> None:
        background = Background()
        Telling(settings, queue.store, Cipher(b"o" * 32), background, lambda: False)
        async with background.running():
            await asyncio.to_thread(
                wait_for, lambda: any(row.last_error for row in queue.rows().values())
            )

    asyncio.run(act())
    (row,) = queue.rows().values()
    assert "a key that this server does not have" in row.last_error
    assert row.due_at > time.time()
    assert not receiver.received


def test_tenants_take_turns_however_much_others_have_waiting() -> None:
    many = [(f"{tenant}{number}", Owner(tenant)) for tenant in "abc" for number in range(20)]
    other = ("d0", Owner("d"))
    chosen = whose_turn([*many, other], {})
    assert len(chosen) == AT_ONCE
    assert other in chosen[:4]
    busy = {"a0": "a", "a1": "a", "b0": "b", "b1": "b", "c0": "c", "c1": "c", "c2": "c"}
    assert whose_turn([*many, other], busy) == [other]
    assert not whose_turn(many[:20], dict.fromkeys(("a0", "a1", "a2"), "a"))


def test_what_is_critical_goes_first_and_channels_that_fail_go_last(queue: Queue) -> None:
    failing, plain, critical = (queue.channel(name) for name in ("failing", "plain", "critical"))
    queue.put(queue.incident("critical"), failing)
    queue.tell(failing, REFUSED)
    queue.put(queue.incident(), plain)
    queue.put(queue.incident("critical"), critical)
    queue.make_due()
    found = queue.store.read_now(outbox.due_channels, 10)
    assert [one for one, _ in found] == [critical.id, plain.id, failing.id]
