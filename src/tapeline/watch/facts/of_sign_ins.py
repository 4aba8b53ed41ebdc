"""Sign-ins, and uses of keys, of the last hours from an address that was new for them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from tapeline.accounts.limits import network_of
from tapeline.store.tables.core import audit, key_addresses, keys, members, sign_ins
from tapeline.watch.facts.fact import Fact, Gathering, Subject
from tapeline.watch.facts.of_orders import longest

MOST = 500  # entries of the audit log that are looked at, the newest
REMEMBERED = 90 * 86_400.0  # seconds for which an address stays known, as for wrong passwords
SIGNED_IN = "signed_in"


class Arrival(NamedTuple):
    at: float
    who: str
    address: str


def gather(gathering: Gathering) -> Mapping[str, list[Arrival]]:
    """Newest first."""
    connection, now = gathering.connection, gathering.now
    since = now - max(map(longest, gathering.wanted.values()), default=0.0)
    query = select(audit).order_by(audit.c.seq.desc()).limit(MOST)
    rows = [
        row
        for row in connection.execute(query)
        if row.at >= since and row.action == SIGNED_IN and row.actor_id is not None
    ]
    strange = [
        (row.actor_id, Arrival(row.at, row.actor, row.address))
        for row in rows
        if _is_new(connection, row)
    ]
    return {
        subject.id: [one for user, one in strange if _concerns(connection, subject, user)]
        for subject in gathering.wanted
    }


def _is_new(connection: Connection, row: Any) -> bool:
    """Whether the account signed in before, and never from there."""
    before = select(sign_ins.c.address).where(
        sign_ins.c.user_id == row.actor_id,
        sign_ins.c.id != row.subject.removeprefix("sign_in:"),
        sign_ins.c.created_at <= row.at,
        sign_ins.c.created_at > row.at - REMEMBERED,
    )
    known = {network_of(address) for address in connection.scalars(before)}
    return bool(known) and network_of(row.address) not in known


def _concerns(connection: Connection, subject: Subject, user: str) -> bool:
    if subject.kind != "project":
        return True
    query = select(members.c.user_id).where(
        members.c.project_id == subject.id, members.c.user_id == user
    )
    return connection.scalar(query) is not None


def gather_keys(gathering: Gathering) -> Mapping[str, list[Arrival]]:
    """Keys that were used before, each from an address that was new since; newest first."""
    since = gathering.now - max(map(longest, gathering.wanted.values()), default=0.0)
    earlier = key_addresses.alias()
    known = select(earlier.c.key_id).where(
        earlier.c.key_id == key_addresses.c.key_id,
        earlier.c.first_at < key_addresses.c.first_at,
    )
    query = (
        select(
            key_addresses.c.first_at,
            key_addresses.c.address,
            keys.c.project_id,
            keys.c.name,
            keys.c.id,
        )
        .join(keys, keys.c.id == key_addresses.c.key_id)
        .where(key_addresses.c.first_at >= since, known.exists())
        .order_by(key_addresses.c.first_at.desc())
        .limit(MOST)
    )
    rows = gathering.connection.execute(query).all()
    return {
        subject.id: [
            Arrival(row.first_at, f"The key {row.name or row.id}", row.address)
            for row in rows
            if subject.kind != "project" or row.project_id == subject.id
        ]
        for subject in gathering.wanted
    }


SIGN_INS = Fact(name="sign_ins", gather=gather, every=2.0)
KEY_ADDRESSES = Fact(name="key_addresses", gather=gather_keys, every=2.0)
