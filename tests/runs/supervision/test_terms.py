"""What a server remembers of runs counts until another server has led."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from tapeline import compose
from tapeline.background import Background
from tapeline.runs.engines.engine import Engine, Job, Sights
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.run import Run
from tapeline.runs.supervision.carrying_out import Memory, Ready
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.executor import Executor
from tapeline.settings import Settings


class NoHosts:
    """A cluster that no node has joined yet."""

    def hosts(self) -> tuple[str, ...]:
        return ()

    def look(self, runs: list[Run]) -> Sights:
        assert not runs
        return Sights({}, {}, {})

    def place(self, _runs: list[Run], _drained: set[str]) -> dict[str, str]:
        return {}

    def close(self) -> None: ...


@pytest.fixture
def background() -> Background:
    return Background()


@pytest.fixture
def executor(tmp_path: Path, background: Background) -> Iterator[Executor]:
    with compose.open_services(Settings(data=tmp_path / "data")) as parts:
        engine, holds = cast(Engine, NoHosts()), ServerHolds(tmp_path, background)
        collector = Collector(
            parts.store, engine, parts.inbox.appender, parts.watchers, parts.staging, parts.quotas,
            background,
        )  # fmt: skip
        made = Executor(
            parts.store,
            engine,
            collector,
            parts.cipher,
            background,
            slots=1,
            grace=1.0,
            server_holds=holds,
            lease=6.0,
            once=True,
        )
        yield made
        for one in (made, collector, holds):
            one.close()


def test_what_was_remembered_is_forgotten_when_another_server_led(
    executor: Executor, background: Background
) -> None:
    acts, term = executor._acts, 0.0
    background.term = lambda: term
    memory = acts.memory = Memory(
        ready={"a": Ready(cast(Job, None), "n1", "boxed")},
        problems={"a": "There is no six."},
        stopping={"a": 0.0},
    )
    executor._read_out["a"] = 1
    asyncio.run(executor._turn())
    assert acts.memory is memory, "it led all the time, or was away alone"
    term = 7.0
    asyncio.run(executor._turn())
    assert acts.memory == Memory()
    assert not executor._read_out
