"""What the host can do is found out by doing it, and what it lacks is told with its cure."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeline.runs.engines import host_check
from tapeline.settings import Settings
from tests import needs
from tests.runs.sandbox import bare

as_root = needs.root("only root can make such machines")


@pytest.fixture
def here() -> Iterator[Path]:
    """Not in pytest's own folder, where nobody may not go."""
    folder = Path(tempfile.mkdtemp(prefix="bare-"))
    yield folder
    shutil.rmtree(folder)


def test_this_host_can_sandbox(tmp_path: Path) -> None:
    found = host_check.examine(Settings(data=tmp_path))
    assert found.sandboxed, found.problems
    assert found.networked, found.problems
    assert found.bwrap
    assert found.slirp4netns
    assert found.is_root == (os.geteuid() == 0)
    assert found.confinement().startswith("bubblewrap, seccomp, ")
    assert found.confinement(unsafe=True) == "NOT SANDBOXED"
    assert not list((tmp_path / "runs").iterdir()), "the trial leaves nothing"


@as_root
@pytest.mark.parametrize("change", [bare.PRIVATE_TUN, bare.NO_TUN], ids=["private", "absent"])
def test_root_needs_no_device_node_that_others_may_open(here: Path, change: str) -> None:
    """Models of a bare machine, where the node is root's alone, reach the network."""
    tests = "tests/runs/sandbox/test_network.py"
    done = bare.on_machine(
        *(change, here, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *(f"--basetemp={here}/tests", "-k", "only_an_open_network or broke_comes_back", tests),
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
    found = bare.examined(change, here)
    assert found.networked
    assert not [one for one in found.problems if "network" in one]


@as_root
def test_a_missing_program_is_named_with_its_cure(here: Path) -> None:
    found = bare.examined(bare.NO_SLIRP, here)
    assert found.sandboxed, "models without a network can still run"
    assert not found.networked
    assert found.problems[0] == (
        "slirp4netns is missing, so models have no network."
        " Install it with: apt-get install slirp4netns"
    )


@bare.needs_nobody
def test_a_server_that_is_not_root_names_the_command_that_opens_the_device(here: Path) -> None:
    found = bare.examined(bare.PRIVATE_TUN, here, as_nobody=True)
    assert found.sandboxed, found.problems
    assert not found.networked
    assert found.problems[0] == (
        "The user nobody may not open /dev/net/tun, so models have no network."
        " Allow it with: sudo chmod 0666 /dev/net/tun"
    )


@bare.needs_nobody
def test_a_server_that_is_not_root_names_the_missing_device(here: Path) -> None:
    found = bare.examined(bare.NO_TUN, here, as_nobody=True)
    assert not found.networked
    assert found.problems[0].startswith("There is no device /dev/net/tun, so models have no")
    assert "sudo modprobe tun" in found.problems[0]


@as_root
def test_without_user_namespaces_the_switch_is_named(here: Path) -> None:
    found = bare.examined_in_container(bare.NO_USER_NAMESPACES, here)
    assert not found.sandboxed
    assert not found.networked
    assert found.problems[0].startswith("User namespaces are switched off (")
    assert found.problems[0].endswith("sysctl -w user.max_user_namespaces=15000")


@as_root
def test_what_slirp4netns_says_is_quoted(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log goes with the trial, so nobody could look it up."""
    broken = here / "slirp4netns"
    broken.write_text(
        "#!/bin/sh\necho 'WARNING: as usual' >&2\necho 'no tap for you' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    here.chmod(0o755)  # whom root becomes starts it
    monkeypatch.setattr("tapeline.runs.engines.shims.slirp_path", lambda: str(broken))
    found = host_check.examine(Settings(data=here / "data"))
    assert found.sandboxed
    assert found.problems[0].startswith("Models have no network: slirp4netns could not connect")
    assert found.problems[0].endswith("no tap for you")
    assert "log" not in found.problems[0]


@as_root
@pytest.mark.parametrize("files", [300, 128])
def test_a_small_limit_on_open_files_is_enough_for_a_sandbox(here: Path, files: int) -> None:
    found = bare.examined(f"ulimit -n {files}", here)
    assert found.sandboxed, found.problems
    assert found.networked, found.problems


@as_root
def test_a_limit_on_open_files_that_is_too_small_is_named(here: Path) -> None:
    found = bare.examined("ulimit -n 127", here)
    assert not found.sandboxed
    assert found.problems[0] == (
        "A model needs 128 open files, and this server may have only 127."
        " Start it with a higher limit: ulimit -n 4096 (systemd: LimitNOFILE=4096)"
    )


@pytest.mark.parametrize(
    ("trouble", "advice"),
    [
        ("[Errno 28] unshare: No space left on device", "max_user_namespaces=15000"),
        ("[Errno 28] No space left on device", "Free some space"),
        ("[Errno 30] Read-only file system: 'lock'", "dmesg"),
        ("[Errno 24] Too many open files", "ulimit -n"),
        ("[Errno 1] unshare: Operation not permitted", "seccomp=unconfined"),
        ("bwrap: No permissions to create new namespace", "seccomp=unconfined"),
        ("bwrap: Can't mount proc on /proc: Operation not permitted", "seccomp=unconfined"),
    ],
)
def test_each_cause_has_its_own_advice(trouble: str, advice: str) -> None:
    said = host_check.explained(trouble)
    assert said.startswith(f"A sandbox cannot be started: {trouble}. "), said
    assert advice in said.removeprefix(f"A sandbox cannot be started: {trouble}. ")


@pytest.mark.parametrize("trouble", ["It did not end in time.", "[Errno 9] Bad file descriptor"])
def test_a_cause_that_nobody_knows_gets_no_advice(trouble: str) -> None:
    said = host_check.explained(trouble)
    assert said == f"A sandbox cannot be started: {trouble.rstrip('.')}."


def test_weaker_limits_are_admitted() -> None:
    weaker = host_check.Host(
        bwrap="/bwrap",
        slirp4netns="/slirp",
        cgroup=None,
        is_root=False,
        sandboxed=True,
        networked=True,
        problems=[],
    )
    assert weaker.confinement() == "bubblewrap, seccomp, no cgroup (limits are weaker)"


def test_a_sandbox_that_cannot_start_is_not_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bubblewrap that fails, as it does where user namespaces are forbidden."""
    package = tmp_path / "package"
    (package / "bin").mkdir(parents=True)
    broken = package / "bin" / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setattr("tapeline.runs.sandbox.bubblewrap.bwrap_path", lambda: broken)
    found = host_check.examine(Settings(data=tmp_path / "data"))
    assert not found.sandboxed
    assert found.confinement() == "NOT SANDBOXED"
    assert any("No permissions to create new namespace" in one for one in found.problems)
