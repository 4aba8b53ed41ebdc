"""Machines that lack something, made of this one: namespaces of their own for a single command."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import numpy

from tapeline.runs.engines.host_check import Host
from tests import needs

ROOT = Path(__file__).parents[3]
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = 65534
# As after the installation of a small Debian, before udev's rules open it to everybody.
PRIVATE_TUN = (
    "[ -e {here}/tun ] || mknod -m 600 {here}/tun c 10 200; mount --bind {here}/tun /dev/net/tun"
)
# As udev's rules leave it, whatever this machine has.
OPEN_TUN = (
    "[ -e {here}/tun ] || mknod -m 666 {here}/tun c 10 200; chmod 666 {here}/tun;"
    " mount --bind {here}/tun /dev/net/tun"
)
NO_TUN = "mount -t tmpfs none /dev/net"
NO_SLIRP = f"mount --bind /dev/null {shutil.which('slirp4netns')}"
NO_USER_NAMESPACES = "echo 0 > /proc/sys/user/max_user_namespaces"
EXAMINE = """
import pathlib, sys, msgspec
from tapeline.runs.engines import host_check
from tapeline.settings import Settings
found = host_check.examine(Settings(data=pathlib.Path(sys.argv[1]) / "data"))
sys.stdout.write(msgspec.json.encode(found).decode())
"""


def on_machine(change: str, here: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run the command where `change` was made. Nobody else's mounts change."""
    script = f'set -e; {change.format(here=here)}; exec "$@"'
    entered = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    return subprocess.run(
        [*entered, *command],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def examined(change: str, here: Path, *, as_nobody: bool = False) -> Host:
    """What a server on that machine finds out about it at its start."""
    command = [sys.executable, "-c", EXAMINE, str(here)]
    if as_nobody:
        os.chown(here, NOBODY, NOBODY)
        libraries = Path(numpy.__file__).parent.parent
        command = [
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("env", f"PYTHONPATH={ROOT}/src:{libraries}", SYSTEM_PYTHON, *command[1:]),
        ]
    done = on_machine(change, here, *command)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout, type=Host)


def examined_in_container(change: str, here: Path) -> Host:
    """As root of a user namespace that has everybody: what most containers give."""
    # Only a program that is started once it is root has the rights of root.
    script = f'set -e; {change}; exec "$@"'
    waiting = ["unshare", "--user", "sh", "-c", 'read entered; exec "$@"', "sh"]
    with subprocess.Popen(
        [*waiting, "sh", "-c", script, "sh", sys.executable, "-c", EXAMINE, str(here)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for kind in ("uid_map", "gid_map"):
            _write_once_entered(process.pid, kind, "0 0 4294967295")
        said = process.communicate("yes\n")[0]
    assert process.returncode == 0
    return msgspec.json.decode(said, type=Host)


def can_be_nobody() -> bool:
    if os.geteuid() or not Path(SYSTEM_PYTHON).exists() or not shutil.which("setpriv"):
        return False
    asked = [SYSTEM_PYTHON, "-c", "import sys; print(sys.version_info[:2])"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return said.strip() == str(sys.version_info[:2]) and bool(ROOT.stat().st_mode & 0o005)


needs_nobody = needs.that(can_be_nobody(), "needs root and a system Python like ours")


def _write_once_entered(pid: int, kind: str, text: str) -> None:
    ours = Path("/proc/self/ns/user").readlink()
    while Path(f"/proc/{pid}/ns/user").readlink() == ours:
        time.sleep(0.001)
    Path(f"/proc/{pid}/{kind}").write_text(text)
