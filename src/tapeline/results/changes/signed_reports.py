"""The part of a record that counts as signed: events wait here until a signature covers them."""

from typing import Any

from tapeline.results.changes.of_record import RecordReports
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent

_NEVER_COUNT = {kind.number for kind in (kinds.LOG, kinds.BACKTEST_LOG, kinds.EVENT)}


class SignedReports:
    """Anyone could have added the events after the last signature, so they are never handed on."""

    def __init__(self, reports: RecordReports) -> None:
        self._reports = reports
        self._waiting: list[tuple[StoredEvent, dict[str, Any] | None, int]] = []

    def take(self, record: StoredEvent, fields: dict[str, Any] | None, hidden: int) -> None:
        if record.kind not in _NEVER_COUNT:
            self._waiting.append((record, fields, hidden))

    def signed(self) -> None:
        for one in self._waiting:
            self._reports.take(*one)
        self._waiting.clear()
