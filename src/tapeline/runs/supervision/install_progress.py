"""Writes the progress of an installation to the model's log. Called from engine threads."""

import time
from collections.abc import Callable

from sqlalchemy import Connection

from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.journals.records import Record
from tapeline.runs.supervision import collecting
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.install_places import MOST, PER_PROJECT, PER_TENANT, SLICE
from tapeline.store.store import Store

WAITING = (
    f"Queued: it is waiting for its turn to install. A project can have {PER_PROJECT} installations"
    f" at a time, all projects of one tenant {PER_TENANT}, and this host {MOST}."
)
PUT_BACK = (
    "Queued again: it was installing for {minutes:g} min or more while others waited. The next try"
    " starts from the beginning and has twice as long."
)


class InstallProgress:
    def __init__(self, store: Store, collector: Collector, run_id: str) -> None:
        self._store = store
        self._collector = collector
        self._run_id = run_id
        self._last = ""
        self._is_cancelled = self._is_put_back = False

    def cancel(self) -> None:
        self._is_cancelled = True

    def put_back(self) -> None:
        """End this try; there will be another."""
        self._is_put_back = True

    def is_cancelled(self) -> bool:
        return self._is_cancelled or self._is_put_back

    def begins_again(self) -> bool:
        """Whether it ended only because it was put back."""
        again, self._is_put_back = self._is_put_back and not self._is_cancelled, False
        return again

    def waiting(self, slices: int) -> None:
        """`slices` is how often it was put back."""
        said = PUT_BACK.format(minutes=SLICE * 2 ** (slices - 1) / 60) if slices else WAITING
        self._update(lambda update: update.line(said, "system", time.time()))

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
