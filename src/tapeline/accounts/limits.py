"""Counts attempts in the store, so that counts survive restarts and all servers share them.

Nobody is locked out for good. Some attempts are free; after them, each has to wait longer than the
one before, and the count decreases with time. The memory that strangers can fill is bounded.
"""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any

from sqlalchemy import Connection, Select, delete, select, update

from tapeline.errors import TooManyAttempts
from tapeline.ids import fingerprint
from tapeline.store import upsert
from tapeline.store.backends import steady
from tapeline.store.tables.core import attempts

QUARTER, DAY = 15 * 60, 24 * 3600  # seconds
SHORTEST_WAIT, LONGEST_WAIT = 2.0, float(QUARTER)
STEEPEST = 20  # doublings: far beyond the longest wait
FINE = 1000  # counts are kept in thousandths, because they drain bit by bit
KEPT = 100_000  # counts of one kind
TRIMMED_ONCE_IN = 100  # attempts, on average
PREFIX = 64  # bits of an IPv6 address that belong to one subscriber, who may use all that follow


@dataclass(frozen=True)
class Counter:
    """Attempts of one kind by one party."""

    what: str
    who: str
    free: int
    """Attempts that need not wait."""
    drains_in: float = DAY
    """Seconds in which as many are forgotten."""
    advice: str = ""
    """What else a person who has to wait can do."""

    @property
    def name(self) -> str:
        # Hashed: a mistyped name may contain the password.
        return f"{self.what}:{fingerprint(self.who)}"

    def level(self, since: float, count: int, now: float) -> float:
        """How much of a count from `since` is left now."""
        return max(0.0, count / FINE - max(0.0, now - since) * self.free / self.drains_in)

    def wait(self, since: float, count: int, now: float) -> float:
        """Seconds until the next attempt may be made."""
        over = self.level(since, count, now) - (self.free - 1)
        if over <= 0:
            return 0.0
        doublings = min(STEEPEST, math.ceil(over)) - 1
        return since + min(LONGEST_WAIT, SHORTEST_WAIT * 2.0**doublings) - now


def count(connection: Connection, counters: Sequence[Counter]) -> None:
    """Count one more attempt for each of these, or refuse it without counting: repeated requests do
    not make the wait longer.

    Call it in its own job: a later failure in the same job would undo the count too.
    """
    now = steady.now(connection)
    for counter in counters:
        since, counted = _locked_count(connection, counter, now)
        _refuse(counter, counter.wait(since, counted, now))
        raised = round((counter.level(since, counted, now) + 1) * FINE)
        connection.execute(
            update(attempts)
            .where(attempts.c.name == counter.name)
            .values(since=now, count=min(raised, (counter.free + STEEPEST) * FINE))
        )
    if secrets.randbelow(TRIMMED_ONCE_IN) == 0:
        for what in {counter.what for counter in counters}:
            trim(connection, what, now)


def refuse_if_over(connection: Connection, counters: Sequence[Counter]) -> None:
    """The same check without counting. Strangers may repeat it at will, because a read delays no
    write."""
    now = steady.now(connection)
    for counter in counters:
        row = connection.execute(_row(counter)).first()
        if row is not None:
            since, counted = row
            _refuse(counter, counter.wait(since, counted, now))


def forget(connection: Connection, counter: Counter) -> None:
    """Success: the person's earlier mistakes no longer count."""
    connection.execute(delete(attempts).where(attempts.c.name == counter.name))


def take_back(connection: Connection, counter: Counter) -> None:
    """Success where others are counted too: this one attempt no longer counts."""
    connection.execute(
        update(attempts)
        .where(attempts.c.name == counter.name, attempts.c.count >= FINE)
        .values(count=attempts.c.count - FINE)
    )


def trim(connection: Connection, what: str, now: float) -> None:
    """Delete counts that have reached zero, and all but the newest of one kind. Each kind
    separately: a flood of one kind must not push out counts of another."""
    kind = (attempts.c.name >= f"{what}:", attempts.c.name < f"{what};")
    connection.execute(delete(attempts).where(attempts.c.since < now - DAY))
    oldest = connection.scalar(
        select(attempts.c.since)
        .where(*kind)
        .order_by(attempts.c.since.desc())
        .offset(KEPT)
        .limit(1)
    )
    if oldest is not None:
        connection.execute(delete(attempts).where(*kind, attempts.c.since <= oldest))


def network_of(address: str) -> str:
    """The network an address belongs to. A home or a server has a whole /64 of IPv6."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(known, IPv6Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return f"{IPv6Address(int(known) >> (128 - PREFIX) << (128 - PREFIX))}/{PREFIX}"


def _locked_count(connection: Connection, counter: Counter, now: float) -> tuple[float, int]:
    """The count, locked until the end of the job: servers that share a store count together."""
    new = upsert.insert(connection, attempts).values(name=counter.name, since=now, count=0)
    connection.execute(new.on_conflict_do_nothing(index_elements=["name"]))
    since, counted = connection.execute(_row(counter).with_for_update()).one()
    return since, counted


def _row(counter: Counter) -> Select[Any]:
    return select(attempts.c.since, attempts.c.count).where(attempts.c.name == counter.name)


def _refuse(counter: Counter, wait: float) -> None:
    if wait <= 0:
        return
    seconds = math.ceil(wait)
    size, unit = (seconds, "second") if seconds < 60 else (math.ceil(seconds / 60), "minute")
    said = f"Too many attempts. Try again in {size} {unit}{'' if size == 1 else 's'}."
    raise TooManyAttempts(f"{said} {counter.advice}".rstrip(), retry_after=seconds)
