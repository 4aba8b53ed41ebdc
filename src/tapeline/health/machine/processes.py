"""Whether another process or thread can be started. Without one, no model starts or restarts."""

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow

PROC = Path("/proc")
MANY, TOO_MANY = 0.8, 0.98  # of the limit


class Level(NamedTuple):
    """One of the limits on processes and threads around this server."""

    name: str
    used: int
    limit: int
    cure: str


def look(_parts: Parts) -> Verdict:
    return judged(levels())


def judged(found: list[Level]) -> Verdict:
    tightest = max(found, key=lambda one: one.used / max(1, one.limit))
    says = f"{tightest.used:,} of {tightest.limit:,} processes and threads exist ({tightest.name})."
    if tightest.used > tightest.limit * TOO_MANY:
        return red(f"{says} Models that crash wait with their restart.", tightest.cure)
    if tightest.used > tightest.limit * MANY:
        return yellow(says, tightest.cure)
    return green(says)


def levels(proc: Path = PROC) -> list[Level]:
    return [_machine(proc), *_user(proc), *_groups(proc)]


def _machine(proc: Path) -> Level:
    existing = int((proc / "loadavg").read_text().split()[3].partition("/")[2])
    most = min(int((proc / "sys/kernel" / name).read_text()) for name in ("pid_max", "threads-max"))
    cure = "Raise it: sysctl -w kernel.pid_max=4194304 kernel.threads-max=4194304."
    return Level("the machine's limit, pid_max and threads-max", existing, most, cure)


def _user(proc: Path) -> Iterator[Level]:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() == 0 or soft == resource.RLIM_INFINITY:
        return  # the kernel does not hold root to it
    used = sum(_threads_of_ours(folder) for folder in proc.iterdir() if folder.name.isdigit())
    cure = "Raise it: ulimit -u unlimited (systemd: LimitNPROC=infinity), and restart the server."
    yield Level("the limit of the server's user, RLIMIT_NPROC", used, soft, cure)


def _threads_of_ours(folder: Path) -> int:
    with suppress(OSError, KeyError, ValueError):
        lines = (line.partition(":") for line in (folder / "status").read_text().splitlines())
        facts = {name: text.split() for name, _, text in lines}
        return int(facts["Threads"][0]) if int(facts["Uid"][0]) == os.getuid() else 0
    return 0


def _groups(proc: Path) -> Iterator[Level]:
    cure = "Raise pids.max of that group (systemd: TasksMax=infinity in the unit)."
    for folder in _folders(proc):
        with suppress(OSError, ValueError):  # the group at the top has no limit, nor has "max"
            used, most = (int((folder / f"pids.{one}").read_text()) for one in ("current", "max"))
            yield Level("pids.max of the server's control group", used, most, cure)


def _folders(proc: Path) -> Iterator[Path]:
    """Our group and the groups around it, of either version."""
    mounted = {}
    for line in (proc / "self/mounts").read_text().splitlines():
        _, folder, kind, options, *_ = line.split()
        if kind == "cgroup2" or (kind == "cgroup" and "pids" in options.split(",")):
            mounted["" if kind == "cgroup2" else "pids"] = Path(folder)
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for name in {"pids", ""} & set(controllers.split(",")) & mounted.keys():
            inside = Path(path.lstrip("/"))
            yield from dict.fromkeys(mounted[name] / one for one in (inside, *inside.parents))
