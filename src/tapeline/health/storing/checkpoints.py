"""When a tape was last signed. Tapes are signed as events arrive, so this is for information."""

from sqlalchemy import Connection, Row, func, select

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, duration, green
from tapeline.store.tables.tape import tapes


def look(parts: Parts) -> Verdict:
    row = parts.store.read_now(_newest)
    if not row.newest:
        return green("No tape has an event yet.")
    ago = parts.store.clock.age(row.newest)
    return green(
        f"The newest signature of {row.tapes:,} tapes is {duration(ago)} old.",
        checkpoint_age_seconds=ago,
    )


def _newest(connection: Connection) -> "Row[tuple[float | None, int]]":
    query = select(func.max(tapes.c.signed_at).label("newest"), func.count().label("tapes"))
    return connection.execute(query).one()
