"""Files of deleted models go from every node that answers, whatever others do, and from here."""

import asyncio
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tapeline import compose
from tapeline.background import Background, Work
from tapeline.runs.cluster.bridge import RayNode
from tapeline.runs.cluster.cluster_runner import ClusterRunner
from tapeline.runs.cluster.fetched_files import FOLDER, UNUSED_FOR, FetchedFiles
from tapeline.runs.cluster.members import Members
from tapeline.runs.cluster.node_remains import NodeRemains
from tapeline.runs.engines.model_files import Doomed, Remains
from tapeline.runs.node import frames
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.thread_pools import threads
from tests.cluster.test_members import OPENING, SAYS
from tests.conftest import Cast, Service
from tests.pushing import pushing
from tests.runs.engines.node_place import Direct
from tests.runs.supervision.leased import Rows

NODES = ("broken", "babbling", "well")
NOTHING_MORE = Remains([], [], ["a" * 64], {})


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Nothing here depends on the database."""
    return sqlite_settings


class Several(Direct):
    """The first cannot be asked, the second says what nobody can read."""

    def __init__(self) -> None:
        self.discarded: list[Doomed] = []

    def nodes(self) -> list[RayNode]:
        return [RayNode(one, one, True, 2.0, 2.0, 1 << 30, 1 << 30) for one in NODES]

    def call(self, node_id: str, frame: bytes, timeout: float) -> bytes:  # noqa: ARG002
        asked = frames.read(frame, frames.Request)
        if asked.method == "describe":
            return frames.answer(msgspec.structs.replace(SAYS, name=node_id))
        if node_id == "broken":
            raise OSError("Too many open files")
        if node_id == "babbling":
            return b"\xc1"
        if asked.method == "remains":
            return frames.answer(NOTHING_MORE)
        self.discarded.append(frames.read(asked.body, Doomed))
        return frames.answer(None)


def turn(carrier: Direct, store: Store, fetched: FetchedFiles) -> Background:
    members = Members(carrier, lambda _: OPENING, lambda: 1.0)
    members.refresh(Work("nodes", patience=60))
    assert set(members.all()) == set(NODES)
    pool = threads(1, "test")

    async def clear() -> Background:
        background = Background()
        await NodeRemains(members, fetched, store, background, pool).turn()
        return background

    try:
        return asyncio.run(clear())
    finally:
        members.close()
        pool.shutdown()


def test_a_node_that_fails_keeps_no_files_on_the_others(store: Store, tmp_path: Path) -> None:
    carrier = Several()
    background = turn(carrier, store, FetchedFiles(tmp_path / "fetched"))
    assert carrier.discarded == [Doomed(archives=["a" * 64])]
    (state,) = background.states()
    assert (state.name, state.failures) == ("remains", 2)


def test_a_node_whose_key_is_none_is_not_opened_and_keeps_nobody_else_out() -> None:
    class Keyless(Several):
        def call(self, node_id: str, frame: bytes, timeout: float) -> bytes:
            if node_id == "broken":
                says = msgspec.structs.replace(SAYS, name=node_id, opened="", public_key=b"short")
                return frames.answer(says)
            return super().call(node_id, frame, timeout)

    members, work = Members(Keyless(), lambda _: OPENING, lambda: 1.0), Work("nodes", patience=60)
    members.refresh(work)
    members.close()
    assert set(members.all()) == {"babbling", "well"}
    assert work.failures == 1


def test_results_that_were_fetched_go_with_their_runs(
    service: Service, cast: Cast, tmp_path: Path
) -> None:
    folder = tmp_path / "fetched"
    folder.mkdir()
    (folder / "of-a-process-that-was-killed.json").write_text("{}")
    (folder / f"{'a' * 64}-1").write_text("an archive on its way")
    now = 0.0
    fetched = FetchedFiles(folder, lambda: now)
    assert list(folder.iterdir()) == []
    with pushing(service, cast.owner) as model:
        goes_on = Rows(service, cast, model.id).add("b", None).id
        for run in (goes_on, "of-a-deleted-model"):
            fetched.result(run).write_text("{}")
        turn(Several(), service.store, fetched)
        assert len(list(folder.iterdir())) == 2, "they may be being read"
        now = UNUSED_FOR
        fetched.result("being-read").write_text("{}")
        turn(Several(), service.store, fetched)
    assert {one.stem for one in folder.iterdir()} == {goes_on, "being-read"}
    fetched.clear()
    assert list(folder.iterdir()) == [], "as when another server leads"


def test_a_server_that_leads_no_more_keeps_nothing_that_it_fetched(
    sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = replace(sqlite_settings, engine="ray", ray_address="127.0.0.1:9")
    with compose.open_services(chosen) as services:
        runner = services.runner
        assert isinstance(runner, ClusterRunner)
        runner.open(1)
        left = chosen.data / FOLDER / "r.json"
        left.write_text("{}")
        monkeypatch.setattr(runner, "_leads", lambda: False)
        asyncio.run(runner._turn())
        assert not left.exists()
