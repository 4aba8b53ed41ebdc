"""Which Pythons the hosts of an installation have. Any server takes a model for any of them."""

from collections.abc import Iterable, Sequence

import msgspec
from sqlalchemy import Connection, select

from tapeline.runs.described_hosts import Host
from tapeline.runs.environments.interpreters import Interpreter
from tapeline.store.tables.runs import hosts


class Python(msgspec.Struct, frozen=True):
    version: str
    release: str
    source: str


def described(found: Iterable[Interpreter]) -> str:
    """As a host says it of itself."""
    return msgspec.json.encode(
        [Python(one.version, one.release, one.source) for one in found]
    ).decode()


def of(host: Host) -> list[Python]:
    return _decoded(host.pythons)


def has(host: Host, version: str) -> bool:
    """Also of a host that did not say."""
    return not host.pythons or any(one.version == version for one in of(host))


def of_all(connection: Connection, here: Sequence[Python]) -> list[Python]:
    """Of every host that is not forgotten, one of each version, the newest first; those of this
    host come first. A host that is away may come back: what needs it waits for it."""
    found = {one.version: one for one in here}
    for said in connection.scalars(select(hosts.c.pythons).where(hosts.c.forgotten_at.is_(None))):
        for one in _decoded(said):
            found.setdefault(one.version, one)
    return sorted(found.values(), key=lambda one: _number(one.version), reverse=True)


def _decoded(said: str) -> list[Python]:
    return msgspec.json.decode(said, type=list[Python]) if said else []


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
