"""A meter counts per owner and per minute, and forgets whose minute is over."""

import pytest

from tapeline.errors import QuotaExceeded, TooLarge
from tapeline.settings import Settings
from tapeline.tape.append import quotas
from tapeline.tape.append.quotas import MEGABYTE, Meter, Quotas
from tapeline.tape.tapes import WriteAccess


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_fits_into_a_minute_fits_and_the_next_minute_begins_anew() -> None:
    clock = Clock()
    meter = Meter(100, clock)
    assert meter.wait("a", 100) is None
    meter.add("a", 60)
    clock.now += 20
    assert (meter.wait("a", 40), meter.wait("a", 41), meter.used("a")) == (None, 40.0, 60)
    assert meter.wait("b", 100) is None
    clock.now += 40
    assert (meter.wait("a", 100), meter.used("a")) == (None, 0)
    meter.add("a", 100)
    assert (meter.wait("a", 1), meter.wait("a", 0)) == (60.0, None)


def test_those_whose_minute_is_over_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "MOST_REMEMBERED", 10)
    clock = Clock()
    meter = Meter(100, clock)
    for number in range(10):
        meter.add(number, 1)
    clock.now += 30
    meter.add("young", 1)
    clock.now += 31
    meter.add("new", 1)
    assert (meter.used("young"), meter.used("new"), len(meter._windows)) == (1, 1, 2)


def test_a_refused_request_counts_nowhere_and_a_vital_one_everywhere() -> None:
    made = Quotas(Settings(quota_pushed=1, quota_key=2))
    one, two, three = (WriteAccess("key", tape) for tape in (1, 2, 3))
    made.push(one, MEGABYTE)
    with pytest.raises(QuotaExceeded, match="This model has pushed") as refused:
        made.push(one, 1)
    assert 1 <= (refused.value.retry_after or 0) <= 60
    made.push(one, MEGABYTE, is_vital=True)
    assert (made.pushed.used(1), made.pushed_by_key.used("key")) == (2 * MEGABYTE, 2 * MEGABYTE)
    with pytest.raises(QuotaExceeded, match="This key has pushed"):
        made.push(two, 1)
    assert made.pushed.used(2) == 0
    made.push(WriteAccess("other", 2), 1)
    with pytest.raises(TooLarge, match="more than the quota of a whole minute"):
        made.push(three, MEGABYTE + 1)


def test_what_another_server_counted_counts_here_and_is_not_told_back() -> None:
    clock = Clock()
    here, there = Meter(100, clock), Meter(100, clock)
    here.add("a", 4)
    assert here.untold() == {}, "far from its limit"
    here.add("a", 40)
    assert (here.untold(), here.untold()) == ({"a": 44}, {})
    there.add_elsewhere("a", 44)
    there.add("a", 6)
    assert (there.used("a"), there.wait("a", 51), there.untold()) == (50, 60.0, {"a": 6})
    here.add_elsewhere("a", 6)
    assert (here.used("a"), here.untold()) == (50, {})
    clock.now += 61
    assert (here.used("a"), here.untold()) == (0, {})
