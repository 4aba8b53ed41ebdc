"""Ten minutes in which one thing after the other fails, at random, under twelve live models: no
model ever runs twice, all come back, and nothing is lost that a server has acknowledged.

What is chosen depends on a seed, which is printed. FIRE_SEED repeats one, and FIRE_SECONDS makes it
shorter.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import psycopg
import pytest

from tests.cluster.fleet import Fleet, fleet
from tests.cluster.machines import MACHINES, Machine
from tests.waiting import wait_for

pytestmark = [MACHINES, pytest.mark.slow]

MODELS, CPUS = 12, 8
SECONDS = float(os.environ.get("FIRE_SECONDS", "600"))
LEASE, HOUR = 6.0, 3600
DISK = 4 << 30  # bytes, of which few are used
BACK_WITHIN = 120.0
"""Seconds after a fault has ended; what it took is printed."""
SEED = int(os.environ.get("FIRE_SEED") or random.SystemRandom().randrange(10**9))


class Fire:
    """A method for each fault: it is there for some seconds, and then mended."""

    def __init__(self, on: Fleet, chance: random.Random, postgres: psutil.Process) -> None:
        self._fleet, self._chance, self._postgres = on, chance, postgres

    def faults(self) -> list[Callable[[float], None]]:
        node = [self.kill_a_node, self.freeze_a_node, self.cut_a_node, self.lose_the_servers]
        node += [self.lose_the_head, self.lose_the_others, self.fill_a_disk]
        rest = [self.kill_the_head, self.kill_the_leader, self.freeze_the_leader]
        return [*node, *rest, self.freeze_postgres, self.skew_a_clock]

    def kill_a_node(self, seconds: float) -> None:
        node = self._node()
        node.kill()
        time.sleep(seconds)
        self._fleet.boot_again(node)

    def freeze_a_node(self, seconds: float) -> None:
        node = self._node()
        node.freeze()
        time.sleep(seconds)
        node.thaw()

    def cut_a_node(self, seconds: float) -> None:
        node = self._node()
        node.cut()
        time.sleep(seconds)
        node.mend()

    def lose_the_servers(self, seconds: float) -> None:
        self._lose(seconds, self._fleet.network.here)

    def lose_the_head(self, seconds: float) -> None:
        self._lose(seconds, self._fleet.rays.head.address)

    def lose_the_others(self, seconds: float) -> None:
        self._lose(seconds, *(one.address for one in self._fleet.nodes))

    def fill_a_disk(self, seconds: float) -> None:
        node = self._node()
        node.fill_disk()
        time.sleep(seconds)
        node.free_disk()

    def kill_the_head(self, seconds: float) -> None:
        self._fleet.rays.head.kill()
        time.sleep(seconds)
        self._fleet.boot_head_again()

    def kill_the_leader(self, seconds: float) -> None:
        member = self._fleet.leading()
        member.server.end(signal.SIGKILL)
        time.sleep(seconds)
        self._fleet.start_again(member)

    def freeze_the_leader(self, seconds: float) -> None:
        with _frozen(psutil.Process(self._fleet.leading().server.process.pid)):
            time.sleep(seconds)

    def freeze_postgres(self, seconds: float) -> None:
        with _frozen(self._postgres, *self._postgres.children()):
            time.sleep(seconds)

    def skew_a_clock(self, seconds: float) -> None:
        """Of all our processes on a node."""
        clock = self._chance.choice(self._fleet.clocks)
        clock.set(self._chance.choice((-HOUR, HOUR)))
        time.sleep(seconds)
        clock.set(0)

    def _node(self) -> Machine:
        return self._chance.choice(self._fleet.nodes)

    def _lose(self, seconds: float, *addresses: str) -> None:
        node = self._node()
        node.lose_packets_to(*(one for one in addresses if one != node.address))
        time.sleep(seconds)
        node.mend()


@contextmanager
def _frozen(*processes: psutil.Process) -> Iterator[None]:
    for one in processes:
        one.suspend()
    try:
        yield
    finally:
        for one in processes:
            one.resume()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def burn(on: Fleet, models: list[str], fire: Fire, chance: random.Random, seconds: float) -> None:
    """Every fault comes as often as the others."""
    ends, waiting = time.monotonic() + seconds, list[Callable[[float], None]]()
    while time.monotonic() < ends:
        waiting = waiting or chance.sample(fire.faults(), len(fire.faults()))
        fault, lasting = waiting.pop(), chance.uniform(1.0, 15.0)
        fault(lasting)
        mended = time.monotonic()
        time.sleep(LEASE)  # a lease that was not renewed may have run out only now
        on.wait_until_all_live(models, BACK_WITHIN)
        back = time.monotonic() - mended
        _say(f"{fault.__name__} for {lasting:.1f} s: all live {back:.1f} s later")
        assert not on.witness.overlaps()
        time.sleep(chance.uniform(1.0, 5.0))


def test_no_model_runs_twice_and_nothing_acknowledged_is_lost_whatever_fails(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: str
) -> None:
    _say(f"FIRE_SEED={SEED}")
    chance = random.Random(SEED)
    with psycopg.connect(postgres_server) as connection:
        postgres = psutil.Process(connection.info.backend_pid).parent()
    assert postgres is not None
    folder = tmp_path_factory.mktemp("fire")
    with fleet(
        folder, postgres_server, nodes=3, servers=2, cpus=CPUS, disk=DISK, have_clocks=True
    ) as on:
        wait_for(lambda: [one["state"] for one in on.hosts().values()].count("well") == 5, 120)
        models = [on.deploy() for _ in range(MODELS)]
        on.wait_until_all_live(models, 120)
        burn(on, models, Fire(on, chance, postgres), chance, SECONDS)
        time.sleep(10)  # what a node had not handed over arrives
        assert not on.witness.overlaps()
        _say(f"{sum(map(len, on.witness.stored.values()))} events were acknowledged")
        for model in models:
            assert on.witness.stored[model]
            assert not on.lost(model)
            assert not on.doubled(model)
