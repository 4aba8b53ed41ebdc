"""A small Ray for all tests here: a head, two nodes, and this machine as a server."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tapeline.runs.cluster.bridge import Bridge
from tapeline.runs.cluster.joining import Membership
from tapeline.runs.cluster.membership import is_node
from tests.cluster import machines
from tests.cluster.machines import Machine, Network
from tests.cluster.rays import UP, Rays
from tests.waiting import wait_for

ECHO = "tests.cluster.echo"


@dataclass
class RayCluster:
    rays: Rays
    network: Network
    one: Machine
    two: Machine
    environment: dict[str, str]
    """Of a server that joins it."""


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    short = tempfile.mkdtemp(prefix="ray")  # paths of sockets have little room
    try:
        with machines.network(tmp_path_factory.mktemp("machines")) as network:
            rays = Rays(network.machine("head"))
            rays.start_head()
            one, two = network.machine("one"), network.machine("two")
            environment = rays.environment | {"RAY_TMPDIR": short}
            with _joined(rays.address, Path(short), environment):
                rays.start(one, two)
                yield RayCluster(rays, network, one, two, environment)
    finally:
        shutil.rmtree(short, ignore_errors=True)


@contextmanager
def _joined(address: str, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """This machine, as a node without cpu."""
    membership = Membership(address, folder)

    def is_there() -> bool:
        membership.look()
        return is_node(address)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        wait_for(is_there, UP)
    try:
        yield
    finally:
        membership.close()
    assert not is_node(address), "something of Ray was left behind"


@pytest.fixture
def bridge(
    ray_cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bridge]:
    for name, value in ray_cluster.environment.items():
        monkeypatch.setenv(name, value)
    made = Bridge(ray_cluster.rays.address, tmp_path, module=ECHO)
    yield made
    made.close()
