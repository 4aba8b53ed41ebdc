"""What this host can do for a sandbox, found out by starting one, and what to change if not."""

import os
import tempfile
import time
from pathlib import Path

import msgspec

from tapeline.errors import CannotLaunch
from tapeline.runs import cgroups, journal, sandbox, shims
from tapeline.runs.box import Box, Launch, Policy
from tapeline.settings import Settings

NOBODY = 65534
TRIAL_SECONDS = 10.0
SWITCHES = (
    ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
    ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


class Host(msgspec.Struct, frozen=True, kw_only=True):
    bwrap: str | None
    slirp4netns: str | None
    cgroup: cgroups.Flavour | None
    is_root: bool
    sandboxed: bool
    """Whether a sandbox could be started just now."""
    problems: list[str]
    """Each with the one command or change that solves it."""

    def confinement(self, *, unsafe: bool = False) -> str:
        """One line for a run's record."""
        if unsafe or not self.sandboxed:
            return "NOT SANDBOXED"
        limits = f"cgroup {self.cgroup}" if self.cgroup else "no cgroup (limits are weaker)"
        return f"bubblewrap, seccomp, {limits}"


def examine(settings: Settings) -> Host:
    runs = settings.data / "runs"
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    slirp, tree = shims.slirp_path(), cgroups.find(runs)
    problems = []
    if slirp is None:
        problems.append(
            "slirp4netns is missing, so models have no network."
            " Install it with: apt-get install slirp4netns"
        )
    elif not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        problems.append(
            "/dev/net/tun cannot be opened, so models have no network."
            " Load it with: modprobe tun (for a container: --device /dev/net/tun)"
        )
    if tree is None:
        problems.append(
            "No control group can be written, so limits on memory and processor are weaker."
            " Run Tapeline as root, or as a systemd service with Delegate=yes"
        )
    trouble = try_once(runs, "none" if problems and slirp is None else "open")
    if trouble is not None:
        problems.append(_explained(trouble))
    return Host(
        bwrap=_bwrap(),
        slirp4netns=slirp,
        cgroup=tree.flavour if tree else None,
        is_root=os.geteuid() == 0,
        sandboxed=trouble is None,
        problems=problems,
    )


def try_once(runs: Path, network: str) -> str | None:
    """Why a sandbox that does nothing cannot be started; None if it can."""
    with tempfile.TemporaryDirectory(prefix="trial-", dir=runs) as made:
        folder = Path(made)
        box = Box(
            argv=["/usr/bin/true"],
            cwd="/",
            env={},
            readonly=[],
            writable=[],
            tmp_mb=1,
            network="open" if network == "open" else "none",
            events_port=None,
            memory_mb=64,
            cpu_milli=1000,
            pids=16,
            disk_mb=None,
            uid=NOBODY if os.geteuid() == 0 else None,
        )
        spec = Launch(
            name=folder.name,
            folder=made,
            lock=str(folder / "lock"),
            runs=str(runs),
            box=box,
            masked=[],
            policy=Policy(restart=False, time_limit=TRIAL_SECONDS),
        )
        try:
            shims.launch(spec)
        except CannotLaunch as problem:
            return problem.message
        return _outcome(folder)


def _bwrap() -> str | None:
    try:
        path = sandbox.bwrap_path()
    except CannotLaunch:
        return None
    return str(path) if path.exists() else None


def _outcome(folder: Path) -> str | None:
    until = time.monotonic() + TRIAL_SECONDS
    while time.monotonic() < until:
        for record in journal.read(folder, 0).records:
            if record.state and record.state["event"] == "finished":
                shims.wait_free(folder / "lock", 5.0)
                good = record.state["outcome"] == "exited"
                return None if good else str(record.state["reason"])
        time.sleep(0.01)
    shims.kill(folder, folder / "lock")
    return "It did not end in time."


def _explained(trouble: str) -> str:
    if "apt-get" in trouble or "slirp4netns" in trouble:
        return trouble
    for name, bad, cure in SWITCHES:
        path = Path("/proc/sys") / name
        if path.exists() and path.read_text().strip() == bad:
            return (
                f"User namespaces are switched off ({trouble}). Allow them with: sysctl -w {cure}"
            )
    return (
        f"A sandbox cannot be started: {trouble}"
        " In a container, allow it user namespaces (--security-opt seccomp=unconfined)."
    )
