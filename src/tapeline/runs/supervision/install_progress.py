"""Writes the progress of an installation to the model's log. Called from engine threads."""

import time
from collections.abc import Callable

from sqlalchemy import Connection

from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.journals.records import Record
from tapeline.runs.supervision import collecting
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.install_places import MOST, PER_OWNER, PER_PROJECT
from tapeline.store.store import Store

WAITING = (
    f"Queued: it is waiting for its turn to install. A project can have {PER_PROJECT} installations"
    f" at a time, all projects of one owner {PER_OWNER}, and this host {MOST}."
)


class InstallProgress:
    def __init__(self, store: Store, collector: Collector, run_id: str) -> None:
        self._store = store
        self._collector = collector
        self._run_id = run_id
        self._last = ""
        self._is_cancelled = False

    def cancel(self) -> None:
        self._is_cancelled = True

    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def waiting(self) -> None:
        self._update(lambda update: update.line(WAITING, "system", time.time()))

    def installing(self) -> None:
        self._update(lambda update: update.lifecycle("Installing Dependencies", time.time()))

    def because(self, reason: str) -> None:
        """Why it failed, unless the installer's last line says so."""
        if reason != self._last:
            self._update(lambda update: update.line(reason, "system", time.time()))

    def lines(self, records: list[Record]) -> None:
        self._last = next((one.text for one in reversed(records) if one.text.strip()), self._last)

        def fill(update: RunUpdate) -> None:
            for one in records:
                if one.kind != "state":
                    update.line(one.text, one.kind, one.time)

        self._update(fill)

    def _update(self, fill: Callable[[RunUpdate], None]) -> None:
        def job(connection: Connection) -> collecting.Taken:
            return collecting.write(connection, self._collector.appender, self._run_id, fill)

        self._collector.announce(self._store.write_now(job))
