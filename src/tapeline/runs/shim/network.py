"""The network namespace of a launch: its loopback, its events port, and for some the internet.

It is made once per launch by a short-lived child; open descriptors keep it alive.
"""

import fcntl
import os
import select
import socket
import stat
import struct
import sys

from tapeline.runs.shim import kernel, shortage

# Where clouds serve credentials and secrets to a machine: link-local addresses; Azure's,
# Alibaba's and Oracle's own; Amazon's and Google's of version 6.
NOT_FOR_MODELS = (
    ("169.254.0.0", "255.255.0.0"),
    ("168.63.129.16", "255.255.255.255"),
    ("100.100.100.200", "255.255.255.255"),
    ("192.0.0.192", "255.255.255.255"),
)
NOT_FOR_MODELS_6 = ("fd00:ec2::254", "fd20:ce::254")

_SIOCADDRT, _SIOCSIFFLAGS = 0x890B, 0x8914
_UP_AND_RUNNING, _REJECT_ROUTE = 0x41, 0x0201
READY_WITHIN = 60_000  # milliseconds: a host that is very busy is no reason to give up
LAST_LINES = 3
_TUN = (10, 200)  # the numbers of the device, wherever its node is


class Namespace:
    def __init__(self, user: int, net: int, listeners: list[socket.socket]) -> None:
        self.user, self.net, self.listeners = user, net, listeners


def make(uid: int | None, addresses: list[tuple[str, int]]) -> Namespace:
    """With a listener on each of these addresses of its loopback, in the same order."""
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _make(theirs, parent, uid, addresses)
        except BaseException as error:  # noqa: BLE001 - the parent says it
            kernel.give_up(error, theirs.fileno())
        os._exit(0)
    theirs.close()
    said, descriptors, _, _ = socket.recv_fds(ours, 1000, 2 + len(addresses))
    os.waitpid(pid, 0)
    ours.close()
    for descriptor in descriptors:
        os.set_inheritable(
            descriptor, False
        )  # received descriptors are inheritable, and the model must not get them
    if said != b"made":
        words = said.decode(errors="replace")
        raise shortage.error_of(f"No network namespace could be made: {words}")
    listeners = [socket.socket(fileno=one) for one in descriptors[2:]]
    for listener in listeners:
        listener.setblocking(False)
    return Namespace(descriptors[0], descriptors[1], listeners)


def attach_internet(program: str, namespace: Namespace, uid: int | None) -> tuple[int, int]:
    """Start slirp4netns; its process id, and a descriptor that says when the network is up."""
    said, ready = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        os.close(said)
        os.close(ready)
        raise
    if pid == 0:
        try:
            kernel.begin(parent)
            _silent_streams()
            if uid is not None:
                _device_of_its_own(uid)
                kernel.become(uid, parent)
            _exec_slirp(program, namespace, ready)
        except BaseException as error:  # noqa: BLE001 - goes to the shim's own log
            kernel.give_up(error, sys.stderr.fileno())
    os.close(ready)
    return pid, said


def wait_ready(said: int, log: str) -> None:
    """`log` has the messages of slirp4netns, which are lost later."""
    poll = select.poll()
    poll.register(said, select.POLLIN)
    if not poll.poll(READY_WITHIN):
        raise OSError(f"slirp4netns did not connect the sandbox within {READY_WITHIN // 1000} s.")
    if not os.read(said, 1):
        raise shortage.error_of(f"slirp4netns could not connect the sandbox: {_last_words(log)}")
    os.close(said)


def _make(
    answer: socket.socket, parent: int, uid: int | None, addresses: list[tuple[str, int]]
) -> None:
    kernel.begin(parent)
    if uid is not None:
        kernel.become(uid, parent)
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.NEWUSER | kernel.NEWNET)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _UP_AND_RUNNING))
        for network, mask in NOT_FOR_MODELS:
            fcntl.ioctl(control, _SIOCADDRT, _no_route_to(network, mask))
    _close_version_6()
    made = [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in ("user", "net")]
    listeners = [socket.create_server(one, backlog=64) for one in addresses]
    socket.send_fds(answer, [b"made"], made + [one.fileno() for one in listeners])


def _no_route_to(network: str, mask: str) -> bytes:
    def address(text: str) -> bytes:
        return struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))

    return struct.pack(
        "L16s16s16sHhLPhPLLH",
        *(0, address(network), address("0.0.0.0"), address(mask)),  # noqa: S104 - no gateway
        *(_REJECT_ROUTE, 0, 0, 0, 0, 0, 0, 0, 0),
    )


def _silent_streams() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)


def _device_of_its_own(uid: int) -> None:
    """Give the user that we become its own node of the tunnel device, visible to it alone.

    On a bare machine, only root may open the host's node, or there is none.
    """
    kernel.unshare(kernel.NEWNS)
    kernel.mount("none", "/", "", kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.NOSUID, "mode=755,size=64k")
    try:
        os.umask(0o022)
        os.mkdir("/dev/net")
        os.mknod("/dev/net/tun", stat.S_IFCHR | 0o600, os.makedev(*_TUN))
        os.chown("/dev/net/tun", uid, uid)
    except PermissionError:
        kernel.unmount("/dev")  # a container that forbids it: use the host's node


def _last_words(log: str) -> str:
    with open(log, errors="replace") as file:
        lines = [line.strip() for line in file if not line.startswith("WARNING")]
    return "; ".join(lines[-LAST_LINES:]) or "it ended without a message."


def _close_version_6() -> None:
    """slirp4netns does not get IPv6; these stay closed in case it ever does."""
    if not os.path.exists("/proc/sys/net/ipv6"):
        return  # a kernel without IPv6 needs no rule
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        for one in NOT_FOR_MODELS_6:
            host = socket.inet_pton(socket.AF_INET6, one)
            route = (host, b"", b"", 0, 128, 0, 1, 0, _REJECT_ROUTE, 0)
            fcntl.ioctl(control, _SIOCADDRT, struct.pack("16s16s16sIHHILIi", *route))


def _exec_slirp(program: str, namespace: Namespace, ready: int) -> None:
    # Root of that namespace only: enough to create its device and to confine itself.
    kernel.join(namespace.user)
    for descriptor in (namespace.net, ready):
        os.set_inheritable(descriptor, True)
    os.chdir("/")
    arguments = [
        *("slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback"),
        *("--enable-sandbox", "--enable-seccomp", f"--ready-fd={ready}", "--netns-type=path"),
        *(f"/proc/self/fd/{namespace.net}", "tap0"),
    ]
    os.execve(program, arguments, {})
