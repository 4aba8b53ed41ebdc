"""Accounts: one row per person, known by their email address."""

import re
import time

import msgspec
from sqlalchemy import Connection, func, select, update

from tapeline.accounts import audit, lost_rights, plain_names
from tapeline.accounts.actor import Actor
from tapeline.errors import EmailTaken, Invalid, NoSuchUser
from tapeline.ids import new_id
from tapeline.store import upsert
from tapeline.store.rows import record
from tapeline.store.tables.core import users

LONGEST_EMAIL = 254
LONGEST_NAME = 120


class User(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    email: str
    name: str
    password_hash: str
    created_at: float
    disabled_at: float | None
    tenant_id: str | None = None
    """The account whose share of the server it uses, if not its own."""


def normal_email(text: str) -> str:
    """The address as we compare it, or an error when it cannot be one."""
    email = text.strip().lower()
    if len(email) > LONGEST_EMAIL or not re.fullmatch(r"[^\s@\x00-\x1f]+@[^\s@\x00-\x1f]+", email):
        raise Invalid("`email` must be an email address, such as ada@example.com.", field="email")
    plain_names.require(email, "email")
    return email


def add(
    connection: Connection,
    *,
    email: str,
    name: str,
    password_hash: str,
    tenant_id: str | None = None,
) -> User:
    """Make only the account; `models.onboarding` makes what belongs to it."""
    email = normal_email(email)
    name = name.strip() or email.partition("@")[0][:LONGEST_NAME]
    if len(name) > LONGEST_NAME:
        raise Invalid(f"`name` must have at most {LONGEST_NAME} characters.", field="name")
    plain_names.require(name, "name")
    user = User(
        id=new_id(),
        email=email,
        name=name,
        password_hash=password_hash,
        created_at=time.time(),
        disabled_at=None,
        tenant_id=tenant_id,
    )
    # Two requests for one address may come at once, on two servers: the row itself decides.
    if not upsert.claim(connection, users, **msgspec.structs.asdict(user)):
        raise EmailTaken
    return user


def find(connection: Connection, email: str) -> User | None:
    row = connection.execute(select(users).where(users.c.email == email.strip().lower())).first()
    return record(User, row) if row else None


def get(connection: Connection, user_id: str) -> User:
    return record(User, connection.execute(select(users).where(users.c.id == user_id)).one())


def everyone(connection: Connection) -> list[User]:
    return [
        record(User, row) for row in connection.execute(select(users).order_by(users.c.created_at))
    ]


def are_there_any(connection: Connection) -> bool:
    return bool(connection.scalar(select(func.count()).select_from(users)))


def set_password(connection: Connection, actor: Actor, user: User, password_hash: str) -> None:
    connection.execute(
        update(users).where(users.c.id == user.id).values(password_hash=password_hash)
    )
    audit.record(connection, actor, "password_changed", f"user:{user.id}")


def set_name(connection: Connection, actor: Actor, user: User, name: str) -> None:
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Invalid(f"`name` must have 1 to {LONGEST_NAME} characters.", field="name")
    plain_names.require(name, "name")
    connection.execute(update(users).where(users.c.id == user.id).values(name=name))
    audit.record(connection, actor, "name_changed", f"user:{user.id}")


def set_disabled(connection: Connection, actor: Actor, email: str, *, disabled: bool) -> User:
    user = find(connection, email)
    if user is None:
        raise NoSuchUser
    connection.execute(
        update(users)
        .where(users.c.id == user.id)
        .values(disabled_at=time.time() if disabled else None)
    )
    if disabled:
        lost_rights.disabled(connection, user.id, user.email)
    action = "user_disabled" if disabled else "user_enabled"
    audit.record(connection, actor, action, f"user:{user.id}", email=user.email)
    return user
