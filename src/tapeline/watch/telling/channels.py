"""Channels: where a project's messages go. Addresses hold passwords and tokens: they are encrypted
in the store, and nobody reads one back."""

import time
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from tapeline.accounts import audit, plain_names
from tapeline.accounts.actor import Actor
from tapeline.errors import Conflict, Invalid, Limited, Missing
from tapeline.ids import new_id, new_secret
from tapeline.store.backends import steady
from tapeline.store.encryption import Cipher
from tapeline.store.rows import record
from tapeline.store.tables.core import audit as audit_log
from tapeline.store.tables.watch import channels
from tapeline.watch.rules.stored import scope_of
from tapeline.watch.sending import services
from tapeline.watch.telling import holding

MOST = 20
"""Channels of a project."""
LONGEST_NAME = 60
TESTS_AN_HOUR = 30
"""Of a project: a test is a message that somebody sends at will."""
TESTED = "channel_tested"


class NoSuchChannel(Missing):
    """There is no such channel, or you do not have access to it."""


class ChannelNameTaken(Conflict):
    """Another channel here has this name. Choose another one, or delete that channel."""

    field = "name"


class TooManyChannels(Limited):
    """There are too many channels here. Delete some; one channel can be used by many rules."""


class TooManyTests(Limited):
    """Too many tests were sent from here within an hour. Wait a while."""

    retry_after = 600


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """Without its address."""

    id: str
    project_id: str | None
    """None: of the installation."""
    name: str
    kind: str
    shown: str
    quiet: dict[str, Any] | None
    digest: dict[str, Any] | None
    created_at: float
    created_by: str
    tested_at: float | None
    test_result: str | None
    failing_since: float | None
    last_error: str | None


class Address(msgspec.Struct, frozen=True):
    """An address that was looked at, ready to be stored."""

    text: str
    kind: str
    shown: str


class Opened(msgspec.Struct, frozen=True):
    """For sending alone."""

    address: str
    secret: str


def address_of(text: str, service: str = "") -> Address:
    return Address(text, services.kind_of(text), services.masked(text, service))


def create(
    connection: Connection,
    actor: Actor,
    cipher: Cipher,
    project_id: str | None,
    name: str,
    address: Address,
    *,
    quiet: object = None,
    digest: object = None,
) -> tuple[Channel, str | None]:
    """The channel, and the secret of a webhook, which is shown now and never again."""
    scope = scope_of(project_id)
    count = select(func.count()).where(channels.c.scope == scope)
    if (connection.scalar(count) or 0) >= MOST:
        raise TooManyChannels
    secret = new_secret() if address.kind == "webhook" else None
    made = Channel(
        id=new_id(),
        project_id=project_id,
        name=_name(name),
        kind=address.kind,
        shown=address.shown,
        quiet=_quiet(quiet),
        digest=_digest(digest),
        created_at=time.time(),
        created_by=actor.label,
        tested_at=None,
        test_result=None,
        failing_since=None,
        last_error=None,
    )
    _require_free(connection, scope, made.name)
    connection.execute(
        insert(channels).values(
            **msgspec.structs.asdict(made),
            scope=scope,
            address=cipher.encrypt(address.text.encode()),
            secret=None if secret is None else cipher.encrypt(secret.encode()),
        )
    )
    _note(connection, actor, made, "channel_created", kind=made.kind, address=made.shown)
    return made, secret


def of_scope(connection: Connection, project_id: str | None) -> list[Channel]:
    query = select(channels).where(channels.c.scope == scope_of(project_id))
    return [record(Channel, row) for row in connection.execute(query.order_by(channels.c.name))]


def find(connection: Connection, channel_id: str) -> Channel:
    row = connection.execute(select(channels).where(channels.c.id == channel_id)).first()
    if row is None:
        raise NoSuchChannel
    return record(Channel, row)


