"""How much memory there is: the tightest of the machine and the control groups around us."""

from pathlib import Path

import pytest

from tapeline import memory
from tapeline.memory import Level

GB = 1024**3
STAT = """anon 73400320
file 31457280
kernel 2625536
kernel_stack 147456
pagetables 1200128
sec_pagetables 0
percpu 576
sock 4096
vmalloc 0
shmem 0
zswap 0
zswapped 0
file_mapped 12288
file_dirty 0
file_writeback 0
swapcached 0
anon_thp 0
file_thp 0
shmem_thp 0
inactive_anon 73396224
active_anon 4096
inactive_file 8192
active_file 20480
unevictable 0
slab_reclaimable 729824
slab_unreclaimable 407920
slab 1137744
workingset_refault_anon 0
workingset_refault_file 0
pgfault 60210
pgmajfault 12
pgsteal_file 0"""


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


def test_files_of_version_2_are_read_as_the_kernel_writes_them(tmp_path: Path) -> None:
    """As in a container of systemd's: every name that the kernel has, sizes in pages."""
    top = tmp_path / "cgroup"
    (top / "system.slice").mkdir(parents=True)  # the root has no limit and no use of its own
    (top / "memory.stat").write_text(STAT)
    group(top / "system.slice", max="max", high="max", current="2147483648", stat=STAT)
    unit = top / "system.slice/tapeline.service"
    group(unit, max="149999616", high="140001280", current="104857600", stat=STAT)
    (unit / "memory.events").write_text("low 0\nhigh 12\nmax 0\noom 0\noom_kill 0\n")
    options = "rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot"
    mounts = f"sysfs /sys sysfs rw 0 0\ncgroup2 {top} cgroup2 {options} 0 0\n"
    found = proc(tmp_path, mounts, "0::/system.slice/tapeline.service\n")
    assert memory.levels(found)[1:] == [Level(140001280, 104857600 - 8192 - 20480)]


def test_where_both_versions_are_mounted_the_one_with_the_memory_counts(tmp_path: Path) -> None:
    old, new = tmp_path / "cgroup/memory", tmp_path / "cgroup/unified"
    group(old / "a", limit_in_bytes="1000", usage_in_bytes="400")
    (new / "a").mkdir(parents=True)
    (new / "a/cgroup.procs").write_text("1\n")
    mounts = (
        f"cgroup2 {new} cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n"
        f"cgroup {old} cgroup rw,nosuid,nodev,noexec,relatime,memory 0 0\n"
    )
    found = proc(tmp_path, mounts, "9:memory:/a\n1:name=systemd:/a\n0::/a\n")
    assert memory.levels(found)[1:] == [Level(1000, 400)]


@pytest.mark.parametrize("mounts", ["", "none /nowhere cgroup2 rw 0 0\n"])
def test_without_groups_the_machine_counts(tmp_path: Path, mounts: str) -> None:
    assert memory.levels(proc(tmp_path, mounts, "0::/\n")) == [Level(8 * GB, 2 * GB)]


def test_this_machine_has_some() -> None:
    assert 0 < memory.available() <= memory.limit()
