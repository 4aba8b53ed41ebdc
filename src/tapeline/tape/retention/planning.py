"""Decides which events of a tape go, and what its pages look like afterwards.

Reads only: hashing and packing must not keep the writer busy. The chain has one digest for plain
events that were stored together, so such a span goes as a whole, when everything in it is due.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.store import bulk
from tapeline.store.tables.tape import backtests, checkpoints, states
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import pack, unpack
from tapeline.tape.proof import removed, seals
from tapeline.tape.proof.removed import Removed
from tapeline.tape.reading import channels, whole_tape
from tapeline.tape.retention.policy import Kept, Progress

NAME = "retention"
"""Of the progress among the states of a tape."""
LONGEST = 2_000  # spans in one stretch
OF_KIND: dict[int, Kept] = {
    kinds.LOG.number: "logs",
    kinds.EVENT.number: "events",
    kinds.BACKTEST_LOG.number: "backtests",
}

_PAGES = """
select first, content from pages where tape = ? and channel = ? and first <= ? and first >=
    coalesce((select max(first) from pages where tape = ? and channel = ? and first <= ?), 0)
order by first
"""


class Plan(NamedTuple):
    """One portion of a tape."""

    tape: int
    before: bytes | None
    """The progress it was made from."""
    after: bytes
    dropped: list[tuple[int, int]]
    """Pages, by channel and first event."""
    written: list[tuple[int, int, bytes]]
    freed: int
    """Bytes."""


def plan(connection: Connection, tape: int, cutoffs: dict[Kept, float], size: int) -> Plan | None:
    """The next portion, of about so many events; None if nothing is due."""
    before = _progress(connection, tape)
    progress = Progress() if before is None else msgspec.json.decode(before, type=Progress)
    due = _due(connection, tape, cutoffs, progress)
    bound = connection.scalar(_newest_checkpoint(tape)) or 0
    if not due:
        return None
    start = _group_before(connection, tape, min(due.values()), progress)
    if start >= bound:
        return None
    groups = whole_tape.groups(connection, tape, start, bound, size)
    oldest = min(cutoffs[kind] for kind in due)
    # The group of the newest checkpoint stays, and with it the signature under a shown event.
    taken = [one for one in groups if removed.last(one[-1]) < bound]
    young = next((n for n, one in enumerate(taken) if one[-1].received_at > oldest), len(taken))
    taken = taken[: max(1, young)]  # at least one, or a clock that stepped back would stop us
    if not taken:
        return None
    gone = [span for group in taken for span in _removable(group, cutoffs)]
    reached = removed.last(taken[-1][-1])
    progress.reached.update({kind: max(reached, progress.reached.get(kind, 0)) for kind in due})
    return _planned(connection, tape, before, progress, gone)


def _planned(
    connection: Connection, tape: int, before: bytes | None, progress: Progress, gone: list[Removed]
) -> Plan:
    dropped, written, freed = [], [], 0
    for channel, first, old, new in _changed_pages(connection, tape, gone):
        dropped.append((channel, first))
        freed += len(old)
        if new:
            written.append((channel, new[0].seq, pack(new)))
    for spans in _stretches(gone):
        written.append((removed.CHANNEL, spans[0].seq, pack([removed.stretch(spans)])))
    for span in gone:
        progress.until = max(progress.until, span.received_at)
        for kind, count in span.counts.items():
            name = OF_KIND[kind]
            progress.removed[name] = progress.removed.get(name, 0) + count
    freed -= sum(len(content) for _, _, content in written)
    return Plan(tape, before, msgspec.json.encode(progress), dropped, written, freed)


def _removable(group: Sequence[StoredEvent], cutoffs: dict[Kept, float]) -> Iterator[Removed]:
    """The spans of a group that go. Older rules of the chain had no nonce: their spans stay."""
    last = group[-1]
    if last.nonce is None:
        return
    runs = list(_runs(group))
    going = [_is_due(run, cutoffs) for run in runs]
    kept = [run for run, goes in zip(runs, going, strict=True) if not goes]
    is_opened = any(run[0].salt is None and run[0].kind for run in kept)
    place = 0
    for run, goes in zip(runs, going, strict=True):
        if goes:
            ends = run[-1] is last
            yield Removed(
                run[0].seq, removed.KIND, run[0].received_at, run[-1].received_at,
                seals.digest_of_run(seals.frames(run), last.nonce, place), None, None, None,
                last.link if ends and kept else None,
                last.nonce if ends and is_opened else None,
                run[-1].seq, ends, dict(Counter(one.kind for one in run)),
            )  # fmt: skip
        place += run[0].salt is None


def _runs(group: Sequence[StoredEvent]) -> Iterator[Sequence[StoredEvent]]:
    """Plain events that share a digest; each other event alone."""
    start = 0
    for place, one in enumerate(group):
        if one.salt is not None or not one.kind:
            if start < place:
                yield group[start:place]
            yield group[place : place + 1]
            start = place + 1
    if start < len(group):
        yield group[start:]


def _is_due(run: Sequence[StoredEvent], cutoffs: dict[Kept, float]) -> bool:
    if run[0].salt is not None or not run[0].kind:
        return False
    limits = {kind: cutoffs.get(OF_KIND[kind]) if kind in OF_KIND else None
              for kind in {one.kind for one in run}}  # fmt: skip
    return all((limit := limits[one.kind]) is not None and one.received_at <= limit for one in run)


def _stretches(gone: list[Removed]) -> Iterator[list[Removed]]:
    spans: list[Removed] = []
    for one in gone:
        if spans and (one.seq != spans[-1].until + 1 or len(spans) == LONGEST):
            yield spans
            spans = []
        spans.append(one)
    if spans:
        yield spans


def _changed_pages(
    connection: Connection, tape: int, gone: list[Removed]
) -> Iterator[tuple[int, int, bytes, list[StoredEvent]]]:
    """Channel and first event of each page that loses something, its content, and what stays."""
    numbers = {seq for span in gone for seq in range(span.seq, span.until + 1)}
    if not numbers:
        return
    place = (min(numbers), max(numbers))
    for channel in _channels(connection, tape, gone):
        here = (tape, channel)
        rows = bulk.fetch(connection, _PAGES, (*here, place[1], *here, place[0]))
        for first, content in rows:
            page = unpack(content)
            kept = [one for one in page if one.seq not in numbers]
            if len(kept) < len(page):
                yield channel, first, bytes(content), kept


def _channels(connection: Connection, tape: int, gone: list[Removed]) -> list[int]:
    of = {kind for span in gone for kind in span.counts}
    found = [kinds.BY_NUMBER[kind].channel for kind in of - {kinds.BACKTEST_LOG.number}]
    if kinds.BACKTEST_LOG.number in of:
        found += _channels_of_backtests(connection, tape)
    return found


def _channels_of_backtests(connection: Connection, tape: int) -> list[int]:
    numbers = connection.scalars(select(backtests.c.no).where(backtests.c.tape == tape))
    return [kinds.CHANNELS_OF_BACKTESTS + number for number in numbers]


def _due(
    connection: Connection, tape: int, cutoffs: dict[Kept, float], progress: Progress
) -> dict[Kept, int]:
    """The first event of each kind that was not looked at yet and is old enough."""
    found: dict[Kept, int] = {}
    for name, cutoff in cutoffs.items():
        after = progress.reached.get(name, 0)
        where = {"logs": [kinds.LOG.channel], "events": [kinds.EVENT.channel]}.get(name, [])
        if name == "backtests":
            where = _channels_of_backtests(connection, tape)
        for channel in where:
            records = channels.after(connection, tape, channel, after=after, limit=1).records
            if records and records[0].received_at <= cutoff:
                found[name] = min(records[0].seq, found.get(name, records[0].seq))
    return found


def _group_before(connection: Connection, tape: int, seq: int, progress: Progress) -> int:
    """The end of a group before an event: checkpoints and what was reached stand at such ends."""
    newest = _newest_checkpoint(tape).where(checkpoints.c.seq < seq)
    known = [one for one in progress.reached.values() if one < seq]
    return max([connection.scalar(newest) or 0, *known])


def _newest_checkpoint(tape: int):  # type: ignore[no-untyped-def]
    return select(func.max(checkpoints.c.seq)).where(checkpoints.c.tape == tape)


def _progress(connection: Connection, tape: int) -> bytes | None:
    here = (states.c.tape == tape, states.c.name == NAME)
    found = connection.scalar(select(states.c.value).where(*here))
    return None if found is None else bytes(found)
