"""Tapes with long events are read in bounded memory, and completely."""

from pathlib import Path

import msgspec
import pytest

from tapeline import memory
from tapeline.errors import Overloaded
from tapeline.store.store import Store
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.watchers import News, Watcher
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof.signer import Signer
from tapeline.tape.reading import channels, whole_tape
from tests.tape.append.test_appending import new_tape

LONG = 100_000  # bytes of an event
COUNT = 60


def append(store: Store, folder: Path, groups: list[int]) -> int:
    """A tape with groups of so many long events."""
    appender, tape = Appender(Signer(folder)), store.write_now(new_tape)
    fields = {"line": "x" * LONG, "type": "stdout"}
    body = msgspec.json.encode(fields)
    one = Event(tape=tape, kind=kinds.LOG, fields=fields, body=body, time=1.0, received_at=1.0)
    for size in groups:
        store.write_now(appender.append, [Submission([one] * size, None)])
    return tape


def test_long_events_are_read_few_at_a_time(store: Store, tmp_path: Path) -> None:
    tape = append(store, tmp_path, [1, 2] * (COUNT // 3))
    reached, size, found = 0, 1_000, list[StoredEvent]()
    while reached < COUNT:
        groups = store.read_now(whole_tape.groups, tape, reached, COUNT, size)
        some = [one for group in groups for one in group]
        assert sum(len(one.body) for one in some) <= whole_tape.AT_ONCE
        reached, found = some[-1].seq, found + some
    assert [one.seq for one in found] == list(range(1, COUNT + 1))


def test_events_that_were_stored_together_are_read_together_if_there_is_memory(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = append(store, tmp_path, [COUNT])
    (group,) = store.read_now(whole_tape.groups, tape, 0, COUNT, 10)
    assert len(group) == COUNT
    monkeypatch.setattr(memory, "available", lambda: 10_000_000)
    with pytest.raises(Overloaded, match="more memory"):
        store.read_now(whole_tape.groups, tape, 0, COUNT, 10)


def test_an_answer_has_fewer_long_events_than_asked_for_and_says_where_to_go_on(
    store: Store, tmp_path: Path
) -> None:
    tape = append(store, tmp_path, [5] * (COUNT // 5))
    found, after = list[int](), 0
    while after < COUNT:
        portion = store.read_now(channels.after, tape, kinds.LOG.channel, after=after, limit=1_000)
        assert sum(len(one.body) for one in portion.records) <= channels.LONGEST + 2 * LONG
        found += [one.seq for one in portion.records]
        after = portion.next or COUNT
    assert found == list(range(1, COUNT + 1))


def test_a_slow_watcher_keeps_few_long_events() -> None:
    line = StoredEvent(1, kinds.LOG.number, 1.0, 1.0, bytes(LONG))
    watcher, kept = Watcher(loop=None), 0  # type: ignore[arg-type]
    while not watcher.has_too_much(news := News("model", [line])):
        watcher.news.append(news)
        kept += 1
    assert 0 < kept * LONG <= 1_000_000
