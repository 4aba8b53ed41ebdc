"""Copies SQLite's log of commits into the database file, in its own thread and connection.

The connection stays open: opened by its name again and again, it might one day find another file
there, which somebody restored, and copy a log into it that is not its own.
"""

import asyncio
import sqlite3
from pathlib import Path

from tapeline.thread_pools import threads


class LogCopier:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        self._thread = threads(1, "log copier")

    async def copy(self) -> None:
        """Neither the writer nor readers wait for it. SQLite syncs the log before and the database
        afterwards, as it does in a commit."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._copy)

    def close(self) -> None:
        self._thread.submit(self._let_go).result()
        self._thread.shutdown()

    def _copy(self) -> None:
        try:
            self._opened().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error:
            self._let_go()  # after an outage, a new one knows what the disk is like
            raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            file = f"{self._file.absolute().as_uri()}?mode=rw"  # never a new one
            self._connection = sqlite3.connect(file, uri=True, isolation_level=None)
            self._connection.execute("PRAGMA synchronous=FULL")
        return self._connection

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
