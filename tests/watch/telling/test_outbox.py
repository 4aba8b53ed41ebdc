"""What is told of incidents, in how many messages, and when."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from tapeline.accounts.actor import OPERATOR
from tapeline.store.encryption import Cipher, NotOurKey
from tapeline.store.store import Store
from tapeline.watch.telling import channels, claiming, message, outbox, settling
from tests.watch.telling.queued import ARRIVED, REFUSED, Queue


@pytest.fixture
def queue(store: Store) -> Queue:
    return Queue(store)


def test_one_message_tells_that_it_fires_and_one_that_it_is_over(queue: Queue) -> None:
    ops, incident = queue.channel(), queue.incident()
    queue.put(incident, ops)
    assert queue.tell(ops).told == [("fired", incident)]
    assert queue.claim(ops) is None
    queue.resolve(incident)
    queue.put(incident, ops, "resolved")
    assert queue.tell(ops).told == [("resolved", incident)]
    assert queue.claim(ops) is None
    assert queue.timeline(incident) == ["told", "told"]


def test_one_that_was_over_before_anybody_was_told_is_one_clear_message(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "PAUSES", (3600.0,))
    ops, incident = queue.channel(), queue.incident(name="drawdown")
    queue.put(incident, ops)
    queue.tell(ops, REFUSED)
    queue.resolve(incident)
    queue.put(incident, ops, "resolved")
    assert queue.claim(ops) is None  # the first message is still in its pause
    assert queue.claim(ops) is None
    queue.make_due()
    claimed = queue.claim(ops)
    assert claimed is not None
    assert claimed.told == [("fired", incident)]
    said = queue.store.read_now(message.of, claimed, "https://t.example.org")
    assert "drawdown: was firing, is resolved" in said.title
    assert "Resolved: " in said.text
    queue.store.write_now(settling.settle, claimed, ARRIVED)
    queue.make_due()
    assert queue.claim(ops) is None
    assert all(row.delivered_at for row in queue.rows().values())


def test_a_resolution_that_comes_while_the_first_message_is_on_its_way_follows_it(
    queue: Queue,
) -> None:
    ops, incident = queue.channel(), queue.incident()
    queue.put(incident, ops)
    on_its_way = queue.claim(ops)
    assert on_its_way is not None
    queue.resolve(incident)
    queue.put(incident, ops, "resolved")
    assert queue.claim(ops) is None
    queue.store.write_now(settling.settle, on_its_way, ARRIVED)
    assert queue.tell(ops).told == [("resolved", incident)]


def test_a_channel_that_two_steps_name_is_told_once(queue: Queue) -> None:
    ops, incident = queue.channel(), queue.incident()
    queue.put(incident, ops, step=0)
    queue.put(incident, ops, step=1)
    assert queue.tell(ops).told == [("fired", incident)]
    assert queue.claim(ops) is None


def test_nobody_is_called_once_somebody_has_acknowledged(queue: Queue) -> None:
    ops, first, second = queue.channel(), queue.incident(), queue.incident()
    queue.put(first, ops, "escalated", 1)
    assert queue.tell(ops).told == [("escalated", first)]
    assert queue.timeline(first) == ["escalated"]
    queue.put(second, ops, "escalated", 1)
    queue.acknowledge(second)
    assert queue.claim(ops) is None
    queue.resolve(second)
    queue.put(second, ops, "resolved")
    assert queue.claim(ops) is None  # nobody here was told that it fired
    assert len(queue.rows()) == 1


def test_quiet_hours_hold_back_what_is_not_critical(queue: Queue) -> None:
    now = datetime.now(UTC)
    begin, end = (now + timedelta(minutes=one) for one in (-30, 30))
    quiet = {"from": f"{begin:%H:%M}", "to": f"{end:%H:%M}"}
    ops, warning, critical = (
        queue.channel(quiet=quiet),
        queue.incident(),
        queue.incident("critical"),
    )
    held = queue.put(warning, ops)
    queue.put(critical, ops)
    assert queue.tell(ops).told == [("fired", critical)]
    assert queue.claim(ops) is None
    assert 28 * 60 < queue.rows()[held].due_at - now.timestamp() < 31 * 60
    other = queue.channel("other")
    queue.put(warning, other)
    assert queue.tell(other).told == [("fired", warning)]


def test_a_digest_gathers_what_is_not_critical(queue: Queue) -> None:
    ops, begun = queue.channel(digest={"every": "hour"}), time.time()
    some, critical = [queue.incident() for _ in range(3)], queue.incident("critical")
    for one in (*some, critical):
        queue.put(one, ops)
    assert queue.tell(ops).told == [("fired", critical)]
    assert queue.claim(ops) is None
    waiting = {row.due_at for row in queue.rows().values() if row.delivered_at is None}
    assert waiting <= {(one // 3600 + 1) * 3600 for one in (begun, time.time())}
    assert waiting
    queue.resolve(some[0])
    queue.put(some[0], ops, "resolved")
    assert queue.claim(ops) is None
    queue.make_due()
    claimed = queue.claim(ops)
    assert claimed is not None
    assert claimed.is_digest
    assert sorted(claimed.told) == sorted(("fired", one) for one in some)
    said = queue.store.read_now(message.of, claimed, "")
    assert said.title == "Tapeline: 2 firing, 1 resolved"
    queue.store.write_now(settling.settle, claimed, ARRIVED)
    assert all(row.delivered_at for row in queue.rows().values())


def test_many_at_once_are_one_message(queue: Queue) -> None:
    ops = queue.channel()
    many = [queue.incident() for _ in range(claiming.SEPARATE + 1)]
    for one in many:
        queue.put(one, ops)
    assert len(queue.tell(ops).told) == len(many)
    assert queue.claim(ops) is None


def test_a_project_sends_so_many_messages_in_an_hour_and_the_rest_together(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming, "AN_HOUR", 3)
    ops = queue.channel()
    for _ in range(3):
        queue.put(queue.incident(), ops)
        queue.tell(ops)
    for _ in range(2):
        queue.put(queue.incident(), ops)
    assert queue.claim(ops) is None
    held = [row for row in queue.rows().values() if row.delivered_at is None]
    assert all("Held back" in row.last_error for row in held)
    assert all(3_500 < row.due_at - time.time() <= 3_601 for row in held)
    monkeypatch.setattr(claiming, "AN_HOUR", 4)
    queue.make_due()
    assert len(queue.tell(ops).told) == 2


def test_a_failure_is_shown_and_tried_again_with_growing_pauses(queue: Queue) -> None:
    ops, incident = queue.channel(), queue.incident()
    row = queue.put(incident, ops)
    for pause in [*settling.PAUSES, settling.PAUSES[-1]]:
        before = time.time()
        queue.tell(ops, REFUSED)
        after = time.time()
        assert before + pause - 0.1 <= queue.rows()[row].due_at <= after + pause + 0.1
        queue.make_due()
    assert queue.timeline(incident) == ["tell_failed"]
    shown = queue.store.read_now(channels.find, ops.id)
    assert shown.failing_since is not None
    assert shown.last_error == REFUSED.message
    queue.tell(ops)
    shown = queue.store.read_now(channels.find, ops.id)
    assert (shown.failing_since, shown.last_error) == (None, None)


def test_a_message_is_given_up_after_a_day_of_tries_and_the_resolution_still_goes(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "MOST_TRIES", 3)
    ops, incident = queue.channel(), queue.incident()
    row = queue.put(incident, ops)
    for _ in range(3):
        queue.make_due()
        queue.tell(ops, REFUSED)
    assert queue.rows()[row].given_up_at is not None
    assert queue.timeline(incident) == ["tell_failed", "tell_failed"]
    queue.make_due()
    assert queue.claim(ops) is None
    queue.resolve(incident)
    queue.put(incident, ops, "resolved")
    assert queue.tell(ops).told == [("resolved", incident)]


def test_the_pauses_add_up_to_about_a_day() -> None:
    rest = settling.MOST_TRIES - len(settling.PAUSES)
    assert 23 * 3600 < sum(settling.PAUSES) + rest * settling.PAUSES[-1] < 25 * 3600


def test_what_a_killed_server_was_sending_is_sent_again_under_the_same_name(queue: Queue) -> None:
    ops, incident = queue.channel(), queue.incident()
    queue.put(incident, ops)
    lost = queue.claim(ops)
    assert lost is not None
    assert queue.claim(ops) is None
    queue.forget_claims()
    assert queue.tell(ops).message_id == lost.message_id


def test_a_message_that_tells_more_than_before_has_another_name(queue: Queue) -> None:
    """A receiver that had the first one, and drops what it had, must not miss the rest."""
    ops, incident = queue.channel(), queue.incident()
    queue.put(incident, ops)
    lost = queue.claim(ops)
    assert lost is not None
    queue.resolve(incident)
    queue.put(incident, ops, "resolved")
    queue.store.write_now(outbox.release_claims)
    assert queue.tell(ops).message_id != lost.message_id


def test_only_channels_with_something_due_are_looked_at(queue: Queue) -> None:
    one, other = queue.channel("one"), queue.channel("other")
    queue.put(queue.incident(), one)
    assert queue.store.read_now(outbox.due_channels, 10) == [(one.id, None)]
    queue.tell(one)
    assert queue.store.read_now(outbox.due_channels, 10) == []
    assert queue.claim(other) is None
    queue.store.write_now(channels.remove, OPERATOR, one)
    assert queue.rows() == {}


def test_an_incident_that_was_deleted_meanwhile_is_told_to_nobody(queue: Queue) -> None:
    ops, incident = queue.channel(), queue.incident()
    queue.put(incident, ops)
    claimed = queue.claim(ops)
    assert claimed is not None
    queue.delete(incident)
    with pytest.raises(message.Gone):
        queue.store.read_now(message.of, claimed, "")
    queue.store.write_now(settling.settle, claimed, ARRIVED)
    assert queue.rows() == {}


def test_addresses_are_encrypted_again_with_a_new_key(queue: Queue) -> None:
    made = queue.channel()
    old, new = queue.cipher, Cipher(b"n" * 32, b"k" * 32)
    assert queue.store.write_now(channels.encrypt_again, new) == 1
    opened = queue.store.read_now(channels.opened, Cipher(b"n" * 32), made.id)
    assert opened.address == "https://hooks.example.org/secret"
    assert opened.secret
    with pytest.raises(NotOurKey):
        queue.store.read_now(channels.opened, old, made.id)
