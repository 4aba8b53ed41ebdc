"""Folds the reports about one order, as they arrive, into its changes after the fact. No store.

It follows the order twice: as it stands, with every report, and as it was first reported, without
those that came too late. The fact of a change is the earliest of the times that the touched fills
claim and of the arrival of their first report, so that a fill dated into the future hides nothing.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from tapeline.results.changes.change import About, Change, FieldChange, Report, Sort
from tapeline.results.changes.order_version import COUNTING, Step, Version
from tapeline.results.rules.fills import Fill
from tapeline.results.rules.position import ONE, ZERO, exact, number
from tapeline.results.rules.symbols import pair

PATIENCE = 2_000_000
"""Fills of one order that are looked at to compare its reports. An order that takes more was
changed thousands of times all over: each further report counts as a change, without a look."""
FREE = 3  # fills: a report about an order that is filled at once looks at no more
LISTED = 100
"""Changes that are listed with an order, the newest."""


class History(NamedTuple):
    """An order, after all reports about it."""

    changes: list[Change]
    """The newest that arrived long after the fact, or are dated into the future."""
    now: list[Fill]
    first: list[Fill]
    """As first reported: with what arrived in time."""


class _Fact(NamedTuple):
    """What one report did to the fills of an order."""

    sort: Sort
    time: float
    """When what it touched happened."""
    claimed: float
    """What its arrival is compared with, to know whether it came in time."""
    about: About = "order"


class OrderFold:
    """One order, to which one more report can be added."""

    __slots__ = (
        "_earliest", "_first", "_late_after", "_now", "_patience", "changes", "seq", "weight",
    )  # fmt: skip

    def __init__(self, late_after: float) -> None:
        self.changes: list[Change] = []
        self.weight = 0
        self.seq = 0
        """The last report."""
        self._late_after = late_after
        self._now = Version()
        self._first: Version | None = None
        """Where it differs from how the order stands."""
        self._patience = PATIENCE
        self._earliest = float("inf")

    def take(self, one: Report, *, in_brief: bool = False) -> Change | None:
        """What it changed after the fact; in brief, without from and to."""
        self.weight, self.seq = self.weight + 1, one.seq
        with exact():
            found = self._compare(one, in_brief) if self._patience > 0 else self._presume(one)
        if found is not None:
            self.changes.append(found)
            del self.changes[:-LISTED]
        return found

    def history(self) -> History:
        self._now.refresh()
        first = self._first or self._now
        return History([*self.changes], self._now.fills, [*self._in_time(first)])

    def _compare(self, one: Report, in_brief: bool) -> Change | None:
        now = self._now
        step = now.take(one)
        fact = _fact(step, one)
        self._patience -= step.cost if step.cost > FREE else 0
        self._earliest = min([self._earliest, one.received_at, *(new.time for new in step.new)])
        found = self._found(one, step, fact, in_brief)
        if self._first is not None:
            self._follow(self._first, one)
        elif not self._is_in_time(one, fact):
            self._first = now.earlier(one)
        return found

    def _follow(self, first: Version, one: Report) -> None:
        step = first.take(one)
        self._patience -= step.cost if step.cost > FREE else 0
        if not self._is_in_time(one, _fact(step, one)):
            first.undo()

    def _presume(self, one: Report) -> Change | None:
        self._first = self._first or self._now.copy()
        self._now.take_unseen(one)
        late_by = one.received_at - self._earliest
        if late_by > self._late_after and not COUNTING.isdisjoint(one.fields):
            fact = _Fact("changed", self._earliest, self._earliest)
            return _change(one, fact, self._symbol(), [])
        return None

    def _symbol(self) -> str:
        fills = self._now.fills or self._now.before()
        return fills[0].symbol if fills else ""

    def _is_in_time(self, one: Report, fact: _Fact | None) -> bool:
        return fact is None or one.received_at - fact.claimed <= self._late_after

    def _found(self, one: Report, step: Step, fact: _Fact | None, in_brief: bool) -> Change | None:
        latest = max((fill.time for fill in step.new), default=one.received_at)
        if fact is None or one.received_at - fact.time <= self._late_after:
            if latest - one.received_at <= self._late_after:
                return None
            fact = _Fact("early", latest, one.received_at)
        if in_brief:
            return _change(one, fact, "", [])
        before, now = self._now.before(), self._now.fills
        self._patience -= len(now) if len(now) > 1 else 0
        fields = _fields([] if fact.about == "price" else before, now)
        if fact.about == "price":
            fields = [field for field in fields if field.name == "price"]
        return _change(one, fact, self._symbol(), fields)

    def _in_time(self, version: Version) -> Iterable[Fill]:
        """What is dated into the future counts from its arrival, as long as nobody knows better."""
        for fill in version.fills:
            arrival = version.arrivals[fill.tie]
            is_early = fill.time - arrival > self._late_after
            yield fill._replace(time=arrival) if is_early else fill


def history(reports: Iterable[Report], late_after: float) -> History:
    """`reports`: all about one order, in the order of their arrival."""
    fold = OrderFold(late_after)
    for one in reports:
        fold.take(one)
    return fold.history()


def _fact(step: Step, one: Report) -> _Fact | None:
    """None where nothing that counts was changed, or an assumed fill was confirmed as assumed."""
    old, new = step.old, step.new
    if not old and not new:
        return None
    reported = step.since
    if not reported and old and not new:
        return _Fact("withdrawn", old[0].time, max(old[0].time, one.time))
    if not reported and old and _is_confirmed(old, new):
        return _moved_price(old, new)
    sort: Sort = "changed" if step.had else "late"
    time = min([*reported, *(fill.time for fill in new)])
    return _Fact(sort, time, time)


def _moved_price(assumed: list[Fill], reported: list[Fill]) -> _Fact | None:
    """A confirmation changes nothing of its order. One that names a time of its own says what the
    price was then, and orders without a price are valued by that."""
    time = min(fill.time for fill in reported)
    return None if time == assumed[0].time else _Fact("late", time, time, "price")


def _is_confirmed(assumed: list[Fill], reported: list[Fill]) -> bool:
    """A limit or stop order that was filled at its limit price, whole or in part. A fee may come
    with it, because it makes nothing better; money that comes back may not."""
    limit = assumed[0]
    return (
        sum((fill.spec.size or ZERO for fill in reported), ZERO) <= (limit.spec.size or ZERO)
        and all(_contract(fill) == _contract(limit) for fill in reported)
        and all(not fill.spec.assumed and fill.spec.fee >= ZERO for fill in reported)
    )


def _contract(fill: Fill) -> tuple[Any, ...]:
    spec = fill.spec
    return fill.symbol, spec.side, spec.price, spec.multiplier or ONE, spec.funds, spec.problem


def _change(one: Report, fact: _Fact, symbol: str, fields: list[FieldChange]) -> Change:
    id_ = one.fields.get("id")
    return Change(
        seq=one.seq,
        received_at=one.received_at,
        about=fact.about,
        sort=fact.sort,
        id=id_ if isinstance(id_, str) else None,
        symbol=symbol or None,
        time=fact.time,
        late_by=max(0.0, one.received_at - fact.time),
        fields=fields,
    )


def _fields(before: list[Fill], after: list[Fill]) -> list[FieldChange]:
    said, says = _summary(before), _summary(after)
    return [
        FieldChange(name, said.get(name), says.get(name))
        for name in dict.fromkeys([*says, *said])
        if said.get(name) != says.get(name)
    ]


def _summary(fills: list[Fill]) -> dict[str, float | str | None]:
    """An order as people speak of it: all its fills together."""
    if not fills:
        return {}
    spec, sizes = fills[0].spec, [fill.spec.size for fill in fills]
    prices, fee = [fill.spec.price for fill in fills], sum((one.spec.fee for one in fills), ZERO)
    base, _ = pair(fills[0].symbol)
    found: dict[str, float | str | None] = {
        "symbol": fills[0].symbol,
        "side": spec.side,
        "price": _shown(_average(sizes, prices)),
        "size": None if None in sizes else number(sum((one or ZERO for one in sizes), ZERO)),
        "funds": _shown(spec.funds),
        "fee": number(fee) or None,
        "fee_currency": spec.paid_in or spec.claim or (base if spec.fee_in_base else None),
        "time": fills[-1].time,
        "multiplier": None if spec.multiplier in (None, ONE) else _shown(spec.multiplier),
        "inverse": None if spec.problem is None else "yes",
    }
    return {name: value for name, value in found.items() if value is not None}


def _average(sizes: list[Decimal | None], prices: list[Decimal | None]) -> Decimal | None:
    known = [(s, p) for s, p in zip(sizes, prices, strict=True) if s is not None and p is not None]
    if len(prices) == 1 or not known:
        return prices[0]
    return sum((s * p for s, p in known), ZERO) / sum((s for s, _ in known), ZERO)


def _shown(value: Decimal | None) -> float | None:
    return None if value is None else number(value)
