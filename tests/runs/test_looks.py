"""A look at the nodes of a cluster: one that is silent delays nobody, one that is slow is seen."""

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tapeline import __version__
from tapeline.background import Work
from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs.cluster.bridge import CannotReach, RayNode
from tapeline.runs.cluster.cluster_engine import ClusterEngine
from tapeline.runs.cluster.fetched_files import FOLDER, FetchedFiles
from tapeline.runs.cluster.looks import ANSWERED_WITHIN
from tapeline.runs.cluster.members import Members
from tapeline.runs.engines.engine import Job, LaunchSecrets, NotSeenYet, Sight, Sights
from tapeline.runs.holding.holds import Hold
from tapeline.runs.node import frames, sealing
from tapeline.runs.node.frames import Opening, Request, Says, Seen
from tapeline.runs.run import Run
from tapeline.store.blobs import Blobs
from tests.runs.supervision.histories import a_run
from tests.waiting import SLOW_MACHINE, wait_for

FAST, SLOW = "fast", "slow"
PUBLIC = sealing.public_part(sealing.new_key())
OPENING = Opening({}, "t" * 64, 30.0, [])
PATIENCE = 0.2


class Nodes:
    """Two, of which one answers when it is let: what it says is of the moment of the question."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.holds: dict[str, Hold] = {}
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.fails = False

    def nodes(self) -> list[RayNode]:
        return [RayNode(name, name, True, 2.0, 2.0, 1, 1) for name in (FAST, SLOW)]

    def call(self, node_id: str, frame: bytes, timeout: float) -> bytes:
        asked = frames.read(frame, Request)
        if asked.method == "look":
            return self._look(node_id, frames.read(asked.body, frames.Look).runs, timeout)
        return frames.answer(_described(node_id) if asked.method == "describe" else None)

    def _look(self, node_id: str, runs: list[Run], timeout: float) -> bytes:
        of = {run.id: Sight(alive=run.id in self.alive) for run in runs}
        said = Seen(of, {}, [], dict(self.holds) if node_id == SLOW else {})
        self.asked.append(node_id)
        if node_id == SLOW and (not self.may_answer.wait(timeout) or self.fails):
            raise CannotReach("The node did not answer.")
        return frames.answer(said)

    def reserve(self, *_: object) -> str | None:
        return None

    def release(self, run_ids: Iterable[str]) -> None: ...

    def reserved(self) -> dict[str, str]:
        return {}

    def trouble(self) -> str | None:
        return None

    def close(self) -> None: ...


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.nodes, self.term = Nodes(), 1.0
        self._questions: list[object] = []
        members = Members(self.nodes, lambda _: OPENING, lambda: self.term)
        members.refresh(Work("nodes", patience=60.0))
        fetched = FetchedFiles(folder / FOLDER)
        self.engine = ClusterEngine(members, self.nodes, Blobs(folder), fetched, PATIENCE)

    def look(self, *runs: Run) -> Sights:
        """The slow node knows what it would say by then, however busy the machine is."""
        seen = self.engine.look(runs)
        if (question := self.engine._looks._asked[SLOW]) not in self._questions[-1:]:
            self._questions.append(question)
        wait_for(lambda: self.nodes.asked.count(SLOW) >= len(self._questions))
        return seen

    def waits(self, seconds: float) -> None:
        """For the answers that it asks for."""
        self.engine._looks._patience = seconds

    def late_answer(self) -> None:
        """It comes between two turns."""
        self.nodes.may_answer.set()
        wait_for(self._is_answered)
        self.nodes.may_answer.clear()

    def _is_answered(self) -> bool:
        return self.engine._looks._asked[SLOW].answer.done()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.nodes.may_answer.set()
    made.engine.close()


def _described(name: str) -> Says:
    return Says(
        name=name, machine=name, version=__version__, pythons="", confinement="", trouble="",
        public_key=PUBLIC, opened=frames.digest(OPENING),
    )  # fmt: skip


def _launched(name: str, host: str, fence: int = 1) -> Run:
    return a_run(name, model=name, host=host, fence=fence)


HERE, THERE = _launched("here", FAST), _launched("there", SLOW)


def test_a_silent_node_delays_no_other(cluster: Cluster) -> None:
    cluster.nodes.alive = {"here", "there"}
    cluster.waits(2.0)
    began = time.monotonic()
    first = cluster.look(HERE, THERE)
    assert time.monotonic() - began < ANSWERED_WITHIN - 1.0
    assert first.of["here"].alive
    assert "there" not in first.of
    assert isinstance(first.unknown["there"], NotSeenYet)
    began = time.monotonic()
    for _ in range(5):
        assert cluster.look(HERE, THERE).of["here"].alive
    assert time.monotonic() - began < 5 * 2.0, "it is waited for once"
    assert cluster.nodes.asked.count(SLOW) == 1, "and asked once"


def test_a_node_that_is_always_slow_is_seen_by_every_later_turn(cluster: Cluster) -> None:
    cluster.look(HERE, THERE)
    cluster.nodes.alive = {"there"}
    cluster.late_answer()
    assert not cluster.look(HERE, THERE).of["there"].alive
    cluster.late_answer()
    assert cluster.look(HERE, THERE).of["there"].alive


def test_a_node_that_answers_again_is_seen_as_it_is_now(cluster: Cluster) -> None:
    cluster.look(HERE, THERE)
    cluster.late_answer()
    cluster.nodes.alive = {"there"}
    cluster.nodes.may_answer.set()
    cluster.waits(SLOW_MACHINE)
    assert cluster.look(HERE, THERE).of["there"].alive


def test_nothing_started_since_the_question_is_seen_to_be_gone(cluster: Cluster) -> None:
    """The question came while a start was under way; its answer, after that."""
    cluster.look(THERE)
    cluster.engine.start(_job(THERE), LaunchSecrets("", "", {}))
    cluster.nodes.alive = {"there"}
    cluster.late_answer()
    found = cluster.look(THERE)
    assert "there" not in found.of
    assert "there" not in found.unknown
    cluster.late_answer()
    assert cluster.look(THERE).of["there"].alive


def test_an_answer_is_about_the_launch_that_was_asked_about(cluster: Cluster) -> None:
    cluster.look(THERE)
    cluster.late_answer()
    assert "there" not in cluster.look(_launched("there", SLOW, fence=2)).of


def test_an_answer_of_an_earlier_term_is_not_used(cluster: Cluster) -> None:
    cluster.look(THERE)
    cluster.late_answer()
    cluster.term = 2.0
    assert isinstance(cluster.look(THERE).unknown["there"], NotSeenYet)


def test_a_hold_that_was_lifted_is_not_seen_again(cluster: Cluster) -> None:
    cluster.nodes.holds = {"there": Hold(0.0, "why")}
    cluster.look(THERE)
    cluster.engine.lift(SLOW, "there")
    cluster.nodes.holds = {}
    cluster.nodes.may_answer.set()
    assert not cluster.look(THERE).holds


def test_a_node_that_failed_has_failed_until_it_answers(cluster: Cluster) -> None:
    cluster.look(THERE)
    cluster.nodes.fails = True
    cluster.late_answer()
    for _ in range(2):
        assert isinstance(cluster.look(THERE).unknown["there"], CannotReach)
    cluster.nodes.fails = False
    cluster.late_answer()
    assert "there" in cluster.look(THERE).of
    assert isinstance(cluster.look(THERE).unknown["there"], NotSeenYet)


def test_a_close_look_waits(cluster: Cluster) -> None:
    threading.Timer(PATIENCE * 2, cluster.nodes.may_answer.set).start()
    assert "there" in cluster.engine.look([THERE], closely=True).of
    assert cluster.nodes.asked == [SLOW], "only the node that has the run"


def _job(run: Run) -> Job:
    version = Version(
        id="v", model_id=run.model_id, number=1, description="", archive="a", size=1,
        manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
        created_at=0.0, created_by="ada",
    )  # fmt: skip
    return Job(run, version, "p", 1)
