"""Machines for tests: each has its own network, processes and mounts, held by a waiting process.

Nothing is left of them: networks, links and mounts are gone with the processes that hold them, and
those end with the tests, however these end.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests import needs

MACHINES = needs.root("machines of their own for tests are made as root")
# The parent of whatever is orphaned there. The kernel takes dead children away when nobody listens.
_WAITING = (
    "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
    " print(flush=True); signal.pause()"
)
_MOUNTS = """set -e
mount -t tmpfs tmpfs /dev/shm
mount --bind "$0" /mnt
if [ -e "$0/disk" ]; then mount -o loop "$0/disk" "$0/data"; fi
ip link set lo up
exec "$@"
"""
_NOWHERE = "02:00:00:00:00:01"  # nobody has it, so the switch takes such a packet to nobody
_ENDS_WITH_PARENT = 1


@dataclass
class Machine:
    name: str
    address: str
    folder: Path
    """Its own; the machine sees it at /mnt too, because paths of sockets have to be short."""
    holder: subprocess.Popen[str]
    switch: int
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    """For every process that is started there."""

    @property
    def first(self) -> psutil.Process:
        """The first process there; the others end with it."""
        return psutil.Process(self.holder.pid).children()[0]

    def command(self, arguments: Sequence[str]) -> list[str]:
        inside = ["nsenter", f"--target={self.first.pid}", "--net", "--pid", "--mount", "--wd=/"]
        return [*inside, "--", *arguments]

    def run(
        self, *arguments: str, environment: Mapping[str, str] | None = None, seconds: float = 60
    ) -> str:
        """What it printed; an error of the command is an error of the test."""
        limited = ["timeout", "--signal=KILL", str(seconds), *arguments]  # inside, or it goes on
        done = subprocess.run(
            self.command(limited),
            env=self.environment(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (
            f"{self.name}: {arguments} returned {done.returncode}:\n{done.stdout}"
        )
        return done.stdout

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """What it prints is in the file `output` of the machine's folder."""
        with (self.folder / "output").open("ab") as output:
            process = subprocess.Popen(
                self.command(arguments),
                env=self.environment(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.started.append(process)
        return process

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        own = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        own |= {"TAPELINE_DATA": str(self.folder / "data")}
        return own | dict(more or {}) | self.variables

    def processes(self) -> list[psutil.Process]:
        """All but the first: models in sandboxes too, and those that left their parents."""
        return self.first.children(recursive=True) + self._entered()

    def cut(self) -> None:
        """Nothing comes in or goes out, and nobody is told."""
        _ip(self.switch, "link", "set", "dev", self.name, "down")

    def mend(self) -> None:
        _ip(self.switch, "link", "set", "dev", self.name, "up")
        _ip(self.first.pid, "neigh", "flush", "dev", "eth0", "nud", "permanent")

    def lose_packets_to(self, *addresses: str) -> None:
        """One way: packets from there still come in. `mend` ends it."""
        for one in addresses:
            _ip(
                self.first.pid,
                *("neigh", "replace", one, "lladdr", _NOWHERE, "dev", "eth0", "nud", "permanent"),
            )

    def freeze(self) -> None:
        """Everything there stops, as on a machine whose hypervisor pauses it; nobody is told."""
        frozen: set[psutil.Process] = set()
        while found := set(self.processes()) - frozen:  # whoever was not frozen yet may start more
            for one in found:
                with suppress(psutil.NoSuchProcess):
                    one.send_signal(signal.SIGSTOP)
            frozen |= found

    def thaw(self) -> None:
        for one in self.started:  # `nsenter` stops with the command that it waits for
            one.send_signal(signal.SIGCONT)
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)

    def fill_disk(self) -> None:
        """That of its data; not a byte is left."""
        wanted = f"cat /dev/zero > {self.folder}/data/filling || true"
        assert "No space left" in self.run("sh", "-c", wanted)

    def free_disk(self) -> None:
        self.run("rm", f"{self.folder}/data/filling")

    def kill(self) -> None:
        """As if its power was cut."""
        if self.holder.poll() is None:
            self.cut()
            self.first.kill()
        for one in self.started:
            one.send_signal(signal.SIGCONT)
            one.wait()
        self.holder.wait()

    def _entered(self) -> list[psutil.Process]:
        """Children of ours that are inside: their parent is outside."""
        doors = [psutil.Process(one.pid) for one in self.started if one.poll() is None]
        return [inside for door in doors for inside in door.children(recursive=True)]


@dataclass
class Network:
    """A switch, the machines at it, and the tests themselves at its first address. A second one is
    never cut: over it the tests hear what goes on on a machine that nobody else can reach."""

    folder: Path
    prefix: str
    aside: str
    switch: int
    second_switch: int
    machines: dict[str, Machine] = field(default_factory=dict)

    @property
    def here(self) -> str:
        return f"{self.prefix}.1"

    @property
    def never_cut(self) -> str:
        """An address of the tests."""
        return f"{self.aside}.1"

    def machine(self, name: str, disk: int | None = None) -> Machine:
        """`disk`: the bytes of one for its data alone."""
        folder = self.folder / name
        folder.mkdir()
        if disk is not None:
            (folder / "data").mkdir()
            with (folder / "disk").open("wb") as image:
                image.truncate(disk)
            subprocess.run(["mkfs.ext4", "-q", "-m", "0", folder / "disk"], check=True)
        return self._boot(name, 10 + len(self.machines))

    def boot_again(self, machine: Machine) -> None:
        """One that was killed: with its disk and its address, and nothing else."""
        for switch in (self.switch, self.second_switch):
            with suppress(AssertionError):  # the kernel takes its time to do it by itself
                _ip(switch, "link", "del", "dev", machine.name)
        booted = self._boot(machine.name, int(machine.address.rpartition(".")[2]))
        machine.holder, machine.started = booted.holder, booted.started
        self.machines[machine.name] = machine

    def _boot(self, name: str, number: int) -> Machine:
        folder = self.folder / name
        holder = _held(("--mount", "--pid", "--fork", "--kill-child", "--mount-proc"), folder)
        address = f"{self.prefix}.{number}"
        made = self.machines[name] = Machine(name, address, folder, holder, self.switch)
        _plug(self.switch, name, made.first.pid, "eth0", f"{address}/24")
        _plug(self.second_switch, name, made.first.pid, "eth1", f"{self.aside}.{number}/24")
        return made


@contextmanager
def network(folder: Path) -> Iterator[Network]:
    with ExitStack() as stack:
        (prefix, switch), (aside, second) = (_switch(folder, stack) for _ in range(2))
        made = Network(folder, prefix, aside, switch, second)
        stack.callback(_kill_all, made)
        yield made


def _switch(folder: Path, stack: ExitStack) -> tuple[str, int]:
    prefix = _free_prefix()
    holder = _held((), folder)
    stack.callback(_end, holder)
    _ip(holder.pid, "link", "add", "name", "switch", "type", "bridge")
    _ip(holder.pid, "link", "set", "dev", "switch", "up")
    _plug(holder.pid, "tests", os.getpid(), f"t{holder.pid}", f"{prefix}.1/24")
    return prefix, holder.pid


def _kill_all(network: Network) -> None:
    for one in network.machines.values():
        one.kill()


def _held(kinds: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    command = ["unshare", "--net", *kinds, "--", "sh", "-c"]
    command += [_MOUNTS if kinds else 'ip link set lo up && exec "$@"', str(folder)]
    with (folder / "unshare.log").open("w") as log:  # it complains when its machine is killed
        holder = subprocess.Popen(
            [*command, sys.executable, "-SIc", _WAITING],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=_end_with_the_tests,  # noqa: PLW1509 - it only asks the kernel
        )
    assert holder.stdout is not None
    with holder.stdout as said:
        assert said.readline(), (folder / "unshare.log").read_text()
    return holder


def _end_with_the_tests() -> None:
    ctypes.CDLL(None).prctl(_ENDS_WITH_PARENT, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)


def _end(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()


def _plug(switch: int, port: str, pid: int, name: str, address: str) -> None:
    """A cable from a port of the switch to that process's network."""
    _ip(
        switch, "link", "add", "name", port, "type", "veth", "peer", "name", name, "netns", str(pid)
    )
    _ip(switch, "link", "set", "dev", port, "master", "switch", "up")
    _ip(pid, "addr", "add", address, "dev", name)
    _ip(pid, "link", "set", "dev", name, "up")


def _ip(pid: int, *arguments: str) -> str:
    command = ["nsenter", f"--target={pid}", "--net", "--", "ip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def _free_prefix() -> str:
    taken = _ip(os.getpid(), "-4", "addr", "show")
    for attempt in range(os.getpid(), os.getpid() + 100):
        prefix = f"10.{64 + attempt // 250 % 128}.{attempt % 250}"
        if f"{prefix}." not in taken:
            return prefix
    raise AssertionError("every network is taken")
