"""The keys without which a database is of no use: its tapes are signed with one, its secrets are
encrypted with the other. A new key could neither sign as before nor read what is there."""

from pathlib import Path

from sqlalchemy import Connection, Table, select

from tapeline.store import encryption
from tapeline.store.encryption import Cipher, NotOurKey, UnusableKey
from tapeline.store.tables.runs import secrets
from tapeline.store.tables.tape import checkpoints
from tapeline.tape.proof import signer

FIX = (
    "Put the folder keys of the data directory back from a backup. If the key is lost for good,"
    " make a new one: tapeline keys replace-lost"
)


def lacking(connection: Connection, keys: Path) -> list[str]:
    """A sentence for each key that is needed and not there."""
    said = []
    if not (keys / signer.NAME).exists() and _has_any(connection, checkpoints):
        said.append(f"The key {signer.NAME}, with which its tapes are signed, is missing.")
    if not (keys / encryption.NAME).exists() and _has_any(connection, secrets):
        said.append(f"The key {encryption.NAME}, with which secrets are encrypted, is missing.")
    return said


def require(connection: Connection, keys: Path) -> None:
    """Before a server makes the keys of a new installation."""
    if said := lacking(connection, keys):
        raise UnusableKey(f"{' '.join(said)} {FIX}")


def unreadable(connection: Connection, keys: Path) -> list[str]:
    """The secrets that the keys do not open, each as model and name."""
    cipher, found = Cipher(file=keys / encryption.NAME), []
    for row in connection.execute(select(secrets).order_by(secrets.c.model_id, secrets.c.name)):
        try:
            cipher.decrypt(row.value)
        except NotOurKey:
            found.append(f"{row.name} of model {row.model_id}")
    return found


def _has_any(connection: Connection, table: Table) -> bool:
    return connection.execute(select(table).limit(1)).first() is not None
