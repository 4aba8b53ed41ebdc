"""A machine without room for another process: models wait for it, and none is given up."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tapeline.errors import CannotLaunchNow
from tapeline.polling import poll
from tapeline.runs.engines import shims
from tapeline.runs.engines.shim_spawner import SHIM_SPAWNER
from tapeline.runs.sandbox import cgroups
from tapeline.runs.sandbox.box import Policy
from tests.runs.conftest import PATIENCE, Launched, Pad
from tests.runs.engines.test_shim_spawner import spawners
from tests.runs.sandbox.test_cgroups import needs_groups

pytestmark = needs_groups

LIVE = Policy(restart=True, time_limit=None)
UP = "import time; print('up', flush=True); time.sleep(1000)"
JUDGE = """
from tapeline.health.machine import processes
print("ready", flush=True)
input()
found = processes.judged(processes.levels())
print(found.state, found.says)
"""


class Room:
    """A control group that bounds how many processes its members may have."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def admit(self, pid: int) -> None:
        (self._folder / "cgroup.procs").write_text(str(pid))

    def leave(self, free: int) -> None:
        """Room for so many more."""
        now = int((self._folder / "pids.current").read_text())
        (self._folder / "pids.max").write_text(str(now + free))

    def open(self) -> None:
        (self._folder / "pids.max").write_text("max")

    def refusals(self) -> int:
        return int((self._folder / "pids.events").read_text().split()[1])

    def remove(self) -> bool:
        with suppress(OSError):
            self._folder.rmdir()
        return not self._folder.exists()


@pytest.fixture
def room(pad: Pad) -> Iterator[Room]:
    """Around the process that forks shims, and so around all shims; models have their own."""
    found = cgroups.find(pad.runs)
    assert found is not None
    SHIM_SPAWNER.open()
    (spawner,) = poll(lambda: spawners(os.getpid()), within=PATIENCE, every=0.01)
    made = Room(found.folders["pids"].parent / f"tapeline-room-{os.getpid()}")
    made.admit(spawner)
    yield made
    made.open()
    for launched in pad.launched:
        shims.kill(launched.folder, launched.lock)
    SHIM_SPAWNER.close()
    assert poll(made.remove, within=PATIENCE, every=0.01)


def kill_model(launched: Launched) -> None:
    os.kill(launched.members()[-1], signal.SIGKILL)


def test_a_crash_is_followed_by_a_restart_once_there_is_room(pad: Pad, room: Room) -> None:
    launched = pad.launch(UP, policy=LIVE)
    launched.until_line("up")
    room.leave(0)
    kill_model(launched)
    launched.until(lambda one: one.states("waiting") and room.refusals() > 1)
    room.open()
    launched.until(lambda one: one.lines() == ["up", "up"])
    (waiting,) = launched.states("waiting")
    assert "no room for another process" in waiting["reason"]
    assert not launched.states("finished")


def test_a_stop_ends_the_wait(pad: Pad, room: Room) -> None:
    launched = pad.launch(UP, policy=LIVE)
    launched.until_line("up")
    room.leave(0)
    kill_model(launched)
    launched.until(lambda one: one.states("waiting"))
    assert launched.stop()["outcome"] == "stopped"


@pytest.mark.parametrize("free", [0, 1, 2])
def test_a_launch_without_room_is_the_hosts_fault(pad: Pad, room: Room, free: int) -> None:
    """For the shim, for the child that makes its network, or for slirp4netns."""
    room.leave(free)
    with pytest.raises(CannotLaunchNow, match="Resource temporarily unavailable"):
        pad.launch(UP, network="open", events_port=8700)
    room.open()
    shims.launch(pad.launched[-1].spec)
    pad.launched[-1].until_line("up")


def test_a_model_lives_on_while_its_network_waits_for_room(pad: Pad, room: Room) -> None:
    launched = pad.launch(UP, network="open", events_port=8700, policy=LIVE)
    launched.until_line("up")
    room.leave(-1)
    (slirp,) = [one for one in launched.members() if _name(one) == "slirp4netns"]
    os.kill(slirp, signal.SIGKILL)
    launched.until(lambda _: room.refusals() > 1)
    room.open()
    launched.until(lambda one: one.states("network_back"))
    assert launched.lines() == ["up"]
    assert not launched.states("ended")


def test_bubblewrap_without_room_waits_until_the_time_of_the_launch_is_up(pad: Pad) -> None:
    policy = Policy(restart=False, time_limit=4.0)
    launched = pad.run(UP, pids=1, policy=policy)
    assert len(launched.states("waiting")) == 1
    assert launched.states("finished")[0]["cause"] == "time_limit"


def test_the_health_of_a_server_names_the_limit_that_is_reached(pad: Pad, room: Room) -> None:
    command = [sys.executable, "-c", JUDGE]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as server:  # type: ignore[call-overload]
        assert server.stdout.readline() == "ready\n"
        room.admit(server.pid)
        room.leave(0)
        said, _ = server.communicate("\n")
    assert said.startswith("red")
    assert "pids.max of the server's control group" in said


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()
