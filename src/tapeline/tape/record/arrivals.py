"""What a record says about when its events arrived, and which of them no signature covers."""

from typing import Any

from tapeline.tape.events import kinds
from tapeline.tape.lateness import DATED, late_by
from tapeline.tape.record.lines import Event
from tapeline.tape.record.outcome import Change, Checked, Late

SET_BACK = 60.0
"""Seconds: events that arrive at once may be stored in another order, within moments."""


class Arrivals:
    def __init__(self, found: Checked, late_after: float) -> None:
        self._found = found
        self._late_after = late_after
        self._cash: set[str] = set()
        self._newest = float("-inf")
        self._set_back: list[float] = []
        """By how many seconds, since the last signature."""

    def take(self, line: Event, kind: int, fields: dict[str, Any] | None) -> None:
        """`fields`: the shown ones of an event that is sealed field by field."""
        found, at = self._found, line.received_at
        late = late_by(line.time, at, self._late_after)
        if late is not None and kind in DATED:
            found.late.append(Late(line.seq, late, line.kind))
        if kind == kinds.CASH.number:
            self._take_cash(line.seq, (fields or {}).get("id"))
        elif kind == kinds.ACCOUNT_SETTINGS.number:
            found.changes.append(Change(line.seq, at, fields or {}))
        if at < self._newest - SET_BACK:
            self._set_back.append(self._newest - at)
        self._newest = max(self._newest, at)
        if found.unsigned_from is None:
            found.unsigned_from = at
        found.unsigned_until = at

    def take_removed(self, removed: dict[str, int], received_at: float) -> None:
        found = self._found
        for kind, count in removed.items():
            found.removed[kind] = found.removed.get(kind, 0) + count
        found.removed_until = max(found.removed_until, received_at)

    def signed(self) -> None:
        """A signature covers all events so far."""
        found = self._found
        found.unsigned_from = found.unsigned_until = None
        found.set_back += len(self._set_back)
        found.set_back_by = max(found.set_back_by, *self._set_back, 0.0)
        self._set_back.clear()

    def end(self) -> None:
        """Forget what events say that no signature covers: anyone could have added them."""
        found = self._found
        signed = 0 if found.last is None else found.last.seq
        found.unsigned = found.events - signed
        if found.unsigned:
            found.late = [one for one in found.late if one.seq <= signed]
            found.replaced = [seq for seq in found.replaced if seq <= signed]
            found.changes = [one for one in found.changes if one.seq <= signed]

    def _take_cash(self, seq: int, cash_id: Any) -> None:
        if isinstance(cash_id, str):
            if cash_id in self._cash:
                self._found.replaced.append(seq)
            self._cash.add(cash_id)
