"""A launch is never there twice: its lock is held until the last of it is gone."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapeline.errors import AlreadyRunning
from tapeline.runs.engines import shims
from tapeline.runs.sandbox import cgroups
from tests.runs.conftest import STUBBORN, Launched, Pad, alive


def test_a_lock_is_held_by_one(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    assert shims.is_held(launched.lock)
    with pytest.raises(AlreadyRunning):
        shims.launch(launched.spec)
    assert len(launched.states("started")) == 1
    launched.until_line("up")


def test_of_many_launches_at_once_one_wins(pad: Pad) -> None:
    launched = pad.launch("", name="first")
    launched.finished()
    spec = pad.spec(STUBBORN, name="contested")
    contested = Launched(spec)
    pad.launched.append(contested)

    def attempt(_number: int) -> bool:
        try:
            shims.launch(spec)
        except AlreadyRunning:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(attempt, range(6))) == 1
    contested.until_line("up")
    assert len(contested.states("started")) == 1


@pytest.mark.heavy
def test_no_two_instances_ever_overlap(pad: Pad) -> None:
    """Each takes a lock of the model's own, which an old one that still lived would hold."""
    code = """
        import fcntl, os, time
        own = open("own", "w")
        try:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(1, b"alone\\n")
        except BlockingIOError:
            os.write(1, b"TWICE\\n")
        ballast = bytearray(60_000_000)
        os.write(1, b"up\\n")
        time.sleep(1000)
    """
    launched = pad.launch(code)
    for number in range(1, 15):
        while launched.lines().count("up") < number:
            time.sleep(0.01)
        os.kill(launched.shim_pid(), signal.SIGKILL)
        while True:
            try:
                shims.launch(launched.spec)
                break
            except AlreadyRunning:
                continue
    launched.until(lambda one: one.lines().count("up") == 15)
    assert launched.lines().count("alone") == 15


def test_asking_who_holds_a_lock_does_not_keep_a_launch_from_taking_it(pad: Pad) -> None:
    spec = pad.spec("print('up')")
    Path(spec.lock).parent.mkdir()
    Path(spec.lock).touch()
    asking = f"""
import contextlib, fcntl, time
print("asking", flush=True)
while True:
    time.sleep(0.0002)
    with open({spec.lock!r}) as file, contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
"""
    with subprocess.Popen([sys.executable, "-c", asking], stdout=subprocess.PIPE) as asker:
        assert asker.stdout is not None
        asker.stdout.readline()
        launched = Launched(spec)
        pad.launched.append(launched)
        try:
            shims.launch(spec)
        finally:
            asker.kill()
    launched.finished()


@pytest.mark.heavy
def test_nothing_outlives_a_shim_that_is_killed(pad: Pad) -> None:
    """At many moments: before, while and after the sandbox is made."""
    for moment in range(12):
        launched = pad.launch(STUBBORN, name=f"killed{moment}", network="open", events_port=8700)
        time.sleep(moment * 0.008)
        members = launched.members()
        os.kill(launched.shim_pid(), signal.SIGKILL)
        if not shims.wait_free(launched.lock, 1.0):
            shims.end_orphan(launched.folder)  # the server's part, where bubblewrap came too late
        assert shims.wait_free(launched.lock, 5.0)
        _until_gone(members)  # slirp4netns among them, which holds no lock


def test_the_lock_is_held_until_the_last_of_the_sandbox_is_gone(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    members = launched.members()
    os.kill(launched.shim_pid(), signal.SIGKILL)
    while shims.is_held(launched.lock):
        time.sleep(0.0005)
    assert not [one for one in members if alive(one)]


def test_without_a_sandbox_too_a_lock_outlives_its_shim_with_what_is_left(pad: Pad) -> None:
    launched = pad.launch(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            os.write(1, b"hidden\\n")
        time.sleep(1000)
        """,
        unsafe=True,
    )
    launched.until_line("hidden")
    members = launched.members()
    os.kill(launched.shim_pid(), signal.SIGKILL)
    time.sleep(0.1)
    assert shims.is_held(launched.lock)
    if cgroups.find(pad.runs):
        shims.kill(launched.folder, launched.lock)
        assert not shims.is_held(launched.lock)
    for one in filter(alive, members):
        os.kill(one, signal.SIGKILL)


def test_a_launch_can_follow_one_whose_shim_was_killed(pad: Pad) -> None:
    launched = pad.launch(STUBBORN)
    launched.until_line("up")
    os.kill(launched.shim_pid(), signal.SIGKILL)
    assert shims.wait_free(launched.lock, 5.0)
    before = launched.records()
    shims.launch(launched.spec)
    launched.until(lambda one: one.lines() == ["up", "up"])
    assert launched.records()[: len(before)] == before


def test_a_stop_is_for_the_shim_alone_that_was_started(pad: Pad) -> None:
    """A process id of another process, as after a reboot, is left in peace."""
    folder = pad.runs / "other"
    folder.mkdir()
    with subprocess.Popen(["/bin/sleep", "100"]) as other:
        (folder / "shim.json").write_text(f'{{"pid": {other.pid}, "started": 1}}')
        shims.stop(folder)
        shims.kill(folder, pad.runs / "nolock")
        time.sleep(0.1)
        assert other.poll() is None
        other.kill()
    shims.stop(pad.runs / "nobody")


def _until_gone(pids: list[int]) -> None:
    until = time.monotonic() + 60
    while [one for one in pids if alive(one)]:
        assert time.monotonic() < until
        time.sleep(0.01)
