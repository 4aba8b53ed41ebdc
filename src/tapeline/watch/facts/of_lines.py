"""New lines of a model's log that match the patterns of its rules.

A rule remembers how far it read, so that no line is looked at twice and none is missed while the
server was down. Whoever evaluates rules gets what is known (`gather`) and waits for no pattern;
the lines are read and searched beside that, in portions (`read`, `search`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from tapeline import terminal_text
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels
from tapeline.watch.facts.fact import Asked, Fact, Gathering, Sources, Subject
from tapeline.watch.heavy.line_searches import RESTS, Matched, Search, Wish
from tapeline.watch.heavy.messages import Match, Places
from tapeline.watch.heavy.process import NoHeavyAnswer

MOST = 2_000  # lines that a rule reads at once; what is more follows
TOGETHER = 4_000_000  # characters in one question, beside the first rule's
FIRST_LOOK = 500  # lines before a rule's first reading that are looked at
LONGEST = 4_000  # characters of a line


class _Line(msgspec.Struct):
    line: str = ""


class Job(NamedTuple):
    """Lines that a rule has to look at."""

    search: Search
    records: list[StoredEvent]
    lines: list[str]
    has_more: bool
    read_to: int


_line = msgspec.json.Decoder(_Line)


def gather(gathering: Gathering) -> Mapping[str, Mapping[str, Matched]]:
    """By the id of the rule: each has its own pattern and its own place."""
    found: dict[str, dict[str, Matched]] = {}
    for subject, asked in gathering.wanted.items():
        some = [one for one in asked if "matches" in one.options]
        if subject.tape is None or not some:
            continue
        newest = channels.newest(
            gathering.connection, subject.tape, kinds.LOG.channel, before=None, limit=1
        ).records
        last = newest[0].seq if newest else 0
        found[subject.id] = {
            one.rule_id: gathering.sources.searches.ask(
                (one.rule_id, subject.id), _wish(subject, one, gathering.now), last, gathering.now
            )
            for one in some
        }
    return found


def _wish(subject: Subject, asked: Asked, now: float) -> Wish:
    assert subject.tape is not None
    read_to = asked.memory.get("read_to")
    return Wish(
        subject.project_id or "",
        subject.tape,
        str(asked.options["matches"]),
        max(asked.counts_from, now - float(asked.options.get("within", 0.0))),
        read_to if isinstance(read_to, int) else None,
    )


def read(connection: Connection, searches: Iterable[Search]) -> list[Job]:
    """The lines for the first of these searches, as many as go into one question."""
    jobs: list[Job] = []
    characters = 0
    for one in searches:
        jobs.append(_job(connection, one))
        characters += sum(map(len, jobs[-1].lines))
        if characters >= TOGETHER:
            break
    return jobs


def _job(connection: Connection, search: Search) -> Job:
    wish, known, channel = search.wish, search.read_to, kinds.LOG.channel
    if known is not None:
        some = channels.after(connection, wish.tape, channel, after=known, limit=MOST)
        records, has_more = some.records, some.next is not None
    else:
        # The rule is new: what arrived within its window counts, but nothing before it.
        newest = channels.newest(connection, wish.tape, channel, before=None, limit=FIRST_LOOK)
        counted = (one for one in newest.records if one.received_at >= wish.counts_from)
        records, has_more = list(counted)[::-1], False
        known = newest.records[0].seq if newest.records else 0
    read_to = records[-1].seq if records else known
    return Job(search, records, [text_of(one) for one in records], has_more, read_to)


def text_of(record: StoredEvent) -> str:
    """What its readers see."""
    return terminal_text.plain(_line.decode(record.body).line)[:LONGEST]


def search(sources: Sources, jobs: Sequence[Job], seconds: float, now: float) -> None:
    """Ask the process with the patterns, which takes as long as is allowed, and note what it found.
    In a thread that nobody waits for."""
    try:
        answers = sources.heavy.searching(
            [Match(job.search.wish.pattern, job.lines) for job in jobs], seconds
        )
    except NoHeavyAnswer as error:
        for job in jobs:
            sources.searches.failed(job.search.key, error.message)
        raise
    for job, answer in zip(jobs, answers, strict=True):
        if isinstance(answer, str):
            why = f"The pattern cannot be used: {answer}"
            sources.searches.failed(job.search.key, why, now + RESTS)
        else:
            _note(sources, job, answer)


def _note(sources: Sources, job: Job, answer: Places) -> None:
    is_all = answer.looked == len(job.records)
    read_to: int | None = job.read_to
    if not is_all:
        read_to = job.records[answer.looked - 1].seq if answer.looked else job.search.read_to
    found = Matched(read_to=read_to)
    if answer.found:
        newest = answer.found[-1]
        found = Matched(read_to=read_to, at=job.records[newest].received_at, line=job.lines[newest])
    sources.searches.looked(job.search.key, found, is_all=is_all and not job.has_more)


def _is_partial(found: Mapping[str, Matched]) -> bool:
    return any(one.waits_since is not None for one in found.values())


LINES = Fact(
    name="log_lines",
    gather=gather,
    changed_by=frozenset({kinds.LOG.name}),
    is_partial=_is_partial,
)
