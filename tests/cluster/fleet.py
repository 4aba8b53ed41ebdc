"""A whole cluster for tests: Ray and nodes on machines of their own, servers beside the tests, and
a witness to which every model says that it lives."""

import shutil
import socket
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.acceptance.installation import Member, installation
from tests.cluster import machines
from tests.cluster.clocks import Clock
from tests.cluster.machines import Machine, Network
from tests.cluster.rays import ROOT, Rays
from tests.waiting import wait_for

# Ten times a second it says that it lives, and twice a second it stores an event and says so once
# that is acknowledged. `who` is one process: a run may be started again under its own name.
COUNTING = """
import itertools, json, os, socket, threading, time, urllib.request
way = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
model, run = os.environ["TAPELINE_MODEL_ID"], os.environ["TAPELINE_RUN_ID"]
who = os.urandom(4).hex()
headers = {"model_id": model, "content-type": "application/json"}
headers |= {one: os.environ["TAPELINE_" + one.upper()] for one in ("api_key", "api_pass")}
def tell(what, number):
    way.sendto(f"{what} {model} {run} {who} {number}".encode(), ("WITNESS", PORT))
def store():
    for number in itertools.count():
        body = json.dumps({"line": f"stored {who} {number} end", "type": "stdout"}).encode()
        url = os.environ["TAPELINE_URL"] + "/v1/live/log"
        try:
            urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=5).read()
        except OSError:
            pass
        else:
            tell("stored", number)
        time.sleep(0.5)
threading.Thread(target=store, daemon=True).start()
for number in itertools.count():
    tell("lives", number)
    if number % 10 == 0:
        print("counted", who, number, "end", flush=True)
    time.sleep(0.1)
"""


