"""Sign-ins: a browser's session or a refresh token. Each can be listed, and ended at once.

The secret is given out once, when it is made; we store its fingerprint. A session lasts by the
clock that does not jump, so `expires_at` in the table is a stamp of `steady.with_pauses`.
"""

import time
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, insert, or_, select, update

from tapeline.accounts import audit
from tapeline.accounts.actor import Actor
from tapeline.accounts.users import User
from tapeline.errors import AccountDisabled, InvalidToken, NoSuchSignIn
from tapeline.ids import fingerprint, new_id, new_secret
from tapeline.store.backends import steady
from tapeline.store.rows import record
from tapeline.store.tables.core import sign_ins, users

Kind = Literal["browser", "token"]

DAY = 24 * 3600
FRESH_SECONDS = 60  # `last_used_at` is a courtesy: not worth a write at every request
LONGEST_AGENT = 200
REMEMBERED_DAYS = 90


class Origin(msgspec.Struct, frozen=True):
    """Where a sign-in comes from, as far as a person could recognise it."""

    address: str
    agent: str


class SignIn(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: Kind
    address: str
    agent: str
    created_at: float
    last_used_at: float
    expires_at: float | None


def begin(
    connection: Connection, user: User, kind: Kind, origin: Origin, *, days: int | None = None
) -> tuple[str, Actor]:
    """Begin a sign-in and return its secret: a session's cookie, or a refresh token."""
    if user.disabled_at is not None:
        raise AccountDisabled
    secret, sign_in_id, now = new_secret(), new_id(), time.time()
    connection.execute(
        insert(sign_ins).values(
            id=sign_in_id,
            user_id=user.id,
            kind=kind,
            secret_hash=fingerprint(secret),
            address=origin.address,
            agent=origin.agent[:LONGEST_AGENT],
            created_at=now,
            last_used_at=now,
            expires_at=steady.with_pauses(connection) + days * DAY if days else None,
            ended_at=None,
        )
    )
    actor = _account(user.id, user.email, sign_in_id, origin.address)
    audit.record(connection, actor, "signed_in", f"sign_in:{sign_in_id}", kind=kind)
    return secret, actor


def by_secret(connection: Connection, secret: str, kind: Kind, address: str) -> Actor:
    """The account and sign-in of a session cookie or refresh token."""
    return _actor(
        connection,
        (sign_ins.c.secret_hash == fingerprint(secret), sign_ins.c.kind == kind),
        address,
    )


def by_id(connection: Connection, sign_in_id: str, address: str) -> Actor:
    """The account and sign-in of an idToken, if that sign-in is still valid."""
    return _actor(connection, (sign_ins.c.id == sign_in_id,), address)


def touch(connection: Connection, actor: Actor, *, days: int | None = None) -> None:
    """Note that the sign-in is in use; this extends a browser's session."""
    now = time.time()
    values: dict[str, Any] = {"last_used_at": now}
    if days:
        values["expires_at"] = steady.with_pauses(connection) + days * DAY
    connection.execute(
        update(sign_ins).where(sign_ins.c.id == actor.sign_in_id, _is_stale(now)).values(values)
    )


def due_for_touch(connection: Connection, secret: str, address: str) -> Actor | None:
    """The account and sign-in of a session, if it is time to note again that it is in use."""
    actor = by_secret(connection, secret, "browser", address)
    stale = select(sign_ins.c.id).where(sign_ins.c.id == actor.sign_in_id, _is_stale(time.time()))
    return actor if connection.scalar(stale) is not None else None


def has_signed_in_from(connection: Connection, user_id: str, address: str) -> bool:
    """Whether the account signed in from this address in recent months."""
    query = select(sign_ins.c.id).where(
        sign_ins.c.user_id == user_id,
        sign_ins.c.address == address,
        sign_ins.c.created_at > steady.ago(connection, REMEMBERED_DAYS * DAY),
    )
    return connection.scalar(query.limit(1)) is not None


def of_user(connection: Connection, user_id: str) -> list[SignIn]:
    query = (
        select(sign_ins)
        .where(sign_ins.c.user_id == user_id, *_is_valid(connection))
        .order_by(sign_ins.c.created_at.desc(), sign_ins.c.id)
    )
    return [_shown(connection, record(SignIn, row)) for row in connection.execute(query)]


def end(connection: Connection, actor: Actor, sign_in_id: str) -> None:
    ended = connection.execute(
        update(sign_ins)
        .where(sign_ins.c.id == sign_in_id, sign_ins.c.user_id == actor.id, *_is_valid(connection))
        .values(ended_at=time.time())
    )
    if not ended.rowcount:
        raise NoSuchSignIn
    audit.record(connection, actor, "signed_out", f"sign_in:{sign_in_id}")


def end_all(connection: Connection, user_id: str, *, but: str | None = None) -> int:
    """End a person's sign-ins, in browsers and elsewhere; `but` names the one to keep."""
    which = [sign_ins.c.user_id == user_id, *_is_valid(connection)]
    if but is not None:
        which.append(sign_ins.c.id != but)
    return connection.execute(update(sign_ins).where(*which).values(ended_at=time.time())).rowcount


def _is_stale(now: float) -> ColumnElement[bool]:
    """Or from a clock that was ahead, and would make a session last for ever."""
    used = sign_ins.c.last_used_at
    return or_(used < now - FRESH_SECONDS, used > now + FRESH_SECONDS)


def _is_valid(connection: Connection) -> tuple[Any, ...]:
    now = steady.with_pauses(connection)
    unexpired = or_(sign_ins.c.expires_at.is_(None), sign_ins.c.expires_at > now)
    return sign_ins.c.ended_at.is_(None), unexpired


def _shown(connection: Connection, found: SignIn) -> SignIn:
    if found.expires_at is None:
        return found
    return msgspec.structs.replace(found, expires_at=steady.shown(connection, found.expires_at))


def _actor(connection: Connection, which: tuple[Any, ...], address: str) -> Actor:
    row = connection.execute(
        select(sign_ins.c.id, sign_ins.c.user_id, users.c.email)
        .join(users, users.c.id == sign_ins.c.user_id)
        .where(*which, *_is_valid(connection), users.c.disabled_at.is_(None))
    ).first()
    if row is None:
        raise InvalidToken
    return _account(row.user_id, row.email, row.id, address)


def _account(user_id: str, email: str, sign_in_id: str, address: str) -> Actor:
    return Actor(kind="account", id=user_id, label=email, address=address, sign_in_id=sign_in_id)
