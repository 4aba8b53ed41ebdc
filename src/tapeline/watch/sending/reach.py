"""Which addresses a message may be sent to.

Tenants choose where messages go, and the server may stand where they do not: next to a database, a
cloud's metadata service, somebody's router. Only addresses of the public internet are allowed, and
what the operator adds to them.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
ANY_PORT = 9

# They look public and are not: a cloud's own services for its machines, and old ways to write
# addresses of version 4 inside those of version 6.
NOT_PUBLIC: tuple[Network, ...] = (
    ipaddress.ip_network("168.63.129.16/32"),  # the machine agent of Azure
    ipaddress.ip_network("192.88.99.0/24"),  # relays from version 6 to 4
    ipaddress.ip_network("::/96"),
    ipaddress.ip_network("fec0::/10"),
)
# Addresses of version 4 are the last 32 bits of these.
TRANSLATED: tuple[IPv6Network, ...] = (
    IPv6Network("64:ff9b::/96"),
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("::ffff:0:0:0/96"),
)


class Reach:
    """What the operator allows besides the public internet: networks, addresses and names. Public
    addresses of this machine (`is_here`), and `ours`, lead back to the server."""

    def __init__(
        self,
        allowed: str,
        ours: Iterable[str] = (),
        is_here: "Callable[[Address], bool] | None" = None,
    ) -> None:
        self._is_here = is_here or leads_here
        self._ours = {found for one in ours if (found := _read(one)) is not None}
        self._networks: list[Network] = []
        self._names: set[str] = set()
        for one in filter(None, (part.strip() for part in allowed.split(","))):
            try:
                self._networks.append(ipaddress.ip_network(one, strict=False))
            except ValueError:
                self._names.add(_plain(one))

    def allows(self, text: str) -> bool:
        """Of an address as a socket gets it. A name is none: it must have been looked up."""
        address = _read(text)
        if address is None:
            return False
        carried = _carried(address)
        if any(_inside(one, network) for one in (address, *carried) for network in self._networks):
            return True
        if not all(map(_is_public, (address, *carried))):
            return False
        return not any(one in self._ours or self._is_here(one) for one in (address, *carried))

    def names(self, host: str) -> bool:
        """Whether the operator allows this name, wherever it leads."""
        return _plain(host) in self._names


class Probe(socket.socket):
    """Sends nothing."""


def leads_here(address: Address) -> bool:
    """Whether it is an address of this machine: the kernel then takes it for our end too. Asked
    each time, because machines get and lose addresses while the server runs."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with Probe(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), ANY_PORT))
            return _read(probe.getsockname()[0]) == address
    except OSError:  # there is no way to it at all
        return False


def _read(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _plain(name: str) -> str:
    return name.lower().rstrip(".")


def _inside(address: Address, network: Network) -> bool:
    return address.version == network.version and address in network


def _is_public(address: Address) -> bool:
    if any(_inside(address, network) for network in NOT_PUBLIC):
        return False
    if isinstance(address, IPv6Address) and _carried(address):
        return True  # the one that it carries decides
    return address.is_global and not address.is_multicast


def _carried(address: Address) -> list[Address]:
    """Addresses of version 4 inside one of version 6: a packet may come out there."""
    if not isinstance(address, IPv6Address):
        return []
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found += address.teredo
    if any(address in network for network in TRANSLATED):
        found.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    return found
