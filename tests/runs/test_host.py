"""What the host can do is found out by doing it, and what it lacks is told with its cure."""

import os
from pathlib import Path

import pytest

from tapeline.runs import host
from tapeline.settings import Settings


def test_this_host_can_sandbox(tmp_path: Path) -> None:
    found = host.examine(Settings(data=tmp_path))
    assert found.sandboxed, found.problems
    assert found.bwrap
    assert found.slirp4netns
    assert found.is_root == (os.geteuid() == 0)
    assert found.confinement().startswith("bubblewrap, seccomp, ")
    assert found.confinement(unsafe=True) == "NOT SANDBOXED"
    assert not list((tmp_path / "runs").iterdir()), "the trial leaves nothing"


def test_a_missing_program_is_named_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeline.runs.shims.slirp_path", lambda: None)
    found = host.examine(Settings(data=tmp_path))
    assert found.sandboxed, "models without a network can still run"
    assert any("apt-get install slirp4netns" in one for one in found.problems)


def test_weaker_limits_are_admitted() -> None:
    weaker = host.Host(
        bwrap="/bwrap",
        slirp4netns="/slirp",
        cgroup=None,
        is_root=False,
        sandboxed=True,
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
    monkeypatch.setattr("tapeline.runs.sandbox.bwrap_path", lambda: broken)
    found = host.examine(Settings(data=tmp_path / "data"))
    assert not found.sandboxed
    assert found.confinement() == "NOT SANDBOXED"
    assert any("No permissions to create new namespace" in one for one in found.problems)
