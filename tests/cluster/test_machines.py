"""The machines of tests fail as real ones do."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import machines
from tests.cluster.machines import MACHINES, Machine, Network
from tests.waiting import wait_for

pytestmark = MACHINES

LISTEN = """
import socket
listener = socket.create_server(("0.0.0.0", 9000))
while True:
    line, _ = listener.accept()
    line.sendall(b"here")
    line.close()
"""
ASK = """
import socket, sys
try:
    line = socket.create_connection((sys.argv[1], 9000), 0.7)
    print(line.recv(9).decode())
except TimeoutError:
    print("silence")
except OSError:
    print("refused")
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with machines.network(tmp_path_factory.mktemp("machines")) as made:
        yield made


@pytest.fixture(scope="module")
def asking(network: Network) -> Machine:
    return network.machine("asking")


@pytest.fixture
def answering(network: Network, asking: Machine) -> Machine:
    made = network.machine(f"m{len(network.machines)}")
    made.start(sys.executable, "-SIc", LISTEN)
    wait_for(lambda: ask(asking, made) == "here")
    return made


def ask(machine: Machine, other: Machine) -> str:
    return machine.run(sys.executable, "-SIc", ASK, other.address).strip()


def test_a_machine_that_is_cut_off_answers_nobody(asking: Machine, answering: Machine) -> None:
    answering.cut()
    assert ask(asking, answering) == "silence"
    answering.mend()
    wait_for(lambda: ask(asking, answering) == "here")


def test_packets_can_be_lost_one_way(asking: Machine, answering: Machine) -> None:
    third = answering
    third.lose_packets_to(asking.address)
    assert ask(asking, third) == "silence"
    assert third.run("true") == ""
    third.mend()
    wait_for(lambda: ask(asking, third) == "here")


def test_a_frozen_machine_wakes_up(asking: Machine, answering: Machine) -> None:
    answering.start("sh", "-c", "setsid --fork sleep 1000")
    wait_for(lambda: any(one.name() == "sleep" for one in answering.processes()))
    answering.freeze()
    wait_for(lambda: {one.status() for one in answering.processes()} == {"stopped"})
    assert ask(asking, answering) == "silence"
    answering.thaw()
    wait_for(lambda: ask(asking, answering) == "here")


def test_everything_of_a_killed_machine_is_gone(asking: Machine, answering: Machine) -> None:
    answering.start("sh", "-c", "setsid --fork sleep 1000")
    wait_for(lambda: any(one.name() == "sleep" for one in answering.processes()))
    processes = answering.processes()
    answering.kill()
    assert not any(one.is_running() for one in processes)
    assert ask(asking, answering) == "silence"


def test_nothing_is_left_when_the_tests_are_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tests.cluster import machines\n"
        "with machines.network(Path(sys.argv[1])) as net:\n"
        "    one = net.machine('one'); one.start('sleep', '1000')\n"
        "    print(net.here, one.first.pid, flush=True); time.sleep(1000)\n"
    )
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        address, first = tests.stdout.readline().split()
        tests.kill()
    wait_for(lambda: not Path(f"/proc/{first}").exists())
    wait_for(lambda: address not in subprocess.check_output(["ip", "addr"], text=True))
