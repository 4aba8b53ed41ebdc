"""Counts views: each visitor once a day, without knowing who they are.

A visitor is a hash of address and browser with a key that is not in the database, valid for one
link and one day; it is deleted the day after.
"""

import time

from sqlalchemy import Connection, delete, func, literal, select, update

from tapeline.sharing.links.links import Share
from tapeline.store import upsert
from tapeline.store.encryption import Cipher
from tapeline.store.tables.shares import share_visits, shares

DAY = 86_400
MOST_A_DAY = 10_000  # visitors of one link that are counted


def visitor(cipher: Cipher, share: Share, address: str, agent: str) -> str:
    words = f"share visit\n{share.id}\n{_today()}\n{address}\n{agent}"
    return cipher.fingerprints(words.encode("utf-8", "surrogatepass"))[0][:32]


def is_counted(connection: Connection, share: Share, who: str) -> bool:
    here = (share_visits.c.share_id == share.id, share_visits.c.day == _today())
    query = select(literal(1)).where(*here, share_visits.c.visitor == who)
    return connection.scalar(query) is not None


def count(connection: Connection, share: Share, who: str) -> None:
    if connection.scalar(select(shares.c.id).where(shares.c.id == share.id)) is None:
        return  # revoked in this very moment
    today = _today()
    old = (share_visits.c.share_id == share.id, share_visits.c.day < today)
    connection.execute(delete(share_visits).where(*old))
    if _are_enough(connection, share, today):
        return
    if upsert.claim(connection, share_visits, share_id=share.id, day=today, visitor=who):
        seen = {"views": shares.c.views + 1, "last_viewed_at": time.time()}
        connection.execute(update(shares).where(shares.c.id == share.id).values(**seen))


def _are_enough(connection: Connection, share: Share, today: int) -> bool:
    """One program can imitate any number of browsers, so the number of visitors that we store is
    limited."""
    here = (share_visits.c.share_id == share.id, share_visits.c.day == today)
    some = select(literal(1)).where(*here).limit(MOST_A_DAY).subquery()
    return (connection.scalar(select(func.count()).select_from(some)) or 0) >= MOST_A_DAY


def _today() -> int:
    return int(time.time()) // DAY
