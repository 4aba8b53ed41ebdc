"""Sign-ins of the last hours from an address that the account had not used before."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from tapeline.store.tables.core import audit, members, sign_ins
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
    since = now - max((longest(asked) for asked in gathering.wanted.values()), default=0.0)
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
    known = set(connection.scalars(before))
    return bool(known) and row.address not in known


def _concerns(connection: Connection, subject: Subject, user: str) -> bool:
    if subject.kind != "project":
        return True
    query = select(members.c.user_id).where(
        members.c.project_id == subject.id, members.c.user_id == user
    )
    return connection.scalar(query) is not None


SIGN_INS = Fact(name="sign_ins", gather=gather, every=2.0)
