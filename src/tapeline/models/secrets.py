"""A model's secrets: environment variables of its runs. They are encrypted in the store; only a run
ever gets their values."""

import re
import time

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.errors import CannotLaunch, Invalid, NoSuchSecret
from tapeline.models.models import Model
from tapeline.store import upsert
from tapeline.store.encryption import Cipher, NotOurKey
from tapeline.store.rows import record
from tapeline.store.tables.runs import secrets

NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")
LONGEST_VALUE = 32_768
MOST = 100
UNREADABLE = (
    "The secret {name} cannot be read: it was encrypted with a key that this server does not have."
    " Set it again, or have the operator put the folder keys back from a backup."
)
# Variables that the platform sets for a run, and those that decide which code a run loads.
RESERVED = re.compile(r"TAPELINE_.*|SLATE_.*|PYTHON.*|LD_.*")
TAKEN = {
    "PATH", "HOME", "USER", "SHELL", "HOSTNAME", "PWD", "TMPDIR", "IFS", "ENV", "BASH_ENV",
    "VIRTUAL_ENV", "MODEL_ID", "PROJECT_ID", "VERSION_ID", "API_KEY", "API_PASS",
    "URL_MODEL_EVENTS_API", "BACKTESTING", "BACKTESTING_ID",
}  # fmt: skip


class Secret(msgspec.Struct, frozen=True):
    name: str
    changed_at: float


def put(
    connection: Connection, actor: Actor, cipher: Cipher, model: Model, name: str, value: str
) -> Secret:
    """Set a secret; the next run gets it."""
    _check(name, value)
    here = (secrets.c.model_id == model.id, secrets.c.name != name)
    if (connection.scalar(select(func.count()).where(*here)) or 0) >= MOST:
        raise Invalid(f"A model has at most {MOST} secrets.", field="name")
    changed_at = time.time()
    new = upsert.insert(connection, secrets).values(
        model_id=model.id, name=name, value=cipher.encrypt(value.encode()), changed_at=changed_at
    )
    connection.execute(
        new.on_conflict_do_update(
            index_elements=["model_id", "name"],
            set_={"value": new.excluded.value, "changed_at": new.excluded.changed_at},
        )
    )
    _note(connection, actor, model, "secret_set", name)
    return Secret(name, changed_at)


def names(connection: Connection, model_id: str) -> list[Secret]:
    query = select(secrets.c.name, secrets.c.changed_at).where(secrets.c.model_id == model_id)
    return [record(Secret, row) for row in connection.execute(query.order_by(secrets.c.name))]


def get(connection: Connection, model_id: str, name: str) -> Secret:
    for secret in names(connection, model_id):
        if secret.name == name:
            return secret
    raise NoSuchSecret


def remove(connection: Connection, actor: Actor, model: Model, name: str) -> None:
    get(connection, model.id, name)
    connection.execute(
        delete(secrets).where(secrets.c.model_id == model.id, secrets.c.name == name)
    )
    _note(connection, actor, model, "secret_deleted", name)


def of_model(connection: Connection, cipher: Cipher, model_id: str) -> dict[str, str]:
    """Names and values, only for the environment of a run."""
    query = select(secrets.c.name, secrets.c.value).where(secrets.c.model_id == model_id)
    return {row.name: _read(cipher, row.name, row.value) for row in connection.execute(query)}


def encrypt_again(connection: Connection, cipher: Cipher) -> int:
    """Encrypt every secret with the newest key; return how many there are."""
    rows = connection.execute(select(secrets).with_for_update()).all()
    for row in rows:
        connection.execute(
            update(secrets)
            .where(secrets.c.model_id == row.model_id, secrets.c.name == row.name)
            .values(value=cipher.encrypt(_read(cipher, row.name, row.value).encode()))
        )
    return len(rows)


def _read(cipher: Cipher, name: str, value: str) -> str:
    try:
        return cipher.decrypt(value).decode()
    except NotOurKey as error:
        raise CannotLaunch(UNREADABLE.format(name=name)) from error


def _check(name: str, value: str) -> None:
    if not NAME.fullmatch(name):
        raise Invalid(
            f"A secret's name must be 1 to 128 of A-Z, 0-9 and _, no digit first; not {name!r}.",
            field="name",
        )
    if name in TAKEN or RESERVED.fullmatch(name):
        raise Invalid(f"{name} is reserved for the platform. Choose another name.", field="name")
    if len(value.encode()) > LONGEST_VALUE:
        raise Invalid(f"`value` must have at most {LONGEST_VALUE:,} bytes.", field="value")


def _note(connection: Connection, actor: Actor, model: Model, action: str, name: str) -> None:
    audit.record(
        connection, actor, action, f"model:{model.id}", project_id=model.project_id, name=name
    )
