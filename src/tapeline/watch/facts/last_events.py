"""When a model last sent something: the newest event of a channel, by one look at its index."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.store.backends import steady
from tapeline.store.tables.prices import price_series
from tapeline.store.tables.tape import orders, pages
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import unpack
from tapeline.tape.reading import channels
from tapeline.watch.facts.fact import Asked, Fact, Gathering

NOT_ITS_OWN = kinds.OF_BACKTESTS | kinds.OF_SERVERS | {kinds.LIFECYCLE}
"""Written about the model, or about something else than its life."""
OWN = frozenset(set(kinds.KINDS) - NOT_ITS_OWN)
CHANNELS = sorted({kind.channel for kind in OWN})
BARS_EVERY = 5.0  # seconds: bars are beside the tape, where no count says that one came

HEARTBEAT = "heartbeat"
"""The `type` of the generic event that a model sends as a sign of life."""
UNNAMED = ""

Last = Callable[[Connection, int], float | None]


class _Line(msgspec.Struct):
    type: str = ""


class _Heartbeat(msgspec.Struct):
    type: str = ""
    args: dict[str, Any] = {}


_line, _heartbeat = msgspec.json.Decoder(_Line).decode, msgspec.json.Decoder(_Heartbeat).decode


def _of_each(last: Last) -> Callable[[Gathering], Mapping[str, float]]:
    def gather(gathering: Gathering) -> dict[str, float]:
        found: dict[str, float] = {}
        for one in gathering.wanted:
            at = None if one.tape is None else last(gathering.connection, one.tape)
            if at is not None:
                found[one.id] = at
        return found

    return gather


def _event(connection: Connection, tape: int) -> float | None:
    """The page that begins last has the newest event: of one commit, or of a later one."""
    newest = -1, 0
    for channel in CHANNELS:
        here = (pages.c.tape == tape, pages.c.channel == channel)
        first = connection.scalar(select(func.max(pages.c.first)).where(*here))
        if first is not None:
            newest = max(newest, (first, channel))
    first, channel = newest
    its = (pages.c.tape == tape, pages.c.channel == channel, pages.c.first == first)
    content = connection.scalar(select(pages.c.content).where(*its))
    return None if content is None else _stamp(connection, unpack(content)[-1].received_at)


def _order(connection: Connection, tape: int) -> float | None:
    query = select(orders.c.received_at).where(orders.c.tape == tape, orders.c.seq.is_not(None))
    return _stamp(connection, connection.scalar(query.order_by(orders.c.seq.desc()).limit(1)))


def _log(connection: Connection, tape: int) -> float | None:
    """A line of the model itself: what the server notes about it is no sign of life."""
    return _newest(connection, tape, kinds.LOG, is_own_line)


def is_own_line(one: StoredEvent) -> bool:
    return _line(one.body).type != "system"


def _newest(
    connection: Connection, tape: int, kind: kinds.Kind, wanted: Callable[[StoredEvent], bool]
) -> float | None:
    found = channels.newest(
        connection, tape, kind.channel, before=None, limit=1, wanted=wanted
    ).records
    return _stamp(connection, found[0].received_at) if found else None


def _stamp(connection: Connection, received_at: float | None) -> float | None:
    """By today's clock: silence is counted from it."""
    return None if received_at is None else steady.put_right(connection, received_at)


def _bar(connection: Connection, tape: int) -> float | None:
    """When its newest bar was the price. History that it sends says nothing about today."""
    here = (price_series.c.tape == tape, price_series.c.name == "")
    at: float | None = connection.scalar(select(func.max(price_series.c.closed_at)).where(*here))
    return at


def _heartbeats(gathering: Gathering) -> dict[str, dict[str, float]]:
    """By the name that a rule asks for: when it last came."""
    found: dict[str, dict[str, float]] = {}
    for subject, asked in gathering.wanted.items():
        if subject.tape is None:
            continue
        for name in _names(asked):
            at = _newest(gathering.connection, subject.tape, kinds.EVENT, is_heartbeat(name))
            if at is not None:
                found.setdefault(subject.id, {})[name] = at
    return found


def _names(asked: Iterable[Asked]) -> set[str]:
    return {one.options.get(HEARTBEAT, UNNAMED) for one in asked}


def is_heartbeat(name: str) -> Callable[[StoredEvent], bool]:
    def wanted(one: StoredEvent) -> bool:
        if b"heartbeat" not in one.body:
            return False
        body = _heartbeat(one.body)
        return body.type == HEARTBEAT and name in (UNNAMED, body.args.get("name"))

    return wanted


LAST_EVENT = Fact(
    name="last_event", gather=_of_each(_event), changed_by=frozenset(one.name for one in OWN)
)
LAST_ORDER = Fact(
    name="last_order",
    gather=_of_each(_order),
    changed_by=frozenset(one.name for one in kinds.ORDERS),
)
LAST_LOG = Fact(name="last_log", gather=_of_each(_log), changed_by=frozenset({kinds.LOG.name}))
LAST_BAR = Fact(name="last_bar", gather=_of_each(_bar), every=BARS_EVERY)
HEARTBEATS = Fact(name="heartbeats", gather=_heartbeats, changed_by=frozenset({kinds.EVENT.name}))
