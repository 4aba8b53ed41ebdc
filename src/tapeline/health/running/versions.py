"""Which versions run here, to compare with a report or with another server."""

import platform
import sqlite3

from tapeline import __version__
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green
from tapeline.store import migrate


def look(parts: Parts) -> Verdict:
    database = parts.store.database
    if database.file is not None:
        kind = f"SQLite {sqlite3.sqlite_version}"
    else:
        with database.reading.connect() as connection:
            number = connection.dialect.server_version_info or ()
        kind = f"PostgreSQL {'.'.join(map(str, number))}"
    return green(
        f"Tapeline {__version__}, Python {platform.python_version()}, {kind},"
        f" tables of revision {migrate.head()}, Linux {platform.release()}."
    )
