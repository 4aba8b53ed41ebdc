"""Whatever happens to nodes, messages and clocks, two starts of a model are never alive at once.

The database, its rules (`launching`, `leases`, `collecting`) and the takeover (`failing_over`) are
the real ones, on a simulated clock. Nodes do what a node's process and its shims do: they renew,
count from before the request, and die at their deadline at the latest with the kernel's slack. All
messages may be late, lost or doubled; nodes and the server that leads may be frozen at any point.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings, stateful
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from sqlalchemy import Connection, insert, select, update

from tapeline import compose
from tapeline.background import Background
from tapeline.http.core.services import Services
from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs import described_hosts
from tapeline.runs.described_hosts import Description
from tapeline.runs.engines.engine import Job
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.records import Record
from tapeline.runs.leases import MARGIN, renew
from tapeline.runs.run import Run
from tapeline.runs.shim.lease import SLACK
from tapeline.runs.supervision import collecting, launching
from tapeline.runs.upkeep import failing_over
from tapeline.runs.upkeep.failing_over import FailingOver
from tapeline.runs.upkeep.forgetting import Forgetting
from tapeline.settings import Settings
from tapeline.store.backends import common_time
from tapeline.store.rows import record
from tapeline.store.tables.runs import runs, versions
from tests.examples import some
from tests.results.pnl.bookkeeping import new_model
from tests.runs.supervision.histories import a_run

LEASE = 6.0
NODES = ("n1", "n2", "n3")
LEASE_OVER = {
    "event": "finished", "outcome": "lease", "cause": "lease", "exit_code": None, "signal": 9,
    "restarts": 0, "reason": "",
}  # fmt: skip


class World:
    """The clocks. A process has the time since its machine started, the database a wall clock."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.now = 1_000_000.0
        self.ahead = 1e9


@dataclass
class Instance:
    """A model that was started, and may be alive."""

    run_id: str
    node: str
    fence: int
    until: float

    def is_alive(self, now: float) -> bool:
        return now < self.until + SLACK


@dataclass
class Message:
    """From a node to a server or back: a start, a request for renewal, or its answer."""

    kind: str
    node: str
    fences: dict[str, int]
    asked_at: float = 0.0
    seconds: float = 0.0
    """What the longest lease there has left, or what was granted."""


@dataclass
class Node:
    is_frozen: bool = False
    starting: dict[str, int] = field(default_factory=dict)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with compose.open_services(Settings(data=tmp_path / "data")) as services:
        made = World(services)
        monkeypatch.setattr(common_time, "now", lambda _connection: made.now + made.ahead)
        monkeypatch.setattr(failing_over, "elapsed", lambda: made.now)
        yield made


def test_two_starts_of_a_model_are_never_alive_at_once(world: World) -> None:
    class Histories(Fleet):
        def __init__(self) -> None:
            super().__init__(world)

    limits = settings(max_examples=some(80), stateful_step_count=40, deadline=None)
    stateful.run_state_machine_as_test(Histories, settings=limits)


@pytest.fixture
def fleet(world: World) -> "Fleet":
    made = Fleet(world)
    made.deploy()
    assert len(made.instances) == 1
    return made


def test_a_model_is_back_elsewhere_when_its_lease_is_over(fleet: "Fleet") -> None:
    begun = fleet.world.now
    while len(fleet.instances) == 1:
        fleet.go_on(1, set())
        fleet.start_at_once("n2")
        fleet.one_is_alive_at_most()
    assert fleet.instances[1].node == "n2"
    assert LEASE + MARGIN < fleet.world.now - begun < LEASE + MARGIN + 2.0


def test_a_clock_of_the_database_that_is_set_forward_ends_no_lease_too_early(
    fleet: "Fleet",
) -> None:
    fleet.set_clock_of_database(3600.0)
    while len(fleet.instances) == 1:
        fleet.go_on(1, set())
        fleet.start_at_once("n2")
        fleet.one_is_alive_at_most()


def test_a_node_counts_from_before_it_asked(fleet: "Fleet") -> None:
    """The answer is under way until just before its deadline."""
    fleet.ask("n1")
    asked = fleet.world.now
    fleet._deliver(fleet.messages.pop())
    answer = fleet.messages.pop()
    fleet.go_on(4, set())
    fleet._deliver(answer)
    assert fleet.instances[0].until == asked + LEASE - MARGIN
    while len(fleet.instances) == 1:
        fleet.go_on(1, set())
        fleet.start_at_once("n2")
        fleet.one_is_alive_at_most()


