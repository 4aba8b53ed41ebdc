"""The keys without which a database is of no use: its tapes are signed with one, its secrets are
encrypted with the other. A new key could neither sign as before nor read what is there."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, Table, select

from tapeline.store import encryption
from tapeline.store.encryption import Cipher, NotOurKey, UnusableKey
from tapeline.store.tables.runs import secrets
from tapeline.store.tables.tape import checkpoints
from tapeline.store.tables.watch import channels
from tapeline.tape.proof import signer, signing_keys

REPLACE = "tapeline keys replace-lost"
FIX = (
    "Put the folder keys of the data directory back from a backup. If the key is lost for good,"
    f" make a new one: {REPLACE}"
)


class Key(NamedTuple):
    name: str
    serves: str
    needed_for: tuple[Table, ...]
    """No key is needed while these tables are empty."""
    read: Callable[[Path], object]


KEYS = (
    Key(signer.NAME, "its tapes are signed", (checkpoints,), signer.read),
    Key(encryption.NAME, "secrets are encrypted", (secrets, channels), encryption.read),
)


def lacking(connection: Connection | None, keys: Path) -> list[str]:
    """A sentence for each key that is needed and not there, and for each that is damaged: no
    server starts with one. Without a connection, every key counts as needed."""
    return [
        f"The key {key.name}, with which {key.serves}, is {trouble}."
        for key in KEYS
        if (trouble := _trouble(connection, keys, key))
    ]


def is_older(connection: Connection, keys: Path) -> bool:
    """Whether the folder is from before a rotation that the database knows of."""
    return _successor(connection, keys) is not None


def damaged(keys: Path) -> list[Path]:
    """The key files that are there and hold no key."""
    return [keys / key.name for key in KEYS if _is_damaged(keys / key.name, key)]


def require(connection: Connection, keys: Path) -> None:
    """Before a server makes the keys of a new installation."""
    if said := lacking(connection, keys):
        raise UnusableKey(f"{' '.join(said)} {FIX}")


def unreadable(connection: Connection, keys: Path) -> list[str]:
    """What the keys do not open: secrets, each as model and name, and addresses of channels."""
    cipher, found = Cipher(file=keys / encryption.NAME), []
    for row in connection.execute(select(secrets).order_by(secrets.c.model_id, secrets.c.name)):
        if not _opens(cipher, row.value):
            found.append(f"{row.name} of model {row.model_id}")
    for row in connection.execute(select(channels).order_by(channels.c.scope, channels.c.name)):
        if not _opens(cipher, row.address):
            found.append(f"the address of channel {row.name} of {row.scope.replace(':', ' ')}")
    return found


def _opens(cipher: Cipher, hidden: str) -> bool:
    try:
        cipher.decrypt(hidden)
    except NotOurKey:
        return False
    return True


def _trouble(connection: Connection | None, keys: Path, key: Key) -> str | None:
    if not (keys / key.name).exists():
        is_needed = connection is None or _has_any(connection, key.needed_for)
        return "missing" if is_needed else None
    if _is_damaged(keys / key.name, key):
        return "empty or damaged"
    after = _successor(connection, keys) if connection and key.name == signer.NAME else None
    return after and f"older than the database: copy the newest folder keys, with the key {after}"


def _successor(connection: Connection, keys: Path) -> str | None:
    """The id of the key that took the place of the one in this folder."""
    try:
        mine = signer.current(keys)
    except (OSError, UnusableKey):
        return None
    after = [one.key_id for one in signing_keys.listed(connection) if one.previous == mine]
    return after[0] if after else None


def _is_damaged(file: Path, key: Key) -> bool:
    try:
        key.read(file)
    except FileNotFoundError:
        return False
    except UnusableKey:
        return True
    return False


def _has_any(connection: Connection, tables: tuple[Table, ...]) -> bool:
    return any(connection.execute(select(one).limit(1)).first() is not None for one in tables)
