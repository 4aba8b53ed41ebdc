"""Folds the reports about one order, as they arrived, into its changes after the fact. No store.

It follows the order twice: as it stands, with every report, and as it was first reported, without
those that came too late. The fact of a change is the earliest of the times that the touched fills
claim and of the arrival of their first report, so that a fill dated into the future hides nothing.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from tapeline.results.changes.change import Change, FieldChange, Report, Sort
from tapeline.results.rules.fills import Fill, fills_of
from tapeline.results.rules.position import ONE, ZERO, exact, number
from tapeline.results.rules.rises import FILLED_SIZE, Statement, statement
from tapeline.tape.events import kinds
from tapeline.tape.orders import OrderState, Part, take_post, take_update

COMPARED = 100
"""Reports about one order that are compared one by one; the rest are compared as one, because each
comparison of an order that is filled in portions goes through all of them."""


class History(NamedTuple):
    """An order, after all reports about it."""

    changes: list[Change]
    """Those that arrived long after the fact."""
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


class _Version:
    """The order as some of its reports make it."""

    def __init__(self) -> None:
        self.state = OrderState()
        self.told: list[Statement] = []
        self.fills: list[Fill] = []
        self.since: dict[int, float] = {}
        """When each fill was first reported."""

    def with_reports(self, some: Sequence[Report]) -> "_Version":
        new = _Version()
        old = self.state
        new.state = msgspec.structs.replace(old, posts=[*old.posts], changes={**old.changes})
        new.told = [*self.told]
        for one in some:
            _take(new, one)
        new.fills = fills_of(new.state, new.told)
        arrival = some[-1].received_at
        new.since = {
            fill.tie: self.since.get(fill.tie, arrival)
            for fill in new.fills
            if not fill.spec.assumed
        }
        return new


def history(reports: Sequence[Report], late_after: float) -> History:
    """`reports`: all about one order, in the order of their arrival."""
    now = first = _Version()
    changes: list[Change] = []
    with exact():
        for some in _compared(reports):
            last, before = some[-1], now
            now = before.with_reports(some)
            fact = _fact(before, now, last)
            if fact is not None and last.received_at - fact.time > late_after:
                changes.append(_change(before, now, last, fact))
            if first is not before:
                tried = first.with_reports(some)
                fact = _fact(first, tried, last)
            else:
                tried = now
            if fact is None or last.received_at - fact.claimed <= late_after:
                first = tried
    return History(changes, now.fills, first.fills)


def _compared(reports: Sequence[Report]) -> list[Sequence[Report]]:
    apart: list[Sequence[Report]] = [[one] for one in reports[:COMPARED]]
    return [*apart, reports[COMPARED:]] if len(reports) > COMPARED else apart


def _take(version: _Version, one: Report) -> None:
    """As the books take it: see `tape.append.fold` and `results.pnl.unbooked`."""
    is_post = one.kind in kinds.ORDERS
    if not is_post or one.fields.get(FILLED_SIZE) is not None:
        said = statement(one.fields, one.time, one.seq)
        if said is not None:
            version.told.append(said)
    if is_post:
        take_post(version.state, Part(one.time, one.seq, one.kind.name, one.fields, ""))
    else:
        take_update(version.state, one.fields, one.time, one.seq)


def _fact(before: _Version, after: _Version, one: Report) -> _Fact | None:
    """None where nothing that counts was changed, or an assumed fill was confirmed as assumed."""
    old, new = _touched(before.fills, after.fills)
    if not old and not new:
        return None
    reported = [min(fill.time, before.since[fill.tie]) for fill in old if not fill.spec.assumed]
    if not reported and old and not new:
        return _Fact("withdrawn", old[0].time, one.time)
    if not reported and old and _is_confirmed(old, new):
        return None
    sort: Sort = "changed" if before.fills else "late"
    time = min([*reported, *(fill.time for fill in new)])
    return _Fact(sort, time, time)


def _touched(before: list[Fill], after: list[Fill]) -> tuple[list[Fill], list[Fill]]:
    old, new = {fill.tie: fill for fill in before}, {fill.tie: fill for fill in after}
    ties = [tie for tie in old.keys() | new.keys() if old.get(tie) != new.get(tie)]
    return [old[tie] for tie in ties if tie in old], [new[tie] for tie in ties if tie in new]


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


def _change(before: _Version, after: _Version, one: Report, fact: _Fact) -> Change:
    said, says = _summary(before), _summary(after)
    fields = [
        FieldChange(name, said.get(name), says.get(name))
        for name in dict.fromkeys([*says, *said])
        if said.get(name) != says.get(name)
    ]
    id_, symbol = one.fields.get("id"), (after.fills or before.fills)[0].symbol
    return Change(
        seq=one.seq,
        received_at=one.received_at,
        about="order",
        sort=fact.sort,
        id=id_ if isinstance(id_, str) else None,
        symbol=symbol or None,
        time=fact.time,
        late_by=one.received_at - fact.time,
        fields=fields,
    )


def _summary(version: _Version) -> dict[str, float | str | None]:
    """An order as people speak of it: all its fills together."""
    fills = version.fills
    if not fills:
        return {}
    spec, sizes = fills[0].spec, [fill.spec.size for fill in fills]
    prices, fee = [fill.spec.price for fill in fills], sum((one.spec.fee for one in fills), ZERO)
    found: dict[str, float | str | None] = {
        "symbol": fills[0].symbol,
        "side": spec.side,
        "price": _shown(_average(sizes, prices)),
        "size": None if None in sizes else number(sum((one or ZERO for one in sizes), ZERO)),
        "funds": _shown(spec.funds),
        "fee": number(fee) or None,
        "time": fills[-1].time,
        "multiplier": None if spec.multiplier in (None, ONE) else _shown(spec.multiplier),
    }
    return {name: value for name, value in found.items() if value is not None}


def _average(sizes: list[Decimal | None], prices: list[Decimal | None]) -> Decimal | None:
    known = [(s, p) for s, p in zip(sizes, prices, strict=True) if s is not None and p is not None]
    if len(prices) == 1 or not known:
        return prices[0]
    return sum((s * p for s, p in known), ZERO) / sum((s for s, _ in known), ZERO)


def _shown(value: Decimal | None) -> float | None:
    return None if value is None else number(value)
