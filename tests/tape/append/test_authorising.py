"""A right that ends is noticed at once, and a flood of them once a second."""

import asyncio

import pytest

from tapeline.background import Background
from tapeline.store.backends.announcing import RIGHTS
from tapeline.tape.append import authorising
from tapeline.tape.append.authorising import Authorising
from tapeline.tape.append.watchers import Watchers


def test_streams_check_at_once_and_at_most_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(authorising, "monotonic", lambda: now)
    watchers = Watchers()
    made = Authorising(watchers, Background())
    made.hear(["a-model"])
    assert watchers.rights == 0
    for _ in range(50):
        made.hear([RIGHTS])
    assert watchers.rights == 1
    asyncio.run(made.turn())
    assert watchers.rights == 2, "what came after the first is not forgotten"
    asyncio.run(made.turn())
    assert watchers.rights == 2
    now += authorising.EVERY
    made.hear([RIGHTS])
    assert watchers.rights == 3
