"""Whether an event would be stored now: the same question that /readyz answers."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red

FIX = (
    "Bring back the disk or the database; the server recovers without a restart. Clients are told"
    " to send again, so nothing that was acknowledged is lost."
)


def look(parts: Parts) -> Verdict:
    if parts.not_stored:
        return red(parts.not_stored, FIX)
    kind = "SQLite" if parts.store.database.file is not None else "PostgreSQL"
    return green(f"{kind} takes events.")
