"""How much memory there is for this server: the machine's, or less where a control group limits it.

A control group counts all processes in it and kills one of them when they exceed its limit. Groups
are nested, and each has a limit of its own: the tightest one counts.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
UNLIMITED = 1 << 60
"""Bytes; version 1 of control groups writes a larger number for no limit."""
TIGHT = 1_000_000_000
"""Bytes of memory below which freed memory is given back to the system at once."""
MOST_EXPENDABLE = "1000"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of glibc's malloc.h
LARGE_BLOCK = 128 * 1024

_LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")
_USED = ("memory.current", "memory.usage_in_bytes")
_OWN = ("inactive_file", "active_file")
_TOTAL = ("total_inactive_file", "total_active_file")


class Level(NamedTuple):
    """The machine, or one of the groups around this process, in bytes."""

    limit: int
    used: int
    """Without the cache of files, which the kernel frees when it needs memory."""


def limit() -> int:
    return min(level.limit for level in levels())


def available() -> int:
    """What all processes here may use in addition to what they use now."""
    return max(0, min(level.limit - level.used for level in levels()))


def levels(proc: Path = PROC) -> list[Level]:
    return [_machine(proc), *_groups(proc)]


def give_freed_back_at_once() -> None:
    """Tell the allocator: it would rather keep freed memory, and another process may need it."""
    with suppress(OSError, AttributeError):  # another C library
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_ARENA_MAX, 1)
        allocator.mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK)
        allocator.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


def give_freed_back() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def be_expendable() -> None:
    """For a helper process: if memory runs out after all, the kernel ends it and not the server."""
    os.nice(5)  # requests are more urgent than its work
    with suppress(OSError):
        (PROC / "self/oom_score_adj").write_text(MOST_EXPENDABLE)


def _machine(proc: Path) -> Level:
    lines = (line.split() for line in (proc / "meminfo").read_text().splitlines())
    sizes = {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) > 1}
    return Level(sizes["MemTotal"], sizes["MemTotal"] - sizes["MemAvailable"])


def _groups(proc: Path) -> Iterator[Level]:
    for folder in _folders(proc):
        limits = [_number(folder / name) for name in _LIMITS]
        known = [one for one in limits if one is not None and one < UNLIMITED]
        used = next((size for name in _USED if (size := _number(folder / name)) is not None), None)
        if known and used is not None:
            yield Level(min(known), used - _cache(folder))


def _folders(proc: Path) -> Iterator[Path]:
    """Our group and the groups around it, of either version."""
    mounted = {}
    for line in (proc / "self/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
            mounted["" if kind == "cgroup2" else "memory"] = Path(folder)
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for name in {"memory", ""} & set(controllers.split(",")) & mounted.keys():
            # In a container the mount begins at its own group, and the path may name what is above.
            inside = Path(path.lstrip("/"))
            yield from dict.fromkeys(mounted[name] / one for one in (inside, *inside.parents))


def _number(path: Path) -> int | None:
    """None where the group has no such file, or no limit."""
    with suppress(OSError, ValueError):
        return int(path.read_text())
    return None


def _cache(folder: Path) -> int:
    with suppress(OSError, ValueError):
        pairs = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        sizes = {name: int(size) for name, size in pairs}
        # Version 1 has both, and the names without a prefix leave out the groups below.
        total = [sizes[name] for name in sizes if name in _TOTAL]
        return sum(total or [sizes[name] for name in sizes if name in _OWN])
    return 0
