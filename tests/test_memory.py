"""How much memory there is: the tightest of the machine and the control groups around us."""

from pathlib import Path

import pytest

from tapeline import memory
from tapeline.memory import Level

GB = 1024**3


def proc(folder: Path, mounts: str, cgroup: str) -> Path:
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/meminfo").write_text("MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n")
    (folder / "proc/self/mounts").write_text(mounts)
    (folder / "proc/self/cgroup").write_text(cgroup)
    return folder / "proc"


def group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"memory.{name}").write_text(text + "\n")


def test_of_nested_groups_of_version_2_each_limit_counts(tmp_path: Path) -> None:
    top = tmp_path / "cgroup"
    group(top / "a", max="max", high="3000", current="2000", stat="inactive_file 500")
    group(top / "a/b", max="1000", high="max", current="400", stat="active_file 100\nanon 300")
    found = proc(tmp_path, f"none {top} cgroup2 rw 0 0\n", "0::/a/b\n")
    machine = Level(8 * GB, 2 * GB)
    assert memory.levels(found) == [machine, Level(1000, 300), Level(3000, 1500)]


def test_of_version_1_the_whole_hierarchy_counts_and_no_limit_is_none(tmp_path: Path) -> None:
    top = tmp_path / "cgroup"
    group(top, limit_in_bytes="9223372036854771712", usage_in_bytes="5")
    stat = "inactive_file 1\ntotal_inactive_file 40\ntotal_active_file 60"
    group(top / "a", limit_in_bytes="1000", usage_in_bytes="400", stat=stat)
    mounts = f"none {top} cgroup rw,memory 0 0\nnone /other cgroup rw,cpu 0 0\n"
    found = proc(tmp_path, mounts, "5:cpu:/x\n4:memory:/a/gone\n")
    assert memory.levels(found)[1:] == [Level(1000, 300)]


def test_in_a_container_the_mount_begins_at_its_own_group(tmp_path: Path) -> None:
    top = tmp_path / "cgroup"
    group(top, max="1000", current="100")
    found = proc(tmp_path, f"none {top} cgroup2 rw 0 0\n", "0::/docker/0123\n")
    assert memory.levels(found)[1:] == [Level(1000, 100)]


@pytest.mark.parametrize("mounts", ["", "none /nowhere cgroup2 rw 0 0\n"])
def test_without_groups_the_machine_counts(tmp_path: Path, mounts: str) -> None:
    assert memory.levels(proc(tmp_path, mounts, "0::/\n")) == [Level(8 * GB, 2 * GB)]


def test_this_machine_has_some() -> None:
    assert 0 < memory.available() <= memory.limit()
