"""Control groups: how much memory, processor and processes a launch may have.

Both generations are plain files. Version 1 is used as root, below each controller's own top;
version 2 below the top as root, or else below the group that was delegated to the server.
"""

import functools
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from tapeline.runs.sandbox.belonging import Belonging
from tapeline.runs.sandbox.box import Box
from tapeline.runs.shim.group import Group

NEEDED = ("memory", "cpu", "pids")
PERIOD = 100_000  # microseconds over which the processor's share is counted
TRIES = 100
SERVER = "tapeline-server"

Flavour = Literal["v1", "v2"]


class Usage(msgspec.Struct, frozen=True):
    memory_bytes: int
    cpu_seconds: float
    disk_bytes: int | None = None
    """Of its folders; None where nobody counted, or no limit is set."""
    disk_limit: int | None = None


class Tree(msgspec.Struct, frozen=True):
    """Where the groups of one data directory lie; one folder per controller, or one for all."""

    flavour: Flavour
    folders: dict[str, Path]


@functools.lru_cache(maxsize=32)
def find(runs: Path) -> Tree | None:
    """The groups of this data directory, if the kernel and our permissions allow any.

    Cached: every run asks for it often, and mounts do not change.
    """
    name = "tapeline-" + hashlib.sha256(bytes(runs.absolute())).hexdigest()[:12]
    old, new = _mounts()
    if all(one in old and os.access(old[one], os.W_OK) for one in NEEDED):
        wanted = [one for one in (*NEEDED, "cpuacct") if one in old]
        return Tree("v1", {one: old[one] / name for one in wanted})
    for base in _bases(new) if new else []:
        if _enable(base):
            return Tree("v2", dict.fromkeys(NEEDED, base / name))
    return None


def make(tree: Tree, name: str, box: Box) -> dict[str, Any]:
    """A group with the box's limits: the files the shim needs of it."""
    folders = sorted({folder / name for folder in tree.folders.values()})
    _make_limited(tree, folders, name, box)
    return _files(tree, name) | {"opening": _rates(tree, name, box)}


def members(runs: Path, name: str) -> list[int] | None:
    """The processes in a launch's group; None if it has none, or there are no control groups."""
    tree = find(runs)
    if tree is None or not any((one / name).is_dir() for one in tree.folders.values()):
        return None
    return Group(_files(tree, name)).members()


def usage(runs: Path, name: str) -> Usage | None:
    """What a launch uses now; None where that is not known."""
    tree = find(runs)
    if tree is None:
        return None
    with suppress(OSError, ValueError, KeyError):
        memory = tree.folders["memory"] / name
        if tree.flavour == "v1":
            used, cache = _number(memory / "memory.usage_in_bytes"), "total_inactive_file"
            cpu = _number(tree.folders["cpuacct"] / name / "cpuacct.usage") / 1e9
        else:
            used, cache = _number(memory / "memory.current"), "inactive_file"
            cpu = _fields(memory / "cpu.stat")["usage_usec"] / 1e6
        # The kernel can free this part at once, so it does not count.
        return Usage(max(0, used - _fields(memory / "memory.stat").get(cache, 0)), cpu)
    return None


def clean(runs: Path, keep: set[str]) -> None:
    """Remove the groups of ended launches, with the processes left in them. Those of a directory
    that had this path before, and was moved away, live on."""
    tree = find(runs)
    bases = set(tree.folders.values()) if tree else set()
    found = [one for base in bases if base.is_dir() for one in base.iterdir() if one.is_dir()]
    for name in {one.name for one in found} - keep:
        if not any(map(Belonging(runs, name).is_of_another, members(runs, name) or ())):
            kill(runs, name)
    for folder in found:
        if folder.name not in keep:
            with suppress(OSError):  # dying takes a moment; the next cleanup removes it
                folder.rmdir()
    for base in bases:
        with suppress(OSError):
            base.rmdir()


def remove(runs: Path, name: str) -> None:
    """Remove the group of a launch that did not happen."""
    tree = find(runs)
    for folder in {one / name for one in tree.folders.values()} if tree else ():
        with suppress(OSError):
            folder.rmdir()
            folder.parent.rmdir()


def kill(runs: Path, name: str) -> None:
    """End every process in a launch's group."""
    if tree := find(runs):
        Group(_files(tree, name)).kill()


