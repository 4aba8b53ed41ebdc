"""Changes after the fact in a record, offline: `tapeline verify` hands every shown event here."""

from collections.abc import Iterator
from typing import Any

import msgspec

from tapeline.results.changes import of_account
from tapeline.results.changes.change import COUNTING, Report
from tapeline.results.changes.figures import Figures, TapeInMemory, assessed, in_memory
from tapeline.results.changes.folding import Folded, Named, Reports, Standing
from tapeline.results.changes.of_orders import OrderFold
from tapeline.results.pnl import account, model_currency
from tapeline.results.pnl.all_books import computed
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent

LATE_AFTER = 300.0  # seconds: as the setting `late_seconds`


class RecordReports:
    """Everything in a record that counts. A field that the record hides is not there."""

    def __init__(self, late_after: float = LATE_AFTER) -> None:
        self.hidden = 0
        """Reports that cannot be followed, because the record hides what they are about."""
        self._late_after = late_after
        self._reports = Reports(late_after)
        self._orders: dict[str, OrderFold] = {}
        self._singles: list[Report] = []
        self._settings: dict[str, Any] = {"positions": "signed"}
        self._asset = ""
        self._arrivals: dict[int, float] = {}

    def take(self, record: StoredEvent, fields: dict[str, Any] | None, hidden: int) -> None:
        """`fields`: the shown ones of an event that is sealed field by field, and how many are not
        shown."""
        if record.kind == kinds.ACCOUNT_SETTINGS.number:
            said = msgspec.json.decode(record.body) if fields is None else fields
            self._settings |= said
            self._reports.take(self._report(record, said))
        elif record.kind == kinds.BACKTEST_RESULT.number:
            self._asset = model_currency.quote_asset(record.body)
            self._reports.take(self._report(record, {"quote_asset": self._asset}))
        elif record.kind in COUNTING:
            said = msgspec.json.decode(record.body) if fields is None else fields
            one = self._report(record, said)
            self._take(one)
            # Hidden cash may have an id, under which it replaces other cash.
            is_cash = one.kind is kinds.CASH and hidden > 0
            self.hidden += is_cash or not of_account.is_readable(one)

    def folded(self) -> Folded:
        standings = {name: Standing.of(one.history()) for name, one in self._orders.items()}
        return self._reports.folded(
            {name: one for name, one in standings.items() if one is not None}
        )

    def assessed(self, *, is_partial: bool = False) -> tuple[Folded, Figures | None]:
        """No figures where something is hidden that they are made of, or may be. `is_partial`:
        whether the record does not show every event."""
        folded = self.folded()
        if self.hidden or is_partial:
            return folded, None
        settings = account.from_words(self._settings)
        long_only, entries = settings.long_only, list(self._entries())
        books = computed(entries, long_only=long_only).books
        totals = model_currency.totals_of(books)
        quote = model_currency.decided(self._asset, totals, settings.capital)
        now = in_memory(folded, entries, books, quote, long_only=long_only)
        return assessed(folded, now, TapeInMemory(entries, self._arrivals.__getitem__))

    def _report(self, record: StoredEvent, fields: dict[str, Any]) -> Report:
        kind = kinds.BY_NUMBER[record.kind]
        if kind is kinds.POSITION or kind in kinds.ABOUT_ORDERS:
            self._arrivals[record.seq] = record.received_at
        return Report(record.seq, kind, record.time, record.received_at, fields)

    def _take(self, one: Report) -> None:
        if one.kind in kinds.ABOUT_ORDERS:
            self._take_order(one)
            return
        self._reports.take(one)
        is_single = one.kind in of_account.ABOUT and "id" not in one.fields
        if is_single and of_account.is_readable(one):
            self._singles.append(one)

    def _take_order(self, one: Report) -> None:
        # What cannot be followed is an order of its own, which still shows when it came late.
        name = str(one.fields.get("id", f"\0{one.seq}"))
        known = self._orders.get(name)
        if known is None:
            known = self._orders[name] = OrderFold(self._late_after)
        found = known.take(one)
        self._reports.listing.add([] if found is None else [found])
        if one.kind in kinds.ORDERS:
            self._reports.begin(one.received_at)
        self._reports.arrive(one.seq, one.received_at)

    def _entries(self) -> Iterator[Named]:
        for name, one in self._orders.items():
            yield from ((name, fill) for fill in one.history().now)
        yield from ((None, fill) for fill in self._reports.cash())
        yield from ((None, of_account.entry(one)) for one in self._singles)
