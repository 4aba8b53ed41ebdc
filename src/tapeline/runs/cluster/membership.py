"""Whether this machine is a node of a Ray cluster, by which of its addresses, and whose it is."""

import pwd
import socket
from pathlib import Path

PROCESSES = Path("/proc")


def place_of(ray_address: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = ray_address.rpartition(":")
    return host.strip("[]"), int(port)


def own_address(ray_address: str) -> str:
    """This machine's address in the network where Ray's head is."""
    with _towards(ray_address) as line:
        return str(line.getsockname()[0])


def is_node(ray_address: str, processes: Path = PROCESSES) -> bool:
    return owner_of_node(ray_address, processes) is not None


def owner_of_node(ray_address: str, processes: Path = PROCESSES) -> int | None:
    """The user that Ray runs as here; none: this machine is no node. As Ray's programs find out:
    by the processes here. Where those of several networks are seen, their addresses say which of
    them are ours."""
    with _towards(ray_address) as line:
        own, (head, port, *_) = line.getsockname()[0], line.getpeername()
    wanted = {f"--node_ip_address={own}", f"--gcs-address={head}:{port}"}
    for one in processes.iterdir():
        if not one.name.isdecimal():
            continue
        try:
            program, *words = (one / "cmdline").read_text("utf-8", "replace").split("\0")
            owner = one.stat().st_uid
        except OSError:  # it has ended
            continue
        if program.endswith("/raylet") and wanted <= set(words):
            return owner
    return None


def why_not_usable(owner: int, own: int) -> str | None:
    """Whoever uses Ray writes into the folder of the Ray of its machine, which only the user that
    started that and root can do. For anybody else Ray aborts the process."""
    if own in (owner, 0):
        return None
    return (
        f"Ray on this machine runs as {_name(owner)} and this server as {_name(own)}:"
        " run both as the same user."
    )


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _towards(ray_address: str) -> socket.socket:
    """A socket that would send there. Nothing is sent."""
    host, port = place_of(ray_address)
    family, kind, protocol, _, target = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    line = socket.socket(family, kind, protocol)
    try:
        line.connect(target)
    except OSError:
        line.close()
        raise
    return line