def _files(tree: Tree, name: str) -> dict[str, Any]:
    folders = sorted({folder / name for folder in tree.folders.values()})
    memory, is_old = tree.folders["memory"] / name, tree.flavour == "v1"
    return {
        "join": [str(folder / "cgroup.procs") for folder in folders],
        "oom": [str(memory / ("memory.oom_control" if is_old else "memory.events"))],
        "forks": [str(tree.folders["pids"] / name / "pids.events")],
        "kill": [] if is_old else [str(memory / "cgroup.kill")],
        "folders": [str(folder) for folder in folders],
        "ending": _rates(tree, name, None),
    }


def _rates(tree: Tree, name: str, box: Box | None) -> dict[str, str]:
    """The files that limit how fast it forks and runs, with their texts for this box; or for a
    group that has to end: nothing may fork, and everything may run."""
    pids, cpu = (tree.folders[one] / name for one in ("pids", "cpu"))
    quota = None if box is None else box.cpu_milli * PERIOD // 1000
    forks = {str(pids / "pids.max"): "0" if box is None else str(box.pids)}
    if tree.flavour == "v1":
        return forks | {str(cpu / "cpu.cfs_quota_us"): str(quota or -1)}
    return forks | {str(cpu / "cpu.max"): f"{quota or 'max'} {PERIOD}"}


def _make_limited(tree: Tree, folders: list[Path], name: str, box: Box) -> None:
    """Retried as a whole: the last launch to end removes the empty parent, and with it the group
    that is being made, at any point in between."""
    limit = _limit_v1 if tree.flavour == "v1" else _limit_v2
    for left in reversed(range(TRIES)):
        try:
            for folder in folders:
                _make_folder(tree, folder)
            limit(tree, name, box)
            for path, text in _rates(tree, name, box).items():
                Path(path).write_text(text)
        except (
            FileNotFoundError,
            PermissionError,
        ):  # a version 2 parent that was made again, without controllers
            if not left:
                raise
        else:
            return


def _make_folder(tree: Tree, folder: Path) -> None:
    """`exist_ok` would check again that it is a folder, when it may be gone already."""
    with suppress(FileExistsError):
        folder.parent.mkdir()
    if tree.flavour == "v2":
        _enable(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir()


def _limit_v1(tree: Tree, name: str, box: Box) -> None:
    memory, limit = tree.folders["memory"] / name, str(box.memory_mb * 1024 * 1024)
    # The first stays below the second at every moment, whichever way an old group changes.
    with suppress(OSError):
        (memory / "memory.memsw.limit_in_bytes").write_text("-1")
    (memory / "memory.limit_in_bytes").write_text(limit)
    with suppress(OSError):  # a kernel may not count swap
        (memory / "memory.memsw.limit_in_bytes").write_text(limit)
    (tree.folders["cpu"] / name / "cpu.cfs_period_us").write_text(str(PERIOD))


def _limit_v2(tree: Tree, name: str, box: Box) -> None:
    folder = tree.folders["memory"] / name
    (folder / "memory.max").write_text(str(box.memory_mb * 1024 * 1024))
    with suppress(OSError):
        (folder / "memory.swap.max").write_text("0")


def _mounts() -> tuple[dict[str, Path], Path | None]:
    """Where each controller of version 1 is mounted, and version 2."""
    old: dict[str, Path] = {}
    new: Path | None = None
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup":
            old.update({one: Path(folder) for one in options.split(",")})
        elif kind == "cgroup2":
            new = Path(folder)
    return old, new


def _bases(mounted: Path) -> list[Path]:
    """The top, for root; else our own group, and its parent once we moved into a leaf of it."""
    own = Path("/proc/self/cgroup").read_text().rpartition("0::")[2].strip().lstrip("/")
    home = mounted / own
    if home.name == SERVER:
        home = home.parent
    return [mounted, home] if os.geteuid() == 0 else [home]


def _enable(folder: Path) -> bool:
    """Let a group's children be limited. The kernel requires that it has no processes itself."""
    with suppress(OSError):
        if not set(NEEDED) <= set((folder / "cgroup.controllers").read_text().split()):
            return False
        control = folder / "cgroup.subtree_control"
        if set(NEEDED) <= set(control.read_text().split()):
            return os.access(folder, os.W_OK)
        wanted = " ".join(f"+{one}" for one in NEEDED)
        with suppress(OSError):
            control.write_text(wanted)
            return True
        (folder / SERVER).mkdir(exist_ok=True)
        (folder / SERVER / "cgroup.procs").write_text(str(os.getpid()))
        control.write_text(wanted)
        return True
    return False


def _number(path: Path) -> int:
    return int(path.read_text())


def _fields(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in path.read_text().splitlines())
    return {name: int(number) for name, number in pairs}
