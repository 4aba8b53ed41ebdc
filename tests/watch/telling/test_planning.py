"""What a start works out anew of messages that wait, and what it leaves alone."""

import time
from typing import Any

import pytest
from sqlalchemy import update

from tapeline.store.store import Store
from tapeline.store.tables.watch import outbox
from tapeline.watch.telling import planning
from tests.watch.telling.queued import Queue

HOUR = 3600.0
HOURLY: dict[str, Any] = {"digest": {"every": "hour"}}


@pytest.fixture
def queue(store: Store) -> Queue:
    return Queue(store)


def put(queue: Queue, channel: Any, what: str, due_in: float, **more: Any) -> str:
    made = queue.put(queue.incident(), channel, what, due_at=time.time() + due_in)
    change = update(outbox).where(outbox.c.id == made)
    if more:
        queue.store.write_now(lambda connection: connection.execute(change.values(**more)) and None)
    return made


def start(queue: Queue) -> dict[str, Any]:
    queue.store.write_now(planning.work_out)
    return queue.rows()


def test_an_escalation_that_waits_for_a_digest_is_not_taken_out_of_it(queue: Queue) -> None:
    ops = queue.channel(**HOURLY)
    made = put(queue, ops, "escalated", -1.0)
    assert queue.claim(ops) is None
    waits_until = queue.rows()[made].due_at
    assert waits_until > time.time()
    start(queue)
    assert queue.claim(ops) is None
    assert queue.rows()[made].due_at >= waits_until


@pytest.mark.databases("postgresql")
def test_an_escalation_counts_from_now_where_the_clock_of_the_database_was_set_back(
    queue: Queue,
) -> None:
    later = time.time() + 5 * HOUR
    made = put(
        queue, queue.channel(), "escalated", 6 * HOUR, made_at=later, due_steadily_at=later + HOUR
    )
    row = start(queue)[made]
    assert 0 < row.due_at - time.time() <= HOUR + 1
    assert (row.due_at, row.made_at) == (row.due_steadily_at, pytest.approx(row.due_at - HOUR))