class Witness:
    """Hears every model over a wire that is never cut, and knows when each of its processes was
    first and last heard, and which events the servers have acknowledged."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, 0))
        self.heard: dict[str, dict[str, list[float]]] = defaultdict(dict)
        self.run_of: dict[str, str] = {}
        self.stored: dict[str, set[str]] = defaultdict(set)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def script(self) -> str:
        address, port = self._socket.getsockname()
        return COUNTING.replace("WITNESS", address).replace("PORT", str(port))

    def overlaps(self) -> list[str]:
        """Processes of one model that were heard at the same time."""
        found = []
        for model, heard in self.heard.items():
            spans = sorted((first, last, who) for who, (first, last) in heard.items())
            for before, after in pairwise(spans):
                if after[0] < before[1]:
                    found.append(f"{model}: {before} {after}")
        return found

    def runs(self, model: str) -> list[str]:
        """In the order in which they were first heard."""
        heard = self.heard[model]
        return list(dict.fromkeys(self.run_of[who] for who in sorted(heard, key=heard.__getitem__)))

    def living(self, model: str, within: float = 1.0) -> list[str]:
        """Its processes that were heard just now."""
        now = time.monotonic()
        return [who for who, span in list(self.heard[model].items()) if now - span[1] < within]

    def is_heard(self, model: str, run: str, within: float = 1.0) -> bool:
        return run in (self.run_of[who] for who in self.living(model, within))

    def _listen(self) -> None:
        while said := self._socket.recv(1000):
            what, model, run, who, number = said.decode().split()
            if what == "stored":
                self.stored[model].add(f"stored {who} {number} end")
                continue
            now = time.monotonic()
            self.run_of[who] = run
            self.heard[model].setdefault(who, [now, now])[1] = now

    def close(self) -> None:
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


@dataclass
class Fleet:
    network: Network
    rays: Rays
    nodes: list[Machine]
    servers: list[Member]
    witness: Witness
    cpus: int = 2
    memory: int | None = None
    """The room that Ray is told of, on each node; what there is, if not said."""
    clocks: list[Clock] = field(default_factory=list)
    """Of the nodes, where each has one of its own."""

    @property
    def member(self) -> Member:
        return self.servers[0]

    def leading(self) -> Member:
        wait_for(lambda: any(one.leads() for one in self.servers))
        return next(one for one in self.servers if one.leads())

    def start_again(self, member: Member) -> None:
        """After its server has ended."""
        before = member.server
        member.server = before.home.up(**before.variables)
        member.trader.meet(member.server)

    def boot_again(self, node: Machine) -> None:
        self.network.boot_again(node)
        self.start_ray(node)

    def start_ray(self, *nodes: Machine) -> None:
        self.rays.start(*nodes, cpus=self.cpus, memory=self.memory, is_kept=True)

    def boot_head_again(self) -> None:
        self.network.boot_again(self.rays.head)
        self.rays.start_head()

    def wait_until_all_live(self, models: Iterable[str], within: float) -> None:
        """Whichever run of each it is."""
        for model in models:
            wait_for(lambda model=model: self.witness.living(model), within)

    def lost(self, model: str) -> dict[str, int]:
        """Events that were acknowledged, and how often they are on the tape, if not once."""
        acknowledged = set(self.witness.stored[model])  # before the tape is read: it goes on
        tape = self.member.trader.client.get(f"/api/models/{model}/tape").text
        return {one: tape.count(one) for one in acknowledged if tape.count(one) != 1}

    def doubled(self, model: str) -> set[str]:
        """Printed lines that were stored twice."""
        lines = self.member.trader.lines(model)
        return {one for one in lines if one.startswith("counted") and lines.count(one) > 1}

    def hosts(self) -> dict[str, dict[str, Any]]:
        return self.member.hosts()

    def node_of(self, model: str) -> Machine:
        """Where its newest run is."""
        return self.named(str(self.member.newest(model)["host"]))

    def named(self, name: str) -> Machine:
        return next(one for one in self.nodes if self.name_of(one) == name)

    def name_of(self, node: Machine) -> str:
        """That its host has; empty until it has one."""
        file = node.folder / "data" / "host"
        return file.read_text().split()[0] if file.exists() else ""

    def deploy(self) -> str:
        deployed = self.member.trader.deploy(self.witness.script, name="counting")
        return str(deployed["modelId"])

    def wait_until_counted(self, model: str, within: float = 90.0) -> str:
        """The run that is heard."""

        def is_counted() -> bool:
            run = self.member.newest(model)["run_id"]
            return self.witness.is_heard(model, run)

        wait_for(is_counted, within)
        return str(self.member.newest(model)["run_id"])


@contextmanager
def fleet(
    folder: Path,
    postgres_server: str,
    *,
    nodes: int,
    servers: int = 1,
    cpus: int = 2,
    memory: int | None = None,
    disk: int | None = None,
    have_clocks: bool = False,
    **variables: str,
) -> Iterator[Fleet]:
    """`variables` are those of the servers; `disk` is of what size each node has one."""
    short = tempfile.mkdtemp(prefix="ray")  # paths of sockets have little room
    try:
        with machines.network(folder) as network:
            rays = Rays(network.machine("head"))
            rays.start_head()
            made = [network.machine(f"node{number}", disk) for number in range(nodes)]
            witness = Witness(network.never_cut)
            on = Fleet(network, rays, made, [], witness, cpus, memory)
            for node in made if have_clocks else ():
                on.clocks.append(Clock(node.folder / "clock", str(ROOT)))
                node.variables |= on.clocks[-1].variables
            on.start_ray(*made)
            own = {
                **rays.environment,
                "RAY_TMPDIR": short,
                "TAPELINE_ENGINE": "ray",
                "TAPELINE_RAY_ADDRESS": rays.address,
                **variables,
            }
            # The address is this cluster's own, so the ports are free.
            each = [own | {"TAPELINE_NODES_PORT": str(8701 + one)} for one in range(servers)]
            place = folder / "servers"
            place.mkdir()
            with installation(place, postgres_server, servers, each) as members:
                on.servers += members
                yield on
            witness.close()
    finally:
        shutil.rmtree(short, ignore_errors=True)
