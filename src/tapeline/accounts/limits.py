"""Counting attempts, in the store: the count holds over restarts and for all servers together."""

import time

from sqlalchemy import Connection, delete, select

from tapeline.errors import TooManyAttempts
from tapeline.ids import fingerprint
from tapeline.store import upsert
from tapeline.store.tables import attempts

WINDOW_SECONDS = 15 * 60


def count(connection: Connection, what: str, who: str, allowed: int) -> None:
    """One more attempt by `who`; too many in the window are refused until it is over.

    Call it in a job of its own: what fails later in the same job would undo the count too.
    """
    now = time.time()
    connection.execute(delete(attempts).where(attempts.c.since < now - WINDOW_SECONDS))
    insert = upsert.insert(connection, attempts).values(name=_name(what, who), since=now, count=1)
    # A refusal is raised, which undoes this attempt's own increment: hammering grows no number.
    since, counted = connection.execute(
        insert.on_conflict_do_update(
            index_elements=["name"], set_={"count": attempts.c.count + 1}
        ).returning(attempts.c.since, attempts.c.count)
    ).one()
    if counted > allowed:
        raise _too_many(since, now)


def refuse_if_over(connection: Connection, what: str, who: str, allowed: int) -> None:
    """For attempts of which only the failed ones count: no more tries once they are used up."""
    now = time.time()
    since = connection.scalar(
        select(attempts.c.since).where(
            attempts.c.name == _name(what, who),
            attempts.c.count >= allowed,
            attempts.c.since >= now - WINDOW_SECONDS,
        )
    )
    if since is not None:
        raise _too_many(since, now)


def forget(connection: Connection, what: str, who: str) -> None:
    """Success: earlier slips of the same person count no more."""
    connection.execute(delete(attempts).where(attempts.c.name == _name(what, who)))


def _too_many(since: float, now: float) -> TooManyAttempts:
    wait = max(1, round(since + WINDOW_SECONDS - now))
    minutes = max(1, round(wait / 60))
    return TooManyAttempts(
        f"Too many attempts. Try again in {minutes} minute{'s' if minutes > 1 else ''}.",
        retry_after=wait,
    )


def _name(what: str, who: str) -> str:
    # Hashed: an address somebody mistyped, perhaps with the password in it, is nobody's to read.
    return f"{what}:{fingerprint(who)}"
