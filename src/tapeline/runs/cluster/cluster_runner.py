"""Everything that carries out desired runs on a cluster, as one part that is opened and closed.

Every server can do it, and the one that leads does: it alone talks to Ray and to the nodes.
"""

import asyncio
import time
from functools import partial
from typing import NamedTuple

import msgspec

from tapeline.errors import Problem
from tapeline.leading import LeadsNoMore
from tapeline.logs import Log
from tapeline.runs import described_hosts, host_identity, one_installation, unreleased_copy
from tapeline.runs import run as run_records
from tapeline.runs.cluster import fetched_files, meeting_point, one_engine
from tapeline.runs.cluster.bridge import Bridge
from tapeline.runs.cluster.cluster_engine import ClusterEngine
from tapeline.runs.cluster.fetched_files import FetchedFiles
from tapeline.runs.cluster.joining import Membership
from tapeline.runs.cluster.members import Member, Members
from tapeline.runs.cluster.node_remains import NodeRemains
from tapeline.runs.engines.stopping_here import Proof
from tapeline.runs.heartbeat import Heartbeat
from tapeline.runs.holding import holds
from tapeline.runs.holding.holds import Hold
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.node.frames import Opening, Server
from tapeline.runs.run import Run
from tapeline.runs.runner import refuse
from tapeline.runs.shared_keys import SharedKeys
from tapeline.runs.supervising import Means, Supervising
from tapeline.runs.supervision.install_places import Queue
from tapeline.runs.unreleased_copy import Copy
from tapeline.runs.upkeep.failing_over import FailingOver
from tapeline.runs.upkeep.forgetting import Forgetting
from tapeline.runs.upkeep.giving_back import GivingBack
from tapeline.store.blobs import Blobs
from tapeline.store.leadership import Leader
from tapeline.thread_pools import in_thread, threads

log = Log(__name__)

REFRESHED_EVERY, WITHIN = 2.0, 150.0  # seconds
MISSED_FOR = 10.0  # seconds without an answer of a node until that is told
NEWS_WITHIN = 20.0  # seconds that a node waits for output of its models before it says "none"
OF_NODES = (
    "plans", "backtest_plans", "package_index", "package_index_extra", "package_substitutes",
    "package_proxy", "resolution_hours", "environment_cache", "install_minutes", "install_memory",
    "stop_seconds", "backtest_minutes", "run_disk", "run_processes", "quota_captured",
    "max_large_body", "port",
)  # fmt: skip
"""The settings that say how models run, wherever they do."""


class _NoRunsHere(NamedTuple):
    """A server whose machine runs no models: a copy of it has none to take over."""

    host: str

    def is_alive(self, _run: Run) -> bool:
        return False

    def processes_elsewhere(self, _run: Run) -> list[int]:
        return []


