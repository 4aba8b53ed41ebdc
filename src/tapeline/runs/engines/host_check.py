"""Checks whether this host can run a sandbox, by starting one, and says what to change if not."""

import errno
import os
import pwd
import re
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from tapeline import host_faults
from tapeline.errors import CannotLaunch
from tapeline.polling import poll
from tapeline.runs.engines import shims
from tapeline.runs.journals import journal
from tapeline.runs.sandbox import bubblewrap, cgroups
from tapeline.runs.sandbox.box import Box, Launch, Network, Policy
from tapeline.settings import Settings

TRIAL_UID = 1_899_999_998  # next to those of models: where this one is available, so are the others
TRIAL_SECONDS = 60.0  # a busy host is slow, but has a sandbox all the same
TRIAL_PORT = 8700  # inside the sandbox, where every port is free
TUN = "/dev/net/tun"
SWITCHES = (
    ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
    ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
# The first that matches. The kernel calls a limit on namespaces a full disk.
CURES = (
    (
        re.compile(r"(unshare|namespace).*No space left", re.IGNORECASE),
        "Raise the limit on namespaces: sysctl -w user.max_user_namespaces=15000",
    ),
    (
        re.compile(r"No space left|Disk quota"),
        "Free some space on the disk of the data directory",
    ),
    (
        re.compile(r"Read-only file system"),
        "Make the disk of the data directory writable; the kernel's log (dmesg) says why it is not",
    ),
    (re.compile(r"Too many open files"), host_faults.MORE_FILES),
    (
        re.compile(r"namespace|(bwrap|unshare|setns|mount|prctl): .*(not permitted|denied)"),
        "In a container, allow it user namespaces: --security-opt seccomp=unconfined",
    ),
)


class Host(msgspec.Struct, frozen=True, kw_only=True):
    bwrap: str | None
    slirp4netns: str | None
    cgroup: cgroups.Flavour | None
    is_root: bool
    sandboxed: bool
    """Whether a sandbox could be started just now."""
    networked: bool
    """Whether it reached the network, as most models do."""
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
    tree = cgroups.find(runs)
    without = try_once(runs, "open")
    trouble = None if without is None else try_once(runs, "none")
    problems = []
    if trouble is not None:
        problems.append(explained(trouble))
    elif without is not None:
        problems.append(_no_network(without))
    if tree is None:
        problems.append(
            "No control group can be written, so limits on memory and processor are weaker."
            " Run Tapeline as root, or as a systemd service with Delegate=yes"
        )
    return Host(
        bwrap=_bwrap(),
        slirp4netns=shims.slirp_path(),
        cgroup=tree.flavour if tree else None,
        is_root=os.geteuid() == 0,
        sandboxed=trouble is None,
        networked=without is None,
        problems=problems,
    )


def try_once(runs: Path, network: Network) -> str | None:
    """Why an empty sandbox, started like a model's, fails; None if it works."""
    with tempfile.TemporaryDirectory(prefix="trial-", dir=runs) as made:
        folder = Path(made)
        box = Box(
            argv=["/usr/bin/true"],
            cwd="/",
            env={},
            readonly=[],
            writable=[],
            tmp_mb=1,
            network=network,
            events_port=TRIAL_PORT,
            memory_mb=64,
            cpu_milli=1000,
            pids=16,
            disk_mb=None,
            uid=TRIAL_UID if os.geteuid() == 0 else None,
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
        path = bubblewrap.bwrap_path()
    except CannotLaunch:
        return None
    return str(path) if path.exists() else None


def _outcome(folder: Path) -> str | None:
    end = poll(lambda: _end(folder), within=TRIAL_SECONDS, every=0.01)
    if end is None:
        shims.kill(folder, folder / "lock")
        return "It did not end in time."
    shims.wait_free(folder / "lock", 5.0)
    return None if end["outcome"] == "exited" else str(end["reason"])


def _end(folder: Path) -> dict[str, Any] | None:
    states = (record.state for record in journal.read(folder, 0).records)
    return next((one for one in states if one and one["event"] == "finished"), None)


def _no_network(trouble: str) -> str:
    """The test decides whether there is a network; the device only shows what to do."""
    if shims.slirp_path() is None:
        return (
            "slirp4netns is missing, so models have no network."
            " Install it with: apt-get install slirp4netns"
        )
    match _opening(TUN):
        case errno.EACCES:
            return (
                f"The user {_user()} may not open {TUN}, so models have no network."
                f" Allow it with: sudo chmod 0666 {TUN}"
            )
        case errno.EPERM:
            return (
                f"This container may not use {TUN}, so models have no network."
                f" Start it with: --device {TUN}"
            )
        case errno.ENOENT | errno.ENODEV | errno.ENXIO:
            return (
                f"There is no device {TUN}, so models have no network."
                f" Load it with: sudo modprobe tun (for a container: --device {TUN})"
            )
    return f"Models have no network: {trouble}"


def _opening(device: str) -> int | None:
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return error.errno
    return None


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def explained(trouble: str) -> str:
    """With the change that solves it, where the trouble shows which one does."""
    if "apt-get" in trouble or host_faults.MORE_FILES in trouble:
        return trouble  # it names the change already
    for name, bad, cure in SWITCHES:
        path = Path("/proc/sys") / name
        if path.exists() and path.read_text().strip() == bad:
            return (
                f"User namespaces are switched off ({trouble}). Allow them with: sysctl -w {cure}"
            )
    cure = next((cure for words, cure in CURES if words.search(trouble)), "")
    return f"A sandbox cannot be started: {trouble.rstrip('.')}. {cure}".rstrip()
