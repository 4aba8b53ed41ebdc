"""A program that forks as fast as it can: seen without waiting for it, and ended as a whole."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tapeline.runs.engines import shims
from tapeline.runs.sandbox import cgroups
from tapeline.runs.sandbox.box import Policy
from tests.runs.conftest import PATIENCE, Launched, Pad
from tests.runs.sandbox.test_cgroups import needs_groups

SOURCES = Path(__file__).parents[2] / "src" / "tapeline"
# Files of /proc/PID whose reader waits for the lock of that process's memory, or for its `execve`.
WAITING = (
    r"/proc/\{[^}]*\}/(cmdline|environ|auxv|maps|map_files|smaps|smaps_rollup|numa_maps|pagemap"
    r"|mem|clear_refs|io|stack|syscall|personality)\b"
)
FLOOD = """
    import os, time
    print("up", flush=True)
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(PAUSE)
"""


def flooding(pad: Pad, *, unsafe: bool) -> Launched:
    """Slow enough for its shim to let it live."""
    launched = pad.launch(FLOOD.replace("PAUSE", "2.0"), pids=48, cpu_milli=500, unsafe=unsafe)
    launched.until(lambda one: len(cgroups.members(pad.runs, one.spec.name) or ()) > 20)
    return launched


def test_nothing_reads_what_a_process_can_make_us_wait_for() -> None:
    """Measured: while a process forks for 79 ms, its `cmdline` is read in 54 ms and its `stat`,
    `status`, `mountinfo` and `fd` in 0.2 ms. No test can hold a process there."""
    found = [
        (file.name, name)
        for file in SOURCES.rglob("*.py")
        for name in re.findall(WAITING, file.read_text())
    ]
    assert sorted(found) == [
        ("tree.py", "cmdline"),  # of bubblewrap's own processes
        ("tree.py", "map_files"),  # of stopped ones, as are the maps
        ("tree.py", "maps"),
    ]


@needs_groups
@pytest.mark.parametrize("unsafe", [False, True])
def test_a_flood_is_ended_with_its_group_in_one_stroke(pad: Pad, unsafe: bool) -> None:
    launched = flooding(pad, unsafe=unsafe)
    os.kill(launched.shim_pid(), signal.SIGSTOP)  # nobody but us ends it
    cgroups.kill(pad.runs, launched.spec.name)
    until = time.monotonic() + PATIENCE
    while cgroups.members(pad.runs, launched.spec.name):
        assert time.monotonic() < until, "it forks faster than it is killed"
        time.sleep(0.01)
    os.kill(launched.shim_pid(), signal.SIGCONT)
    assert launched.finished()["outcome"] == "crashed"


@needs_groups
def test_a_flood_is_seen_and_deleted_like_any_model(pad: Pad) -> None:
    launched = flooding(pad, unsafe=False)
    assert shims.is_held(launched.lock)
    assert shims.has_sandbox(launched.folder)
    shims.kill(launched.folder, launched.lock)
    assert not shims.is_held(launched.lock)
    assert not shims.has_sandbox(launched.folder)


@needs_groups
def test_what_a_flood_was_ended_with_does_not_limit_its_next_start(pad: Pad) -> None:
    """The group of a launch stays the same over its restarts."""
    policy = Policy(restart=True, time_limit=60.0)
    code = """
        import os, sys, time
        if os.fork() == 0:
            time.sleep(1000)
        print("forked", flush=True)
        sys.exit(1)
    """
    launched = pad.launch(code, policy=policy, cpu_milli=500)
    launched.until(lambda one: one.lines().count("forked") >= 2)


def test_a_start_that_was_killed_from_outside_says_so_before_the_next(pad: Pad) -> None:
    launched = pad.launch(
        "import time; print('up', flush=True); time.sleep(1000)",
        policy=Policy(restart=True, time_limit=60.0),
    )
    launched.until_line("up")
    os.kill(launched.members()[0], signal.SIGKILL)  # bubblewrap, which then reports nothing
    launched.until(lambda one: one.states("restarting"))
    (ended,) = launched.states("ended")
    assert ended["signal"] == signal.SIGKILL


@needs_groups
def test_a_fork_bomb_is_ended_and_not_started_again(pad: Pad) -> None:
    """Its processes hold locks that every fork on the machine needs."""
    policy = Policy(restart=True, time_limit=60.0)
    launched = pad.run(FLOOD.replace("PAUSE", "0.001"), pids=48, policy=policy)
    (finished,) = launched.states("finished")
    assert (finished["cause"], finished["restarts"]) == ("flood", 0)
    assert "run_processes" in finished["reason"]