class ClusterRunner:
    host = None
    """This machine runs no models."""

    def __init__(self, means: Means, blobs: Blobs, leader: Leader) -> None:
        self._means, self._blobs, self._leader = means, blobs, leader
        self._is_open = False
        self.host_name = ""
        """What this server is called among all that share the database."""
        data = means.settings.data
        parts = (means.store, means.appender, means.watchers, means.background, data)
        Forgetting(*parts)
        FailingOver(*parts, float(means.settings.lease_seconds))
        GivingBack(means.store, means.background, data)

    def open(self, port: int) -> None:
        """Join Ray and get ready to lead; models are told to reach us on `port`."""
        means = self._means
        settings, store, background = means.settings, means.store, means.background
        self._port = port
        self._membership = Membership(settings.ray_address, settings.data)
        self.host_name = self._named()
        holds.mark_elsewhere(settings.data, are_elsewhere=True)
        # Of its own: nobody else must wait when Ray does not answer.
        self._threads = threads(4, "cluster")
        self._carrier = Bridge(settings.ray_address, settings.data)
        self._members = Members(self._carrier, self._opening, lambda: self._leader.term)
        self._fetched = FetchedFiles(settings.data / fetched_files.FOLDER)
        self._engine = ClusterEngine(self._members, self._carrier, self._blobs, self._fetched)
        self._holds = ServerHolds(settings.data, background)
        self._collector = means.collector(self._engine)
        self._copy = Copy(
            settings.data / host_identity.FILE,
            store,
            _NoRunsHere(self.host_name),
            self._collector.update,
        )
        self._supervising = Supervising(
            means,
            self._engine,
            self._collector,
            self._holds,
            self._copy,
            lease=float(settings.lease_seconds),
            once=True,
        )
        keys = partial(one_installation.digests, settings.data / "keys")
        Heartbeat(store, self.host_name, background, self.is_untouched_copy, lambda: None, keys)
        SharedKeys(store, settings.data / "keys", means.cipher, self.host_name, background)
        self._listening: set[str] = set()
        self._said: dict[str, described_hosts.Description] = {}
        self._met: dict[str, float] = {}
        self._leads_since = time.monotonic()
        self._servers: list[Server] = []
        self._work = background.loop("nodes", self._turn, every=REFRESHED_EVERY, within=WITHIN)
        NodeRemains(self._members, self._fetched, store, background, self._threads)
        background.loop("ray", self._stay_member, every=REFRESHED_EVERY, within=WITHIN)
        self._is_open = True

    # What the rest of the server asks

    def require(self) -> None:
        """Raise why models cannot run, before a run is recorded that nobody can start."""
        refuse(self.hold(), self.trouble())

    def unable(self) -> str | None:
        return None

    def journal_lag(self) -> dict[str, int]:
        return self._supervising.journal_lag() if self._leads() else {}

    def install_queue(self) -> Queue:
        return self._supervising.install_queue()

    def trouble(self, *run_ids: str) -> str | None:
        """Only the server that leads knows of any."""
        if not self._leads():
            return None
        if run_ids and self.is_untouched_copy():
            return "this server is a copy on hold, and its original may still have the run"
        return self._membership.trouble() or self._supervising.trouble(*run_ids)

    def hold(self) -> Hold | None:
        return self._holds.on_all()

    def is_untouched_copy(self) -> bool:
        return self._copy.is_one

    def has(self, run: Run) -> bool:
        """Whether this server can say whether anything of the run is left."""
        return self._leads() and run.host in self._engine.hosts()

    def proof_of_end(self, run: Run) -> Proof:
        """What the kernel of its node says. In a thread."""
        return self._engine.proof(run)

    def wake(self) -> None:
        self._supervising.wake()

    def leave(self) -> None:
        """The bridge first: a thread that waits for Ray would keep the server from its end."""
        if self._is_open:
            self._carrier.close()
            self._membership.close()
            self._threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Models keep running, and the next server that leads finds them."""
        if not self._is_open:
            return  # it could not start
        self.leave()
        self._supervising.close()
        self._holds.close()
        self._engine.close()

    async def stop_models(self) -> None:
        """The fleet is not this server's alone."""

    # The nodes

    async def _stay_member(self) -> None:
        await in_thread(self._threads, self._membership.look)

    async def _turn(self) -> None:
        if not self._leads() or self._copy.is_one:
            await self._rest()
            return
        self._servers = await self._means.store.read(
            meeting_point.published, self._means.store.database
        )
        try:
            await in_thread(self._threads, self._members.refresh, self._work)
            self._met |= dict.fromkeys(self._members.all(), time.monotonic())
        finally:  # without Ray's head it fails as a whole
            await self._tell_of_unmet()
        members = self._members.all()
        await self._keep_rooms(list(members))
        cores = sum(one.ray.cpu for one in members.values())
        self._supervising.set_slots(self._means.settings.backtest_slots or max(1, int(cores)))
        for name, member in members.items():
            self._listen(name)
            try:
                await self._describe(name, member)
            except LeadsNoMore:
                raise
            except Exception as error:  # noqa: BLE001 - of one node; the others are described
                self._work.note(error, f"node {name}")

    async def _tell_of_unmet(self) -> None:
        """A node may be well and only Ray there, or its head, be gone: nothing starts there."""
        since = time.monotonic() - MISSED_FOR
        if self._leads_since > since:
            return
        met = [name for name, at in self._met.items() if at > since]
        if unmet := await self._means.store.read(described_hosts.unmet, met):
            await self._means.store.write(described_hosts.tell_of_unmet, unmet)
            for name in unmet:
                self._said.pop(name, None)

    async def _keep_rooms(self, names: list[str]) -> None:
        """Ray knows how much room the models take, and none for those that have ended."""
        store = self._means.store
        launched = await store.read(run_records.launched_on, *names)
        rooms = await in_thread(self._threads, self._engine.keep_rooms, launched)
        if over := rooms - await store.read(run_records.open_among, rooms):
            await in_thread(self._threads, self._engine.give_back, over)

    async def _rest(self) -> None:
        """Another server leads: it has its own way to the nodes."""
        if self._members.all():
            self._members.forget()
            self._carrier.rest()
        await in_thread(self._threads, self._fetched.clear)
        self._leads_since = time.monotonic()
        self._said.clear()

    async def _describe(self, name: str, member: Member) -> None:
        says, ray = member.says, member.ray
        node = described_hosts.Node(
            address=ray.address,
            cores=ray.cpu,
            cores_free=ray.cpu_free,
            memory=ray.memory,
            memory_free=ray.memory_free,
            confinement=says.confinement,
        )
        said = described_hosts.Description(
            name, says.machine, says.version, member.trouble, "", says.pythons,
            msgspec.json.encode(node).decode(),
        )  # fmt: skip
        if self._said.get(name) != said:
            await self._means.store.write(described_hosts.describe, said)
            self._said[name] = said

    def _listen(self, name: str) -> None:
        """A thread for each node waits for the output of its models."""
        if name not in self._listening:
            self._listening.add(name)
            hear = partial(self._hear, name, asyncio.get_running_loop())
            if not self._means.background.begin_in_thread("news of nodes", hear, name):
                self._listening.discard(name)  # the next turn tries again

    def _hear(self, name: str, loop: asyncio.AbstractEventLoop) -> None:
        """Until it does not answer; the next turn begins again."""
        within = NEWS_WITHIN + 10.0
        try:
            while self._leads() and not loop.is_closed():
                rung = self._members.call(name, "news", NEWS_WITHIN, list[str], within)
                if rung and not loop.is_closed():
                    loop.call_soon_threadsafe(self._collector.rung, set(rung))
        except Problem:
            return  # the loop of the nodes tells it
        finally:
            self._listening.discard(name)

    def _leads(self) -> bool:
        return self._leader.leads

    def _opening(self, name: str) -> Opening:
        settings = self._means.settings
        told = {one: getattr(settings, one) for one in OF_NODES} | {"port": self._port}
        token = meeting_point.token_of(self._means.cipher, name)
        return Opening(told, token, float(settings.lease_seconds), self._servers)

    def _named(self) -> str:
        data, store = self._means.settings.data, self._means.store
        file, database = data / host_identity.FILE, store.database
        one_engine.require(store, host_identity.name_in(file), "ray", is_named=False)
        name = host_identity.settle(file, database.claim, database.give_back)
        unreleased_copy.hold_if_unreleased(data)
        if not host_identity.is_copied(file):  # the runs of a copy are those of its original
            one_engine.leave_machine(store, data, name)
            one_engine.require(store, name, "ray", is_named=True)
        return name
