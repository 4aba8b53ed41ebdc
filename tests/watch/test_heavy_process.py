"""The process with RE2 and the calendars of exchanges: started when needed, again when it died."""

import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import psutil
import pytest

from tapeline.watch.heavy.messages import Match, Places
from tapeline.watch.heavy.process import Heavy, NoCalendar, NoHeavyAnswer
from tests.waiting import wait_for

SLOW = "(?:a|b|ab){0,1000}z"
"""As slow as a pattern may be: it keeps a thousand counts apart."""


@pytest.fixture
def heavy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heavy]:
    # On a busy machine it takes long to load the calendars.
    monkeypatch.setattr("tapeline.watch.heavy.process.DEADLINE", 240.0)
    made = Heavy()
    yield made
    made.close()


def _children() -> list[psutil.Process]:
    return [
        one
        for one in psutil.Process().children()
        if "tapeline.watch.heavy.serving" in " ".join(one.cmdline())
    ]


def test_it_is_started_by_the_first_question_and_ends_when_closed(heavy: Heavy) -> None:
    before = len(_children())
    assert heavy.matching([]) == []
    assert len(_children()) == before
    assert heavy.matching([Match("b+", ["abc", "c", "bb"]), Match("^ü", ["ü", "u"])]) == [
        Places([0, 2], 3),
        Places([0], 2),
    ]
    assert len(_children()) == before + 1
    heavy.close()
    assert len(_children()) == before


def test_one_that_died_is_started_again(heavy: Heavy) -> None:
    assert heavy.trouble_with("a") is None
    (child,) = _children()
    os.kill(child.pid, signal.SIGKILL)
    wait_for(lambda: child.status() == psutil.STATUS_ZOMBIE or not child.is_running())
    assert "missing )" in (heavy.trouble_with("(a") or "")


def test_one_that_hangs_is_ended(heavy: Heavy, monkeypatch: pytest.MonkeyPatch) -> None:
    assert heavy.trouble_with("a") is None
    (child,) = _children()
    os.kill(child.pid, signal.SIGSTOP)
    monkeypatch.setattr("tapeline.watch.heavy.process.DEADLINE", 0.2)
    with pytest.raises(NoHeavyAnswer):
        heavy.trouble_with("a")
    assert not _children()


def test_a_server_with_many_descriptors_asks_all_the_same(heavy: Heavy) -> None:
    taken = [os.dup(0) for _ in range(1_100)]
    try:
        assert heavy.trouble_with("a") is None
        assert heavy.sessions("XNYS", time.time())
    finally:
        for one in taken:
            os.close(one)


def test_one_that_does_not_even_read_the_question_is_ended(
    heavy: Heavy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert heavy.trouble_with("a") is None
    (child,) = _children()
    os.kill(child.pid, signal.SIGSTOP)
    monkeypatch.setattr("tapeline.watch.heavy.process.DEADLINE", 0.2)
    with pytest.raises(NoHeavyAnswer):
        heavy.matching([Match("a", ["a" * 1_000_000])])
    assert not _children()


def test_one_whose_answer_makes_no_sense_is_ended(
    heavy: Heavy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("tapeline.watch.heavy.process.LONGEST_ANSWER", "none")
        with pytest.raises(NoHeavyAnswer):
            heavy.trouble_with("a")
    assert not _children()
    assert heavy.trouble_with("a") is None


def test_a_pattern_that_is_large_when_counted_out_is_refused(heavy: Heavy) -> None:
    assert "too large" in (heavy.trouble_with(".{0,1000}" * 21 + "z") or "")
    assert "too large" in (heavy.trouble_with("[a-z]{0,1000}" * 8 + "z") or "")
    assert heavy.trouble_with("(?i)error.{0,200}timeout") is None


def test_each_pattern_has_its_share_of_the_time_and_says_how_far_it_came(heavy: Heavy) -> None:
    assert heavy.searching([Match("a", ["a"])], 60.0) == [Places([0], 1)]
    slow = Match(SLOW, ["ab" * 1_999] * 100_000)
    for seconds in (0.5, 1.0, 2.0, 4.0):  # on a busy machine a share may pass before it is used
        first, second = heavy.searching([slow, Match("b$", ["ab"])], seconds)
        assert isinstance(first, Places)
        assert first.looked < len(slow.lines)
        if second == Places([0], 1):
            break
    assert second == Places([0], 1)
    assert heavy.searching([Match("a", ["a"])], 0.0) == [Places([], 0)]


def test_hours_of_exchanges_do_not_wait_for_patterns(heavy: Heavy) -> None:
    assert heavy.trouble_with("a") is None
    heavy.searching([Match("a", ["a"])], 60.0)
    for child in _children():
        os.kill(child.pid, signal.SIGSTOP)
    assert heavy.sessions("XNYS", time.time())


def test_sessions_of_an_exchange(heavy: Heavy) -> None:
    now = datetime(2026, 11, 17, 12, tzinfo=UTC).timestamp()
    sessions = heavy.sessions("XNYS", now)
    opened, closed = next(one for one in sessions if one[0] > now)
    assert datetime.fromtimestamp(opened, UTC) == datetime(2026, 11, 17, 14, 30, tzinfo=UTC)
    assert datetime.fromtimestamp(closed, UTC) == datetime(2026, 11, 17, 21, tzinfo=UTC)
    for child in _children():
        os.kill(child.pid, signal.SIGSTOP)
    assert heavy.sessions("XNYS", now + 3600) == sessions, "nobody need be asked again"
    for child in _children():
        os.kill(child.pid, signal.SIGCONT)
    days = [datetime.fromtimestamp(one, UTC).date() for one, _ in heavy.sessions("XTKS", now)]
    assert any(days.count(day) == 2 for day in days), "a lunch break parts a day"
    with pytest.raises(NoCalendar, match="no calendar MOON"):
        heavy.sessions("MOON", now)