def change(
    connection: Connection,
    actor: Actor,
    cipher: Cipher,
    channel: Channel,
    *,
    name: str | None,
    address: Address | None,
    rotate_secret: bool,
    **held: object,
) -> tuple[Channel, str | None]:
    """`held`: quiet and digest, where they change; None takes them away."""
    values: dict[str, Any] = {}
    secret = None
    if name is not None and name != channel.name:
        values["name"] = _name(name)
        _require_free(connection, scope_of(channel.project_id), values["name"])
    if address is not None:
        values |= {"address": cipher.encrypt(address.text.encode()), "kind": address.kind}
        values |= {"shown": address.shown, "failing_since": None, "last_error": None}
        values |= {"tested_at": None, "test_result": None}
    kind = values.get("kind", channel.kind)
    if rotate_secret and kind != "webhook":
        raise Invalid("Only a webhook has a secret.", field="rotate_secret")
    if rotate_secret or kind != channel.kind:
        secret = new_secret() if kind == "webhook" else None
        values["secret"] = None if secret is None else cipher.encrypt(secret.encode())
    if "quiet" in held:
        values["quiet"] = _quiet(held["quiet"])
    if "digest" in held:
        values["digest"] = _digest(held["digest"])
    if values:
        connection.execute(update(channels).where(channels.c.id == channel.id).values(**values))
        changed = find(connection, channel.id)
        what = sorted(set(values) & {"name", "address", "secret", "quiet", "digest"})
        _note(connection, actor, changed, "channel_changed", changed=what, address=changed.shown)
        return changed, secret
    return channel, None


def remove(connection: Connection, actor: Actor, channel: Channel) -> None:
    """With what it was still to be told."""
    connection.execute(delete(channels).where(channels.c.id == channel.id))
    _note(connection, actor, channel, "channel_deleted", address=channel.shown)


def opened(connection: Connection, cipher: Cipher, channel_id: str) -> Opened:
    columns = (channels.c.address, channels.c.secret)
    row = connection.execute(select(*columns).where(channels.c.id == channel_id)).first()
    if row is None:
        raise NoSuchChannel
    secret = "" if row.secret is None else cipher.decrypt(row.secret).decode()
    return Opened(cipher.decrypt(row.address).decode(), secret)


def begin_test(connection: Connection, actor: Actor, channel: Channel) -> None:
    """Counted before it is sent."""
    since = steady.ago(connection, 3600)
    mine = audit_log.c.project_id.is_not_distinct_from(channel.project_id)
    lately = (mine, audit_log.c.action == TESTED, audit_log.c.at > since)
    if (connection.scalar(select(func.count()).where(*lately)) or 0) >= TESTS_AN_HOUR:
        raise TooManyTests
    _note(connection, actor, channel, TESTED)


def end_test(connection: Connection, channel: Channel, *, arrived: bool, message: str) -> None:
    values: dict[str, Any] = {"tested_at": time.time(), "test_result": message}
    if arrived:
        values |= {"failing_since": None, "last_error": None}
    connection.execute(update(channels).where(channels.c.id == channel.id).values(**values))


def encrypt_again(connection: Connection, cipher: Cipher) -> int:
    """Encrypt every address and secret with the newest key; how many channels there are."""
    rows = connection.execute(select(channels).with_for_update()).all()
    for row in rows:
        values = {"address": cipher.encrypt(cipher.decrypt(row.address))}
        if row.secret is not None:
            values["secret"] = cipher.encrypt(cipher.decrypt(row.secret))
        connection.execute(update(channels).where(channels.c.id == row.id).values(**values))
    return len(rows)


def _name(name: str) -> str:
    plain = name.strip()
    if not 1 <= len(plain) <= LONGEST_NAME:
        raise Invalid(f"`name` must have 1 to {LONGEST_NAME} characters.", field="name")
    plain_names.require(plain, "name")
    return plain


def _require_free(connection: Connection, scope: str, name: str) -> None:
    here = (channels.c.scope == scope, channels.c.name == name)
    if connection.execute(select(channels.c.id).where(*here)).first() is not None:
        raise ChannelNameTaken


def _quiet(value: object) -> dict[str, Any] | None:
    found = holding.read_quiet(value)
    return None if found is None else found.written()


def _digest(value: object) -> dict[str, Any] | None:
    found = holding.read_digest(value)
    return None if found is None else found.written()


def _note(
    connection: Connection, actor: Actor, channel: Channel, action: str, **details: Any
) -> None:
    subject, project = f"channel:{channel.id}", channel.project_id
    audit.record(
        connection, actor, action, subject, project_id=project, name=channel.name, **details
    )
