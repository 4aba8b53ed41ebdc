"""Control groups: the limits as the kernel holds them, what a launch uses, and cleaning up."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tapeline.runs.sandbox import cgroups
from tests import needs
from tests.runs.conftest import Pad

needs_groups = needs.that(
    cgroups.find(Path("/nowhere")) is not None, "no control group can be written here"
)


@needs_groups
def test_a_launch_has_the_limits_of_its_box_and_its_use_is_known(pad: Pad) -> None:
    launched = pad.launch(
        """
        import os, time
        x = bytearray(50_000_000)
        while time.process_time() < 0.2:
            pass
        os.write(1, b"up\\n")
        time.sleep(1000)
        """,
        memory_mb=200,
        cpu_milli=1500,
        pids=33,
    )
    launched.until_line("up")
    used = cgroups.usage(pad.runs, launched.spec.name)
    assert used is not None
    assert 50_000_000 < used.memory_bytes < 100_000_000
    assert 0.2 <= used.cpu_seconds < 5
    found = cgroups.find(pad.runs)
    assert found is not None
    name = launched.spec.name
    assert (found.folders["pids"] / name / "pids.max").read_text() == "33\n"
    if found.flavour == "v1":
        memory, cpu = found.folders["memory"] / name, found.folders["cpu"] / name
        assert (memory / "memory.limit_in_bytes").read_text() == f"{200 * 1024 * 1024}\n"
        assert (cpu / "cpu.cfs_quota_us").read_text() == "150000\n"
    launched.stop()
    assert cgroups.usage(pad.runs, name) is None
    assert not (found.folders["memory"] / name).exists(), "the shim removes its group"


@needs_groups
def test_cleaning_ends_what_is_left_and_keeps_what_lives(pad: Pad) -> None:
    found = cgroups.find(pad.runs)
    assert found is not None
    box = pad.spec("").box
    with (
        subprocess.Popen(["/bin/sleep", "100"]) as lost,
        subprocess.Popen(["/bin/sleep", "100"]) as kept,
    ):
        for name, process in (("lost", lost), ("kept", kept)):
            for path in cgroups.make(found, name, box)["join"]:
                Path(path).write_text(str(process.pid))
        cgroups.clean(pad.runs, keep={"kept"})
        assert lost.wait(5) == -9
        cgroups.clean(pad.runs, keep={"kept"})
        assert not (found.folders["memory"] / "lost").exists()
        assert kept.poll() is None
        kept.kill()


@needs_groups
def test_a_launch_that_ends_meanwhile_takes_nothing_from_one_that_begins(
    pad: Pad, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last to end removes the parent: here right after the other has found it there."""
    found = cgroups.find(pad.runs)
    assert found is not None
    make, ends = os.mkdir, iter(range(5))

    def racing(path: str, mode: int = 0o777) -> None:
        try:
            make(path, mode)
        finally:
            if next(ends, None) is not None:
                cgroups.remove(pad.runs, "other")

    box = pad.spec("", pids=7).box
    cgroups.make(found, "other", box)
    with monkeypatch.context() as patched:
        patched.setattr(os, "mkdir", racing)
        told = cgroups.make(found, "mine", box)
    assert (found.folders["pids"] / "mine/pids.max").read_text() == "7\n"
    assert all(Path(one).is_dir() for one in told["folders"])


@needs_groups
def test_many_launches_begin_and_end_at_once(pad: Pad) -> None:
    found = cgroups.find(pad.runs)
    assert found is not None
    box = pad.spec("").box

    def begin_and_end(name: str) -> None:
        for _ in range(40):
            cgroups.make(found, name, box)
            cgroups.remove(pad.runs, name)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(begin_and_end, "abcd"))


@needs_groups
def test_data_directories_have_groups_of_their_own() -> None:
    one, other = cgroups.find(Path("/one")), cgroups.find(Path("/other"))
    assert one is not None
    assert other is not None
    assert one.folders["memory"] != other.folders["memory"]
    assert one == cgroups.find(Path("/one"))


def test_version_two_is_told_in_its_own_words(tmp_path: Path, pad: Pad) -> None:
    """The files of version 2, in a folder that stands for it: this kernel may only have 1."""
    base = tmp_path / "group" / "tapeline-x"
    base.mkdir(parents=True)
    for folder in (base, base.parent):
        (folder / "cgroup.controllers").write_text("cpu io memory pids\n")
        (folder / "cgroup.subtree_control").write_text("\n")
    tree = cgroups.Tree("v2", dict.fromkeys(("memory", "cpu", "pids"), base))
    told = cgroups.make(tree, "run", pad.spec("", memory_mb=64, cpu_milli=250, pids=9).box)
    assert (base / "cgroup.subtree_control").read_text() == "+memory +cpu +pids"
    written = {one.name: one.read_text() for one in (base / "run").iterdir()}
    assert written == {
        "memory.max": str(64 * 1024 * 1024),
        "memory.swap.max": "0",
        "cpu.max": "25000 100000",
        "pids.max": "9",
    }
    assert told == {
        "join": [f"{base}/run/cgroup.procs"],
        "oom": [f"{base}/run/memory.events"],
        "forks": [f"{base}/run/pids.events"],
        "kill": [f"{base}/run/cgroup.kill"],
        "folders": [f"{base}/run"],
        "opening": {f"{base}/run/pids.max": "9", f"{base}/run/cpu.max": "25000 100000"},
        "ending": {f"{base}/run/pids.max": "0", f"{base}/run/cpu.max": "max 100000"},
    }
