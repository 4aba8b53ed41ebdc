"""Whether this machine is a node of a Ray cluster, and by which of its addresses."""

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
    """As Ray's own programs find out: by the processes here. Where those of several networks are
    seen, their addresses say which of them are ours."""
    with _towards(ray_address) as line:
        own, (head, port, *_) = line.getsockname()[0], line.getpeername()
    wanted = {f"--node_ip_address={own}", f"--gcs-address={head}:{port}"}
    for one in processes.iterdir():
        if not one.name.isdecimal():
            continue
        try:
            program, *words = (one / "cmdline").read_text("utf-8", "replace").split("\0")
        except OSError:  # it has ended
            continue
        if program.endswith("/raylet") and wanted <= set(words):
            return True
    return False


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
