"""The set of good and bad records: every checker must judge each of them as it says here.

`python -m tests.tape.record.cases` writes it as JSON lines, for checkers in other languages. Each
line has a name, the record, an earlier record or null (both in base64), the keys that the reader
knows, the certificates (PEM) that the reader trusts, the keys that a server publishes, the exit
status and the verdict (docs/tape.md), where and why `tapeline verify` calls it broken, numbers that
it tells otherwise, and the events that it lists as changes after the fact.
"""

import base64
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from tapeline.results.changes.of_record import RecordReports
from tapeline.results.changes.signed_reports import SignedReports
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.time_stamps import certificates
from tapeline.tape.record import checking
from tapeline.tape.record.outcome import Checked
from tests.tape.record import afterwards, forging, good, stamped, tampering, whole
from tests.tape.record.case import Case

SOURCES: tuple[Callable[[], Iterator[Case]], ...] = (
    good.cases,
    tampering.cases,
    stamped.cases,
    forging.cases,
    whole.cases,
    afterwards.cases,
)


class _Line(msgspec.Struct):
    name: str
    record: str
    earlier: str | None
    keys: list[str]
    certificates: list[str]
    published: list[Key]
    status: int
    verdict: str
    broken_at: int | None
    reason: str | None
    facts: dict[str, int] | None
    changed: list[int]


def every() -> list[Case]:
    return [case for source in SOURCES for case in source()]


def line(case: Case) -> bytes:
    earlier = None if case.earlier is None else base64.b64encode(case.earlier).decode()
    record = base64.b64encode(case.record).decode()
    found = checked(case)
    said = _Line(
        case.name,
        record,
        earlier,
        list(case.keys),
        list(case.certificates),
        list(case.published),
        case.status,
        case.verdict,
        found.broken_at,
        found.reason,
        facts(found) if found.is_whole else None,
        changed(case, found),
    )
    return msgspec.json.encode(said) + b"\n"


def facts(found: Checked) -> dict[str, int]:
    """What checkers must agree on besides the verdict."""
    return {
        "events": found.events,
        "hidden": found.hidden,
        "partly": found.partly,
        "not_shown": found.not_shown,
        "unsigned": found.unsigned,
        "first_signed": 0 if found.first is None else found.first.seq,
        "set_back": found.set_back,
        "new_logs": len(found.new_logs),
        "lists": found.lists,
        "lists_missing": found.lists_missing,
    }


def changed(case: Case, found: Checked) -> list[int]:
    """Events that changed what counts after the fact, as `tapeline verify` lists them. Those that
    show only when all books are known are not among them."""
    if found.last is None or not found.is_whole:
        return []
    reports = RecordReports()
    checked(case, SignedReports(reports))
    return sorted({one.seq for one in reports.folded().changes})


def checked(case: Case, watch: SignedReports | None = None) -> Checked:
    """What our own checker says of it."""

    def trusted() -> list[Any]:
        return [one for pem in case.certificates for one in certificates(pem.encode())]

    kept = None
    if case.earlier is not None:
        kept = checking.check(io.BytesIO(case.earlier), known=case.keys)
        assert kept.is_whole
    return checking.check(
        io.BytesIO(case.record),
        earlier=kept,
        known=case.keys,
        trusted=trusted,
        published=case.published,
        watch=watch,
    )


if __name__ == "__main__":
    sys.stdout.buffer.writelines(map(line, every()))
