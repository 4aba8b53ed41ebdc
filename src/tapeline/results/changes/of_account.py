"""Changes after the fact of prices, positions, cash and a model's own figures. No store here."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeline.results.changes.change import About, Change, FieldChange, Report
from tapeline.results.rules import fills
from tapeline.results.rules.fills import Fill
from tapeline.tape.cash import CashState, replaced
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


class CashHistory(NamedTuple):
    """All that was sent under one id."""

    changes: list[Change]
    now: Fill
    first: Fill | None


def late(one: Report) -> Change | None:
    """Of a price, a position or cash: None if it arrived at its own time or before."""
    behind = one.received_at - one.time
    return None if behind <= 0 else _change(one, "late", one.time, {}, one.fields)


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


def cash_history(reports: Sequence[Report], late_after: float) -> CashHistory:
    """`reports`: all cash of one id, in the order of its arrival."""
    changes: list[Change] = []
    now: CashState | None = None
    first: CashState | None = None
    fact = float("inf")
    for one in reports:
        said = CashState(one.fields, one.time, one.seq, [str(one.seq)])
        before, now = now, replaced(now, said)
        assert now is not None
        fact = min(fact, one.time, one.received_at)
        if before is None:
            changes += [found] if (found := late(one)) is not None else []
        else:
            changes.append(_change(one, "replaced", fact, before.body, now.body))
        if one.received_at - fact <= late_after:
            first = replaced(first, said)
    assert now is not None
    return CashHistory(changes, _cash(now), None if first is None else _cash(first))


class OwnFigures:
    """The model's own profit and loss, which replaces what is computed.

    `set-pnl` sends the whole series each time: a change is a value that is new, different or gone
    for a time that is past."""

    def __init__(self, late_after: float) -> None:
        self.changes: list[Change] = []
        self.since: float | None = None
        """When the first of them arrived."""
        self.off_since: float | None = None
        """When the model turned off what is computed, if it is off now."""
        self._late_after = late_after
        self._known: dict[float, float | None] = {}
        self._first: dict[float, float | None] = {}

    @property
    def weight(self) -> int:
        return len(self._known) + len(self._first)

    @property
    def first(self) -> float | None:
        """The last value that was reported in time, as it was first said."""
        return self._first[max(self._first)] if self._first else None

    @property
    def has_values(self) -> bool:
        return bool(self._known)

    @property
    def now(self) -> float | None:
        return self._known[max(self._known)] if self._known else None

    def take(self, one: Report) -> None:
        if one.kind is kinds.AUTO_PNL:
            is_off = not one.fields.get("enabled", True)
            self.off_since = (self.off_since or one.received_at) if is_off else None
            return
        self.since = one.received_at if self.since is None else self.since
        said = {point["time"]: point.get("value") for point in one.fields.get("values", [])}
        known, behind = self._known, one.received_at - self._late_after
        touched = [at for at in said.keys() | known.keys() if _differs(said, known, at)]
        past = [at for at in touched if at < behind]
        if past:
            self.changes.append(_of_figures(one, min(past), len(past)))
        self._known = said
        for at, value in said.items():
            if at >= behind:
                self._first.setdefault(at, value)


def _differs(said: dict[float, float | None], known: dict[float, float | None], at: float) -> bool:
    return (at in said, said.get(at)) != (at in known, known.get(at))


def _of_figures(one: Report, earliest: float, count: int) -> Change:
    return Change(
        seq=one.seq,
        received_at=one.received_at,
        about="own_figures",
        sort="changed",
        time=earliest,
        late_by=one.received_at - earliest,
        fields=[FieldChange("values", None, float(count))],
    )


def _cash(state: CashState) -> Fill:
    return fills.cash(state.body, state.time, state.seq)


def _change(
    one: Report, sort: Any, fact: float, before: dict[str, Any], after: dict[str, Any]
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
        late_by=one.received_at - fact,
        fields=fields,
    )
