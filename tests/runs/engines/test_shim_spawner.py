"""The process that forks shims may die at any time; the shims go on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tapeline.runs.engines import shims
from tapeline.runs.engines.shim_spawner import PROGRAM
from tapeline.runs.shim import tree
from tests.runs.conftest import PATIENCE, Pad, alive

WAITING = """
    import time
    print("up")
    time.sleep(1000)
"""


def command(pid: int) -> list[str]:
    """Empty for a moment after a process has begun: the kernel fills it in last."""
    return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")


def spawners(parent: int) -> list[int]:
    return [pid for pid in tree.children(parent) if str(PROGRAM) in command(pid)]


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_shims_come_from_one_process_and_are_known_by_their_launch(pad: Pad) -> None:
    first, second = pad.launch(WAITING), pad.launch(WAITING, name="n" * 200)
    (spawner,) = spawners(os.getpid())
    assert command(first.shim_pid())[-1] == first.spec.name
    assert command(second.shim_pid())[-1] == "n" * 60
    assert command(spawner)[-1] == "-" * 60


def test_when_it_is_killed_its_shims_go_on_and_the_next_launch_works(pad: Pad) -> None:
    before = pad.launch(WAITING)
    before.until_line("up")
    (spawner,) = spawners(os.getpid())
    os.kill(spawner, signal.SIGKILL)
    until(lambda: not alive(spawner))
    after = pad.launch(WAITING)
    after.until_line("up")
    assert spawners(os.getpid()) != [spawner]
    assert shims.is_held(before.lock)
    assert before.stop()["outcome"] == "stopped"
    assert after.stop()["outcome"] == "stopped"


def test_a_shim_inherits_nothing_of_other_launches(pad: Pad) -> None:
    launched = [pad.launch(WAITING) for _ in range(3)]
    for one in launched:
        one.until_line("up")
    for one in launched:
        names = [str(file.readlink()) for file in Path(f"/proc/{one.shim_pid()}/fd").iterdir()]
        foreign = [other.spec.folder for other in launched if other is not one]
        assert not [name for name in names if name.startswith(tuple(foreign))]
        assert not [name for name in names if name.startswith("/memfd:launch")]


def test_it_ends_with_the_process_that_needed_it_however_that_ends() -> None:
    code = (
        "from tapeline.runs.engines.shim_spawner import SHIM_SPAWNER;"
        " SHIM_SPAWNER.open(); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        until(lambda: spawners(process.pid))
        (spawner,) = spawners(process.pid)
        process.kill()
    until(lambda: not alive(spawner))
