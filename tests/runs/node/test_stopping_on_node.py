"""`tapeline halt --here` and `stop --here` on a node: what was stopped there starts nowhere."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection, insert

from tapeline.background import Background
from tapeline.errors import OnHold
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Job
from tapeline.runs.holding import holds
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.node import frames
from tapeline.runs.node.frames import Says
from tapeline.runs.run import Run
from tapeline.runs.supervising import Means
from tapeline.runs.supervision import desired
from tapeline.runs.supervision.executor import Executor
from tapeline.store.tables.runs import runs, versions
from tests.conftest import Cast, Service
from tests.pushing import pushing
from tests.runs.engines.contract import FOREVER, Bench
from tests.runs.engines.node_place import Direct, Node
from tests.runs.supervision.leased import Rows
from tests.waiting import A_PROGRAM, wait_for

pytestmark = pytest.mark.heavy

SETTINGS = {"TAPELINE_STOP_SECONDS": "1"}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    made = Node(tmp_path_factory.mktemp("node"))
    yield made
    made.close()


@pytest.fixture
def bench(node: Node, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(node, tmp_path)
    yield made
    for name in holds.of(node.data):
        holds.lift(node.data, name)
    made.close()


def typed(node: Node, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tapeline", *words, "--data", str(node.data)]
    return subprocess.run(
        command,
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        timeout=A_PROGRAM,
        check=False,
    )


def trouble_of(node: Node) -> str:
    answer = Direct(node.data).call("1", frames.ask("describe", 1.0), 20.0)
    return frames.answered(answer, Says).trouble


def test_a_halted_node_starts_nothing_until_it_is_released(node: Node, bench: Bench) -> None:
    run = bench.started(FOREVER)
    bench.journal(run, until="here")
    other = bench.job(FOREVER)
    bench.engine.prepare(other, None)

    said = typed(node, "halt", "--here", "--why", "Prices are wrong.")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "Other nodes go on" in " ".join(said.stderr.split())
    found = bench.engine.look([run])
    assert not found.of[run.id].alive
    assert found.holds[run.host or ""][holds.ALL].why == "Prices are wrong."
    with pytest.raises(OnHold, match="Prices are wrong"):
        bench.start(other)
    assert not bench.sight(other.run).alive
    assert "Prices are wrong" in trouble_of(node)

    said = typed(node, "release")
    assert said.returncode == 0, said.stdout + said.stderr
    assert not (node.data / "tapeline.db").exists(), "a node has no database"
    assert trouble_of(node) == ""
    bench.start(other)
    assert bench.sight(other.run).alive


def test_a_model_that_was_stopped_on_its_node_does_not_start_there_until_that_is_recorded(
    node: Node, bench: Bench
) -> None:
    run, other = bench.started(FOREVER), bench.started(FOREVER)
    said = typed(node, "stop", "--here", run.model_id)
    assert said.returncode == 0, said.stdout + said.stderr
    found = bench.engine.look([run, other])
    assert (found.of[run.id].alive, found.of[other.id].alive) == (False, True)
    assert list(found.holds[run.host or ""]) == [run.model_id]
    bench.engine.lift(run.host or "", run.model_id)
    assert not bench.engine.look([run]).holds


def test_a_hold_of_a_node_is_refused_and_says_what_to_do(node: Node) -> None:
    said = typed(node, "hold")
    assert said.returncode == 1
    assert "tapeline cluster drain host" in " ".join(said.stderr.split())
    assert not holds.of(node.data)


class Leader:
    """Supervises the runs of one node, turn by turn."""

    def __init__(self, service: Service, bench: Bench, folder: Path) -> None:
        services, background = service.services, Background()
        means = Means(
            services.settings, service.store, services.cipher, services.inbox.appender,
            services.watchers, services.staging, services.quotas, background,
        )  # fmt: skip
        self._store = service.store
        self._holds = ServerHolds(folder, background)
        self._executor = Executor(
            service.store, bench.engine, means.collector(bench.engine), services.cipher, background,
            slots=1, grace=1.0, server_holds=self._holds, lease=6.0,
        )  # fmt: skip

    def insert(self, job: Job) -> None:
        def write(connection: Connection) -> None:
            version = msgspec.structs.replace(job.version, id=job.run.version_id)
            version = msgspec.structs.replace(version, model_id=job.run.model_id)
            connection.execute(insert(versions).values(msgspec.to_builtins(version)))
            connection.execute(insert(runs).values(msgspec.structs.asdict(job.run)))

        self._store.write_now(write)

    def get(self, run: Run) -> Run:
        found = self._store.read_now(run_records.find, run.id)
        assert found is not None
        return found

    def lead_until_ended(self, run: Run) -> None:
        asyncio.run(self._lead_until_ended(run))

    def close(self) -> None:
        self._executor.close()
        self._holds.close()

    async def _lead_until_ended(self, run: Run) -> None:
        async with self._executor._background.running():
            await asyncio.to_thread(wait_for, lambda: self.get(run).ended_at is not None)


@pytest.mark.databases("postgresql")
@pytest.mark.parametrize("words", [["halt", "--here"], ["stop", "--here"]])
def test_what_was_stopped_on_its_node_is_recorded_as_stopped_and_goes_on_nowhere(
    node: Node, bench: Bench, service: Service, cast: Cast, tmp_path: Path, words: list[str]
) -> None:
    with pushing(service, cast.owner) as model:
        job = bench.job(FOREVER, model=model.id, launches=1, lease_until=1e12)
        leader = Leader(service, bench, tmp_path)
        leader.insert(job)
        bench.start(job)
        bench.journal(job.run, until="here")
        which = [model.id] if words[0] == "stop" else []
        said = typed(node, *words, *which)
        assert said.returncode == 0, said.stdout + said.stderr

        leader.lead_until_ended(job.run)
        ended = leader.get(job.run)
        assert (ended.state, ended.desired, ended.host) == ("stopped", "stopped", job.run.host)
        assert ended.reason.startswith("Stopped on the machine itself: An operator")
        assert list(holds.of(node.data)) == ([] if which else [holds.ALL])
        leader.close()


@pytest.mark.databases("postgresql")
def test_what_a_halted_node_never_started_is_for_other_nodes(service: Service, cast: Cast) -> None:
    with pushing(service, cast.owner) as model, pushing(service, cast.owner) as second:
        rows, others = (Rows(service, cast, one.id) for one in (model, second))
        ran, fresh = rows.add("ran", 6.0, kind="live"), others.add("fresh", 6.0, kind="live")
        others.change(fresh, fence=None, launches=0)
        assert service.store.write_now(desired.stop_on, "n1", "Prices are wrong.")
        assert (rows.get(ran).desired, rows.get(ran).host) == ("stopped", "n1")
        assert (others.get(fresh).desired, others.get(fresh).host) == ("running", None)
        assert not service.store.write_now(desired.stop_on, "n1", "Prices are wrong.")
