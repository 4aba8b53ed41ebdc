"""What rules about the platform look at: disk, quotas, hosts, the certificate."""

import shutil
from collections.abc import Mapping

import msgspec
from sqlalchemy import select

from tapeline.runs import heartbeat
from tapeline.store.portions import batches
from tapeline.store.tables.runs import hosts
from tapeline.store.tables.tape import tapes
from tapeline.tape.append.quotas import GIGABYTE
from tapeline.watch.facts.certificates import Certificate
from tapeline.watch.facts.fact import Fact, Gathering

TOGETHER = 500  # tapes in one statement


class Room(msgspec.Struct, frozen=True):
    """In bytes; or why it cannot be seen."""

    used: int
    size: int
    trouble: str | None = None

    @property
    def free(self) -> int:
        return self.size - self.used


class HostState(msgspec.Struct, frozen=True):
    is_up: bool
    trouble: str
    """Why it cannot run models; empty if it can."""
    is_drained: bool


def gather_disk(gathering: Gathering) -> Mapping[str, Room]:
    """Of the server that evaluates rules: nobody here sees the disks of the others."""
    sources = gathering.sources
    try:
        disk = shutil.disk_usage(sources.settings.data)
        room = Room(disk.total - disk.free, disk.total)
    except OSError as error:
        room = Room(0, 0, f"The data directory cannot be seen: {error.strerror}.")
    return {subject.id: room for subject in gathering.wanted}


def gather_quotas(gathering: Gathering) -> Mapping[str, Room]:
    connection, sources = gathering.connection, gathering.sources
    total = sources.settings.quota_total * GIGABYTE
    of_tape = {subject.tape: subject.id for subject in gathering.wanted if subject.tape is not None}
    return {
        of_tape[row.no]: Room(row.bytes, total)
        for some in batches(sorted(of_tape), TOGETHER)
        for row in connection.execute(select(tapes.c.no, tapes.c.bytes).where(tapes.c.no.in_(some)))
    }


def gather_hosts(gathering: Gathering) -> Mapping[str, HostState]:
    connection, sources = gathering.connection, gathering.sources
    found = {}
    columns = (hosts.c.name, hosts.c.trouble, hosts.c.drained_at)
    for row in connection.execute(select(*columns).where(hosts.c.forgotten_at.is_(None))):
        database = sources.store.database
        # On SQLite there is one server, and it is the one that asks.
        is_up = database.file is not None or heartbeat.is_up(connection, database, row.name)
        found[row.name] = HostState(is_up, row.trouble, row.drained_at is not None)
    return {one.id: found[one.id] for one in gathering.wanted if one.id in found}


def gather_certificate(gathering: Gathering) -> Mapping[str, Certificate]:
    sources = gathering.sources
    known = sources.certificates.known()
    return {} if known is None else {subject.id: known for subject in gathering.wanted}


DISK = Fact(name="disk", gather=gather_disk, every=30.0)
QUOTA = Fact(name="quota", gather=gather_quotas, every=30.0)
HOSTS = Fact(name="hosts", gather=gather_hosts, every=2.0)
CERTIFICATE = Fact(name="certificate", gather=gather_certificate, every=5.0)