def test_shorter_leases_take_no_time_from_a_model_that_has_more(fleet: "Fleet") -> None:
    """Its node renews once after the setting was changed, and is cut off then."""
    fleet.lease = 60.0
    fleet.renew("n1")
    fleet.lease = LEASE
    fleet.renew("n1")
    while len(fleet.instances) == 1:
        fleet.go_on(1, set())
        fleet.start_at_once("n2")
        fleet.one_is_alive_at_most()


def test_a_leader_that_was_frozen_takes_only_the_lease_that_it_saw(fleet: "Fleet") -> None:
    """While it was, the database's clock was set back, and the node renewed."""
    fleet.world.now += LEASE - MARGIN - 0.5  # its model is still alive
    fleet.set_clock_of_database(10.0)
    fleet.found = asyncio.run(fleet._found_by_leader())
    fleet.set_clock_of_database(-10.0)
    fleet.renew("n1")
    assert fleet.found
    fleet.take_over()
    fleet.start_at_once("n2")
    assert len(fleet.instances) == 1


def test_a_node_that_was_declared_gone_has_its_models_until_their_leases_end(
    fleet: "Fleet",
) -> None:
    fleet.forget("n1")
    while len(fleet.instances) == 1:
        fleet.start_at_once("n2")
        fleet.one_is_alive_at_most()
        fleet.go_on(1, set())


