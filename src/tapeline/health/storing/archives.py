"""Whether the archives of versions are where this server looks for them."""

from sqlalchemy import Connection, select

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red
from tapeline.store.blobs import Blobs
from tapeline.store.tables.runs import versions

LOOKED_AT = 200  # the names are hashes, so the first ones are as good as any
FIX = (
    "Put the folder blobs back from a backup. Servers that share a database must share it too:"
    " the same folder or bucket in the setting `blobs` of each."
)


def look(parts: Parts) -> Verdict:
    if parts.blobs.is_remote:
        return green("Archives are in object storage.")
    absent, of = parts.store.read_now(absent_of, parts.blobs)
    if not absent:
        return green("The archives of versions are there.")
    return red(sentence(absent, of), FIX)


def sentence(absent: int, of: int) -> str:
    return (
        f"{absent:,} of {of:,} archives that were looked for are not on this server. Their versions"
        " cannot start here."
    )


def absent_of(connection: Connection, blobs: Blobs) -> tuple[int, int]:
    """How many are not there, of how many that were looked for."""
    query = select(versions.c.archive).distinct().order_by(versions.c.archive).limit(LOOKED_AT)
    names = list(connection.scalars(query))
    return sum(not blobs.exists(name) for name in names), len(names)
