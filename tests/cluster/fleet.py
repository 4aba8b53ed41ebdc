"""A whole cluster for tests: Ray and nodes on machines of their own, servers beside the tests, and
a witness to which every model says that it lives."""

import shutil
import socket
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.acceptance.installation import Member, installation
from tests.cluster import machines
from tests.cluster.machines import Machine, Network
from tests.cluster.rays import Rays
from tests.waiting import wait_for

COUNTING = """
import itertools, os, socket, time
way = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
model, run = os.environ["TAPELINE_MODEL_ID"], os.environ["TAPELINE_RUN_ID"]
for number in itertools.count():
    way.sendto(f"{model} {run} {number}".encode(), ("WITNESS", PORT))
    if number % 10 == 0:
        print("counted", run, number, flush=True)
    time.sleep(0.1)
"""


class Witness:
    """Hears every model, and knows when each run was first and last heard."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, 0))
        self.heard: dict[str, dict[str, list[float]]] = defaultdict(dict)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def script(self) -> str:
        address, port = self._socket.getsockname()
        return COUNTING.replace("WITNESS", address).replace("PORT", str(port))

    def overlaps(self) -> list[str]:
        """Runs of one model that were heard at the same time."""
        found = []
        for model, runs in self.heard.items():
            spans = sorted(runs.values())
            for before, after in pairwise(spans):
                if after[0] < before[1]:
                    found.append(f"{model}: {before} {after}")
        return found

    def runs(self, model: str) -> list[str]:
        """In the order in which they were first heard."""
        return sorted(self.heard[model], key=lambda run: self.heard[model][run][0])

    def is_heard(self, model: str, run: str, within: float = 1.0) -> bool:
        spans = self.heard[model]
        return run in spans and time.monotonic() - spans[run][1] < within

    def _listen(self) -> None:
        while True:
            try:
                said, _ = self._socket.recvfrom(1000)
            except OSError:
                return
            if not said:
                return
            model, run, _ = said.decode().split()
            now = time.monotonic()
            self.heard[model].setdefault(run, [now, now])[1] = now

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
    names: dict[str, Machine] = field(default_factory=dict)

    @property
    def member(self) -> Member:
        return self.servers[0]

    def hosts(self) -> dict[str, dict[str, Any]]:
        return self.member.hosts()

    def node_of(self, model: str) -> Machine:
        """Where its newest run is."""
        return self.named(str(self.member.newest(model)["host"]))

    def named(self, name: str) -> Machine:
        return next(one for one in self.nodes if _name_of(one) == name)

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


def _name_of(machine: Machine) -> str:
    file = machine.folder / "data" / "host"
    return file.read_text().split()[0] if file.exists() else ""


@contextmanager
def fleet(
    folder: Path, postgres_server: str, *, nodes: int, servers: int = 1, cpus: float = 2
) -> Iterator[Fleet]:
    short = tempfile.mkdtemp(prefix="ray")  # paths of sockets have little room
    try:
        with machines.network(folder) as network:
            rays = Rays(network.machine("head"))
            rays.start_head()
            made = [network.machine(f"node{number}") for number in range(nodes)]
            rays.start(*made, cpus=cpus)
            witness = Witness(network.here)
            own = {
                **rays.environment,
                "RAY_TMPDIR": short,
                "TAPELINE_ENGINE": "ray",
                "TAPELINE_RAY_ADDRESS": rays.address,
                "TAPELINE_NODES_PORT": "0",
            }
            place = folder / "servers"
            place.mkdir()
            with installation(place, postgres_server, servers, [own] * servers) as members:
                yield Fleet(network, rays, made, members, witness)
            witness.close()
    finally:
        shutil.rmtree(short, ignore_errors=True)
