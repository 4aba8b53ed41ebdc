"""A change of what counts, made after the fact. No store here."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from tapeline.tape.events import kinds
from tapeline.tape.events.kinds import Kind
from tapeline.tape.events.stored_event import StoredEvent

About = Literal["order", "price", "cash", "position", "own_figures", "account", "symbol"]
"""`account`: its currency, its capital and how positions are kept. `symbol`: one that cannot be
computed any more."""
Sort = Literal["late", "changed", "withdrawn", "replaced", "early"]
"""`late`: first reported long after its time. `withdrawn`: an assumed fill was taken out, which is
counted apart. `replaced`: cash came again under its id with other content. `early`: dated into the
future, where later reports can still change what it counts for; counted apart too."""

APART = frozenset({"withdrawn", "early"})

_fields = msgspec.json.Decoder(dict[str, Any]).decode


class FieldChange(msgspec.Struct, frozen=True):
    """One thing that counts; null where nothing was said of it, or where a link hides it."""

    name: str
    before: float | str | None
    after: float | str | None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One report that changed what counts."""

    seq: int
    received_at: float
    about: About
    sort: Sort
    id: str | None = None
    """Of the order, or of cash that has one."""
    symbol: str | None = None
    time: float
    """When the changed thing happened, by what the model said of it first."""
    late_by: float
    """Seconds from then to the arrival of the change; zero of what is dated into the future."""
    fields: list[FieldChange] = []


def late_by(changes: Iterable[Change]) -> float | None:
    """Of an order: how long after the fact the last change arrived, or the order itself if it was
    late. An assumed fill that was taken out is no late report, nor is one of the future, nor one
    that confirms it and says what the price was then."""
    counted = (one.late_by for one in changes if one.about == "order" and one.sort not in APART)
    return max(counted, default=None)


def with_changes(
    orders: Iterable[dict[str, Any]], changes: Mapping[str, list[Change]]
) -> list[dict[str, Any]]:
    """Orders as they are listed, each with its changes and `late_by`."""
    found = ((one, changes.get(one["id"], [])) for one in orders)
    return [{**one, "late_by": late_by(some), "changes": some} for one, some in found]


class Report(NamedTuple):
    """One event about something that counts, as it arrived."""

    seq: int
    kind: Kind
    time: float
    received_at: float
    fields: dict[str, Any]


def report(record: StoredEvent) -> Report:
    kind = kinds.BY_NUMBER[record.kind]
    return Report(record.seq, kind, record.time, record.received_at, _fields(record.body))


COUNTING = frozenset(
    kind.number
    for kind in kinds.ORDERS
    | {kinds.UPDATE_TRADE, kinds.MARK_PRICE, kinds.CASH, kinds.POSITION}
    | {kinds.SET_PNL, kinds.AUTO_PNL}
)
"""Kinds of events that can change a figure. Annotations cannot."""
