"""The hosts of an installation as people see them."""

from collections.abc import Iterable
from typing import Literal

import msgspec
from sqlalchemy import Connection, select

from tapeline.runs import described_hosts, heartbeat
from tapeline.runs import run as runs
from tapeline.runs.described_hosts import Host
from tapeline.store.backends.database import Database
from tapeline.store.rows import record
from tapeline.store.tables.runs import hosts

State = Literal["well", "unwell", "unreachable", "forgotten"]


class Standing(msgspec.Struct, frozen=True):
    """A host as people see it."""

    host: Host
    state: State
    seen_at: float | None
    """When its server was last heard of; None for one of an earlier version."""
    running: int
    """Runs that have not ended."""
    last_started: float | None


def all_of(connection: Connection, database: Database, here: str | None) -> list[Standing]:
    """Every host that is known; those with most runs first. `here` is that of the server on this
    data directory, if it runs: on SQLite there is no other."""
    known = {row.name: record(Host, row) for row in connection.execute(select(hosts))}
    used = {one.host: one for one in runs.by_host(connection)}
    names = used.keys() | known.keys()
    up = heartbeat.up(connection, database, names)
    if database.file is not None and here is not None:
        up = {here}
    beats, found = heartbeat.last_of_all(connection, names), []
    for name in names:
        host = known.get(name) or Host(name=name, machine="", version="")
        use = used.get(name)
        found.append(
            Standing(
                host,
                _state(host, is_up=name in up),
                beats.get(name),
                use.running if use else 0,
                use.started_at if use else None,
            )
        )
    return sorted(found, key=lambda one: (-one.running, one.host.name))


def taking(found: Iterable[Standing]) -> list[Standing]:
    """Those of all hosts that take runs now."""
    every = list(found)
    able = {one.name for one in described_hosts.takers(one.host for one in every)}
    return [
        one
        for one in every
        if one.state == "well" and one.host.name in able and one.host.drained_at is None
    ]


def _state(host: Host, *, is_up: bool) -> State:
    if not is_up:
        return "unreachable" if host.forgotten_at is None else "forgotten"
    return "unwell" if host.trouble else "well"