class Fleet(stateful.RuleBasedStateMachine):
    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.services, self.store = world, world.services, world.services.store
        self.nodes = {name: Node() for name in NODES}
        self.instances: list[Instance] = []
        self.lease = LEASE
        self.messages: list[Message] = []
        self.found: list[str] = []

    @initialize()
    def deploy(self) -> None:
        self.project, self.model, self.version = self.store.write_now(_deployed)
        for name in NODES:
            self.store.write_now(described_hosts.describe, Description(name, name, "1"))
        self.leader_changes()
        self.go_on(8, set())
        self.start_at_once("n1")

    def teardown(self) -> None:
        def job(connection: Connection) -> None:
            connection.execute(update(runs).values(ended_at=0.0))

        self.store.write_now(job)

    # Servers

    @rule()
    def leader_changes(self) -> None:
        parts = self.services
        self.leader = FailingOver(
            self.store,
            parts.inbox.appender,
            parts.watchers,
            Background(),
            parts.settings.data,
            LEASE,
        )
        self.forgetting = Forgetting(
            self.store, parts.inbox.appender, parts.watchers, Background(), parts.settings.data
        )
        self.found = []

    @rule(node=st.sampled_from(NODES))
    def forget(self, node: str) -> None:
        """An operator declares it gone, whether it is or not."""
        self.store.write_now(described_hosts.forget, node, "ada")
        for run in self._open():
            self.store.write_now(self.forgetting._take, run.id)

    @rule(node=st.sampled_from(NODES))
    def launch(self, node: str) -> None:
        """The supervisor's part: claim, raise the fence, and send the start."""
        waiting = [one for one in self._open() if one.fence is None]
        for run in waiting[:1]:
            host = run.host or node
            if self.store.write_now(launching.claim, run, host):
                job = Job(run, self.version, self.project, 1)
                raised = self.store.write_now(
                    launching.raise_fence, self.services.cipher, job, host, "boxed", LEASE
                )
                if raised is not None:
                    fences = {run.id: raised[0].fence or 0}
                    self.messages.append(Message("start", host, fences))

    @rule()
    def look_for_lapsed_leases(self) -> None:
        self.found = asyncio.run(self._find())

    @precondition(lambda self: self.found)
    @rule()
    def take_over(self) -> None:
        """Any time later."""
        for run_id in self.found:
            self.store.write_now(self.leader._take, run_id)

    @rule(seconds=st.integers(1, 20), reaching=st.sets(st.sampled_from(NODES)))
    def go_on(self, seconds: int, reaching: set[str]) -> None:
        """The leader looks every second, and these nodes renew in time."""
        for _ in range(seconds):
            self.wait(1.0)
            for name in sorted(reaching):
                self.renew(name)
            self.look_for_lapsed_leases()
            self.take_over()

    @rule(node=st.sampled_from(NODES))
    def start_at_once(self, node: str) -> None:
        """Without any delay of a message."""
        before = len(self.messages)
        self.launch(node)
        for message in self.messages[before:]:
            self.messages.remove(message)
            self._deliver(message)
            self.renew(message.node)

    # Nodes

    @rule(node=st.sampled_from(NODES))
    def renew(self, node: str) -> None:
        """The same for a renewal."""
        if self.nodes[node].is_frozen:
            return
        self.ask(node)
        for _ in range(2):
            self._deliver(self.messages.pop())

    @rule(node=st.sampled_from(NODES))
    def ask(self, node: str) -> None:
        """Ask for the renewal of all that lives there, and of what is to start there."""
        if self.nodes[node].is_frozen:
            return
        alive = {one.run_id: one.fence for one in self._on(node) if one.is_alive(self.world.now)}
        fences = {**alive, **self.nodes[node].starting}
        left = max((one.until + MARGIN - self.world.now for one in self._on(node)), default=0.0)
        self.messages.append(Message("ask", node, fences, self.world.now, left))

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), is_doubled=st.booleans())
    def message_arrives(self, data: st.DataObject, is_doubled: bool) -> None:
        at = data.draw(st.integers(0, len(self.messages) - 1))
        message = self.messages[at]
        if not is_doubled:
            del self.messages[at]
        self._deliver(message)

    @precondition(lambda self: self.messages)
    @rule(data=st.data())
    def message_is_lost(self, data: st.DataObject) -> None:
        del self.messages[data.draw(st.integers(0, len(self.messages) - 1))]

    @rule(node=st.sampled_from(NODES), is_frozen=st.booleans())
    def freeze(self, node: str, is_frozen: bool) -> None:
        """The kernel's timers go on, and nothing else does."""
        self.nodes[node].is_frozen = is_frozen

    @rule(node=st.sampled_from(NODES))
    def report(self, node: str) -> None:
        """Its shim wrote that the lease ran out, and that reaches the database."""
        for run in self._open():
            newest = [one for one in self._on(node) if one.run_id == run.id][-1:]
            is_over = newest and not newest[0].is_alive(self.world.now)
            if is_over and newest[0].fence == run.fence and run.host == node:
                chunk = Chunk([Record("state", 5.0, "", LEASE_OVER)], run.journal + 10, 0)
                appender = self.services.inbox.appender
                self.store.write_now(collecting.take, appender, run.id, run.journal, chunk, None)

    # Clocks

    @rule(seconds=st.floats(0.01, 8.0))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds

    @rule(seconds=st.sampled_from([-3600.0, -5.0, -1.0, 0.5, 3.0, 10.0, 3600.0]))
    def set_clock_of_database(self, seconds: float) -> None:
        self.world.ahead += seconds

    @invariant()
    def one_is_alive_at_most(self) -> None:
        alive = [one for one in self.instances if one.is_alive(self.world.now)]
        assert len(alive) <= 1, alive

    def _deliver(self, message: Message) -> None:
        if message.kind == "ask":
            fences, left = message.fences, message.seconds
            renewed = self.store.write_now(renew, message.node, fences, self.lease, left)
            fences = {one: message.fences[one] for one in renewed}
            answer = Message("answer", message.node, fences, message.asked_at, self.lease)
            self.messages.append(answer)
        elif not (node := self.nodes[message.node]).is_frozen:
            if message.kind == "start":
                node.starting |= message.fences
            else:
                self._take_answer(message, node)

    def _take_answer(self, message: Message, node: Node) -> None:
        until, now = message.asked_at + message.seconds - MARGIN, self.world.now
        for run_id, fence in message.fences.items():
            there = [one for one in self._on(message.node) if one.run_id == run_id]
            if node.starting.get(run_id) == fence:
                del node.starting[run_id]
                has_room = not any(one.is_alive(now) for one in there)  # its lock
                if now < until and has_room:
                    self.instances.append(Instance(run_id, message.node, fence, until))
            for one in there:
                if one.fence == fence and now < one.until < until:
                    one.until = until

    def _on(self, node: str) -> list[Instance]:
        return [one for one in self.instances if one.node == node]

    def _open(self) -> list[Run]:
        def job(connection: Connection) -> list[Run]:
            query = select(runs).where(runs.c.model_id == self.model, runs.c.ended_at.is_(None))
            rows = connection.execute(query.order_by(runs.c.created_at))
            return [record(Run, row) for row in rows]

        return self.store.read_now(job)

    async def _find(self) -> list[str]:
        return await self.leader._find()

    async def _found_by_leader(self) -> list[str]:
        """Whether it was sure of the time or not."""
        await self.leader._find()
        return list(self.leader._lapsed)


def _deployed(connection: Connection) -> tuple[str, str, Version]:
    model, _ = new_model(connection, "signed")
    version = Version(
        id=f"v-{model}", model_id=model, number=1, description="", archive="a", size=1,
        manifest=Manifest(main_script="main.py"), plan="nano", python_version="3.11",
        created_at=0.0, created_by="ada",
    )  # fmt: skip
    connection.execute(insert(versions).values(msgspec.to_builtins(version)))
    run = msgspec.structs.replace(a_run(f"r-{model}", model=model), version_id=version.id)
    connection.execute(insert(runs).values(msgspec.structs.asdict(run)))
    project = launching.job_of(connection, run.id)
    assert project is not None
    return project.project_id, model, version
