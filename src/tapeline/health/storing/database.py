"""How large the database is, and whether its write-ahead log is being written back."""

from pathlib import Path

from sqlalchemy import Connection, text

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, size, yellow

LARGE_LOG = 1_000_000_000
HELD = (
    "Something reads for very long and keeps the log from being written back: end long exports"
    " and other programs that have the database open, or restart the server."
)


def look(parts: Parts) -> Verdict:
    file = parts.store.database.file
    if file is None:
        whole = parts.store.read_now(_size_on_postgres)
        return green(f"The database has {size(whole)}.", database_bytes=whole)
    return judged(_size(file), _size(file.with_name(f"{file.name}-wal")))


def judged(main: int, log: int) -> Verdict:
    says = f"The database has {size(main + log)}, {size(log)} of it in the write-ahead log."
    figures = {"database_bytes": float(main + log), "database_log_bytes": float(log)}
    return yellow(says, HELD, **figures) if log > LARGE_LOG else green(says, **figures)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # the log, before the first write
        return 0


def _size_on_postgres(connection: Connection) -> int:
    found: int = connection.scalar(text("select pg_database_size(current_database())")) or 0
    return found
