"""Changes after the fact of prices, positions and cash. No store here."""

from typing import Any

from tapeline.results.changes.change import About, Change, FieldChange, Report, Sort
from tapeline.results.rules import fills
from tapeline.results.rules.fills import Fill
from tapeline.tape.events import kinds
from tapeline.tape.events.kinds import Kind

ABOUT: dict[Kind, About] = {
    kinds.MARK_PRICE: "price",
    kinds.CASH: "cash",
    kinds.POSITION: "position",
}
SHOWN = {
    kinds.MARK_PRICE: ("price",),
    kinds.CASH: ("type", "amount", "currency"),
    kinds.POSITION: ("size", "average_price"),
}

NEEDED: dict[Kind, dict[str, Any]] = {
    kinds.MARK_PRICE: {"symbol": str, "price": int | float},
    kinds.CASH: {"type": str, "amount": int | float},
    kinds.POSITION: {"symbol": str, "size": int | float},
}


def out_of_time(one: Report, late_after: float) -> Change | None:
    """Of a price, a position or cash that arrived long after its own time, or long before it."""
    behind = one.received_at - one.time
    if abs(behind) <= late_after:
        return None
    return _change(one, "late" if behind > 0 else "early", one.time, {}, one.fields)


def is_readable(one: Report) -> bool:
    """False where a record hides what it is about: every order has an id."""
    needed = {"id": str} if one.kind in kinds.ABOUT_ORDERS else NEEDED.get(one.kind, {})
    return all(isinstance(one.fields.get(name), type_) for name, type_ in needed.items())


def entry(one: Report) -> Fill:
    """As the books have it."""
    said = one.fields
    if one.kind is kinds.MARK_PRICE:
        return fills.mark(said["symbol"], said["price"], one.time, one.seq, said.get("source"))
    return (fills.opening if one.kind is kinds.POSITION else fills.cash)(said, one.time, one.seq)


class CashFold:
    """All that was sent under one id: of several the newest by its own time counts."""

    def __init__(self, late_after: float) -> None:
        self._late_after = late_after
        self._now: Report | None = None
        self._first: Report | None = None
        self._fact = float("inf")

    def take(self, one: Report) -> list[Change]:
        """What it changed after the fact."""
        before, self._now = self._now, _newest(self._now, one)
        self._fact = min(self._fact, one.time, one.received_at)
        if one.received_at - self._fact <= self._late_after:
            self._first = _newest(self._first, one)
        if before is not None:
            return [_change(one, "replaced", self._fact, before.fields, self._now.fields)]
        found = out_of_time(one, self._late_after)
        return [] if found is None else [found]

    @property
    def now(self) -> Fill:
        assert self._now is not None
        return entry(self._now)

    @property
    def first(self) -> Fill | None:
        """As first reported; what is dated into the future counts from its arrival."""
        if self._first is None:
            return None
        return in_time(entry(self._first), self._first, self._late_after)


def in_time(fill: Fill, one: Report, late_after: float) -> Fill:
    """What is dated into the future counts from its arrival, as long as nobody knows better."""
    is_early = one.time - one.received_at > late_after
    return fill._replace(time=one.received_at) if is_early else fill


def _newest(known: Report | None, one: Report) -> Report:
    return one if known is None else max(known, one, key=lambda it: (it.time, it.seq))


def _change(
    one: Report, sort: Sort, fact: float, before: dict[str, Any], after: dict[str, Any]
) -> Change:
    fields = [
        FieldChange(name, before.get(name), after.get(name))
        for name in SHOWN[one.kind]
        if before.get(name) != after.get(name)
    ]
    id_, symbol = one.fields.get("id"), one.fields.get("symbol")
    return Change(
        seq=one.seq,
        received_at=one.received_at,
        about=ABOUT[one.kind],
        sort=sort,
        id=id_ if isinstance(id_, str) else None,
        symbol=symbol if isinstance(symbol, str) and symbol else None,
        time=fact,
        late_by=max(0.0, one.received_at - fact),
        fields=fields,
    )
