"""A server that ends while it joins Ray ends soon, and nothing of Ray is left."""

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tapeline.runs.cluster import bridge as bridges
from tapeline.runs.cluster import joining
from tapeline.runs.cluster.bridge import Bridge, CannotReach
from tapeline.runs.cluster.joining import Membership
from tests.waiting import SLOW_MACHINE, wait_for

# Like a `ray start` that hangs: a child in a group of its own, and both ignore SIGTERM.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if not os.fork():
    os.setpgrp()
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()} ")
time.sleep(600)
"""
OBEDIENT = STUBBORN.replace("SIG_IGN", "SIG_DFL")
FOLLOWING = "import sys; from tapeline.runs.cluster import joining; joining.follow(sys.argv[1:])"
PATIENT = FOLLOWING.replace("joining.follow", "joining.LAST_SECONDS = 600.0; joining.follow")
HUNG = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(600)"


def _joined(folder: Path, follower: str, program: str) -> tuple[Membership, list[psutil.Process]]:
    """A process of `joining`, whose `ray start` is another program, and what that has started."""
    told, made = folder / "told", Membership("127.0.0.1:1", folder)
    made._process = subprocess.Popen(
        [sys.executable, "-c", follower, sys.executable, "-c", program, str(told)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(lambda: told.exists() and len(told.read_text().split()) == 2)
    return made, [psutil.Process(int(one)) for one in told.read_text().split()]


@pytest.mark.parametrize(
    ("follower", "program", "patience"),
    [
        (PATIENT, OBEDIENT, 900.0),
        (FOLLOWING, STUBBORN, 900.0),
        (HUNG, STUBBORN, joining.LEFT_WITHIN),
    ],
    ids=["obedient", "stubborn", "hung"],
)
def test_what_joined_ray_ends_soon_and_leaves_nothing(
    tmp_path: Path, follower: str, program: str, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is not the one that ends it here would take minutes."""
    assert joining.LAST_SECONDS < joining.LEFT_WITHIN < 5.0, "soon"
    monkeypatch.setattr(joining, "LEFT_WITHIN", patience)
    membership, started = _joined(tmp_path, follower, program)
    began = time.monotonic()
    membership.close()
    assert time.monotonic() - began < SLOW_MACHINE
    wait_for(lambda: not any(_lives(one) for one in started))


def test_it_ends_when_ray_does(tmp_path: Path) -> None:
    membership, started = _joined(tmp_path, PATIENT, OBEDIENT)
    min(started, key=lambda one: one.pid).kill()
    assert membership._process is not None
    membership._process.wait(SLOW_MACHINE)
    membership.close()
    wait_for(lambda: not any(_lives(one) for one in started))


def test_a_call_that_waits_for_ray_fails_when_the_server_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridges, "SECONDS", 600.0)
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as calls:
        bridge = Bridge(f"127.0.0.1:{silent.getsockname()[1]}", tmp_path)
        waits = calls.submit(bridge.nodes)
        wait_for(lambda: bridge._process)
        began = time.monotonic()
        bridge.close()
        with pytest.raises(CannotReach):
            waits.result(SLOW_MACHINE)
        assert time.monotonic() - began < 15.0
        with pytest.raises(CannotReach, match="stopping"):
            bridge.nodes()
        assert bridge._process is None


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
