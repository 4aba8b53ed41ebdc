"""Servers that run on one database at the same time have the same keys and see the same archives.

Otherwise one would refuse what the other signs, and could not read what it encrypts or stores. Each
says in its row of `hosts` which keys it has; nobody can learn a key from that.
"""

from hashlib import sha256
from pathlib import Path

import msgspec
from sqlalchemy import Connection, select

from tapeline.accounts import id_tokens
from tapeline.errors import CannotStart
from tapeline.polling import poll
from tapeline.runs import heartbeat
from tapeline.runs.described_hosts import Host
from tapeline.store import encryption
from tapeline.store.backends.database import Database
from tapeline.store.blobs import Blobs
from tapeline.store.rows import record
from tapeline.store.store import Store
from tapeline.store.tables.runs import hosts, versions
from tapeline.tape.proof import signer

SERVES = {
    signer.NAME: "signs tapes",
    encryption.NAME: "encrypts secrets",
    f"*{id_tokens.SUFFIX}": "signs tokens",
}
"""By the names of their files."""
PATIENCE = 4 * heartbeat.EVERY
LOOKED_AT = 3
"""Of the newest versions, whose archives a server must see."""


def digests(keys: Path) -> str:
    """Of those in use: the newest of each kind."""
    found = {}
    for pattern in SERVES:
        newest = max(keys.glob(pattern), default=None)
        if newest is not None:
            found[pattern] = sha256(newest.read_bytes()).hexdigest()[:16]
    return msgspec.json.encode(found).decode()


def require(store: Store, here: str, keys: Path, blobs: Blobs) -> None:
    """Before this server makes or answers anything. Others say within seconds which keys they have
    after a rotation."""
    found: list[str] = []

    def is_one() -> bool:
        found[:] = store.read_now(_wrong, store.database, here, keys, blobs)
        return not found

    if not poll(is_one, within=PATIENCE, every=1.0):
        raise CannotStart(found[0])


def with_other_keys(
    connection: Connection, database: Database, here: str, ours: str
) -> dict[str, list[str]]:
    """The machines of other servers that run now and have other keys, and which."""
    found = {}
    for other in _others(connection, database, here):
        if differing := _differing(ours, other.key_digests):
            found[other.machine] = differing
    return found


def _wrong(
    connection: Connection, database: Database, here: str, keys: Path, blobs: Blobs
) -> list[str]:
    """A sentence for each difference from another server."""
    said = []
    for other in _others(connection, database, here):
        if differing := _differing(digests(keys), other.key_digests):
            said.append(
                f"This server has other keys than the one on {other.machine}, which uses the same"
                f" database: {', '.join(differing)}. Copy the folder keys from its data directory"
                f" to {keys}, and start again."
            )
        if not _sees(connection, blobs):
            said.append(
                f"This server does not see the archives that the one on {other.machine} stores,"
                " which uses the same database. Give both the same place: the setting blobs."
            )
    return said


def _others(connection: Connection, database: Database, here: str) -> list[Host]:
    """Hosts whose servers run now; a server of an earlier version has no row."""
    if database.file is not None:
        return []
    rows = connection.execute(select(hosts).where(hosts.c.name != here, hosts.c.key_digests != ""))
    found = [record(Host, row) for row in rows]
    up = heartbeat.up(connection, database, [one.name for one in found])
    return [one for one in found if one.name in up]


def _differing(ours: str, theirs: str) -> list[str]:
    mine, other = (msgspec.json.decode(one, type=dict[str, str]) for one in (ours, theirs))
    return [
        f"{name} ({does})"
        for name, does in SERVES.items()
        if name in other and mine.get(name) != other[name]
    ]


def _sees(connection: Connection, blobs: Blobs) -> bool:
    """One of the newest is enough: any of them may have been lost."""
    newest = select(versions.c.archive).order_by(versions.c.created_at.desc()).limit(LOOKED_AT)
    names = list(connection.scalars(newest))
    return not names or any(map(blobs.exists, names))
