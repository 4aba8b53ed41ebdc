"""New lines of a model's log that match the patterns of its rules.

A rule remembers how far it read, so that no line is looked at twice and none is missed while the
server was down. The patterns are matched in a process of their own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels
from tapeline.watch.facts.fact import Asked, Fact, Gathering
from tapeline.watch.heavy.messages import Match
from tapeline.watch.heavy.process import Heavy, NoHeavyAnswer

MOST = 2_000  # lines that a rule reads at once; what is more follows in the next turn
FIRST_LOOK = 500  # lines before a rule's first reading that are looked at
LONGEST = 4_000  # characters of a line


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found in the lines that were new to it."""

    read_to: int
    """The number of the last line that was looked at."""
    at: float | None = None
    """When the newest line that matched arrived."""
    line: str = ""
    count: int = 0
    has_more: bool = False
    trouble: str | None = None


class _Line(msgspec.Struct):
    line: str = ""


class _Job(NamedTuple):
    subject: str
    rule_id: str
    records: list[StoredEvent]
    match: Match
    has_more: bool
    read_to: int


_line = msgspec.json.Decoder(_Line)


def gather(gathering: Gathering) -> Mapping[str, Mapping[str, Matched]]:
    """By the id of the rule: each has its own pattern and its own place."""
    jobs = [
        _job(gathering, subject.id, subject.tape, one)
        for subject, asked in gathering.wanted.items()
        if subject.tape is not None
        for one in asked
        if "matches" in one.options
    ]
    answers = _answers(gathering.sources.heavy, [job for job in jobs if job.records])
    found: dict[str, dict[str, Matched]] = {}
    for job in jobs:
        one = _matched(job, answers.get((job.subject, job.rule_id), []))
        found.setdefault(job.subject, {})[job.rule_id] = one
        if one.at is None and one.trouble is None:
            # Never past a line that matched: the rule itself has to remember that, and if it
            # could not be written, the line is found again.
            gathering.sources.read_lines[job.rule_id, job.subject] = job.read_to
    return found


def _answers(heavy: Heavy, jobs: list[_Job]) -> dict[tuple[str, str], list[int] | str]:
    try:
        answers = heavy.matching([job.match for job in jobs])
    except NoHeavyAnswer as error:
        answers = [error.message] * len(jobs)
    return {(job.subject, job.rule_id): answer for job, answer in zip(jobs, answers, strict=True)}


def _job(gathering: Gathering, subject: str, tape: int, asked: Asked) -> _Job:
    connection, channel = gathering.connection, kinds.LOG.channel
    known = asked.memory.get("read_to")
    if isinstance(known, int):
        known = max(known, gathering.sources.read_lines.get((asked.rule_id, subject), 0))
        some = channels.after(connection, tape, channel, after=known, limit=MOST)
        records, has_more = some.records, some.next is not None
    else:
        # The rule is new: what arrived within its window counts, but nothing before it.
        within = float(asked.options.get("within", 0.0))
        since = max(asked.counts_from, gathering.now - within)
        newest = channels.newest(connection, tape, channel, before=None, limit=FIRST_LOOK).records
        records, has_more = [one for one in reversed(newest) if one.received_at >= since], False
        known = newest[0].seq if newest else 0
    lines = [text_of(one) for one in records]
    read_to = records[-1].seq if records else known
    return _Job(subject, asked.rule_id, records, _match(asked, lines), has_more, read_to)


def text_of(record: StoredEvent) -> str:
    return _line.decode(record.body).line[:LONGEST]


def _match(asked: Asked, lines: list[str]) -> Match:
    return Match(str(asked.options["matches"]), lines)


def _matched(job: _Job, answer: Any) -> Matched:
    if isinstance(answer, str):
        return Matched(read_to=0, trouble=answer)
    if not answer:
        return Matched(read_to=job.read_to, has_more=job.has_more)
    newest = answer[-1]
    return Matched(
        read_to=job.read_to,
        at=job.records[newest].received_at,
        line=job.match.lines[newest],
        count=len(answer),
        has_more=job.has_more,
    )


def _is_partial(found: Mapping[str, Matched]) -> bool:
    return any(one.has_more or one.trouble is not None for one in found.values())


LINES = Fact(
    name="log_lines",
    gather=gather,
    changed_by=frozenset({kinds.LOG.name}),
    is_partial=_is_partial,
)
