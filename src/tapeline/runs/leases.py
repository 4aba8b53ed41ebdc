"""Leases: how long a run may live on its node without a renewal, by the database's clock.

The holder is the run's `host` and the epoch its `fence`. A node that is cut off cannot renew, and
its shims end their models `MARGIN` before the lease does; nobody takes a run over before `MARGIN`
after it. Runs of an engine that knows one machine have no lease.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, case, or_, select, update

from tapeline.runs.described_hosts import NOT_IN_RAY
from tapeline.store.backends import common_time
from tapeline.store.tables.runs import hosts, runs

MARGIN = 1.0  # seconds


class Lapsed(NamedTuple):
    run_id: str
    fence: int
    until: float
    """Together they are one lease as it was last renewed."""


def granted(connection: Connection, seconds: float | None) -> float | None:
    """The end of a lease that begins now; None is no lease.

    For a launch that is not there yet. Its node counts from a renewal of its own, because it does
    not know when this was.
    """
    return None if seconds is None else common_time.now(connection) + seconds


def renew(
    connection: Connection,
    host: str,
    fences: Mapping[str, int],
    seconds: float,
    left: float = 0.0,
) -> set[str]:
    """Those of the host's runs whose leases go on from now, for so many seconds; two statements,
    however many the node names. Shims never shorten what they were given, when leases were longer:
    the node says how many seconds these have `left`, and is believed as far as the row goes.

    Not a run that was started anew or elsewhere, that has ended, or whose lease has run out: that
    is final, and somebody may be about to take it over. Nor a run that is to stop on a node that
    nobody can tell so: it ends with its lease.
    """
    if not fences:
        return set()
    now = common_time.now(connection)
    out_of_reach = (hosts.c.name == host, hosts.c.trouble == NOT_IN_RAY)
    held = (
        select(runs.c.id, runs.c.fence)
        .where(
            runs.c.host == host,
            runs.c.ended_at.is_(None),
            runs.c.lease_until > now,
            or_(runs.c.desired != "stopped", ~select(hosts.c.name).where(*out_of_reach).exists()),
        )
        .order_by(runs.c.id)  # two requests never wait for each other
        .with_for_update()
    )
    wanted = [row.id for row in connection.execute(held) if fences.get(row.id) == row.fence]
    longer = case((runs.c.lease_until < now + left, runs.c.lease_until), else_=now + left)
    until = case((longer > now + seconds, longer), else_=now + seconds)
    changed = update(runs).where(runs.c.id.in_(wanted), runs.c.lease_until > now)
    return set(connection.scalars(changed.values(lease_until=until).returning(runs.c.id)))


def expired(connection: Connection) -> list[Lapsed]:
    """Runs that somebody else may take over, if they have not been renewed since."""
    query = (
        select(runs.c.id, runs.c.fence, runs.c.lease_until)
        .where(
            runs.c.ended_at.is_(None),
            runs.c.fence.is_not(None),
            runs.c.lease_until < common_time.now(connection) - MARGIN,
        )
        .order_by(runs.c.created_at, runs.c.id)
    )
    return [Lapsed(*row) for row in connection.execute(query)]
