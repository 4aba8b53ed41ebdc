"""Checking a tape that was exported to a file: its chain, its signatures, its long lists.

Needs the file alone, no store and no server. The first line is about the export and holds the
seals; every other is a line of `GET /api/models/{model}/tape`.
"""

import base64
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tapeline.errors import Invalid
from tapeline.ids import fingerprint
from tapeline.tape import kinds, seals
from tapeline.tape.backtest_result import PACKED
from tapeline.tape.seals import PiecesDigest, Record
from tapeline.tape.signer import is_signed, statement

FORMAT = 1
NAN = float("nan")
_NUMBERS = {kind.name: kind.number for kind in kinds.KINDS}


class Checkpoint(msgspec.Struct, frozen=True):
    seq: int
    link: str
    at: float
    key_id: str
    signature: str


class Seals(msgspec.Struct, frozen=True):
    model_id: str
    seq: int
    link: str
    public_key: str
    key_id: str
    items: list[Checkpoint]


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of an export."""

    tapeline_export: int
    model_id: str
    model: str
    server: str
    exported_at: float
    seals: Seals


class _Line(msgspec.Struct, frozen=True):
    """An event, or a piece of a long list of the event before it."""

    seq: int
    kind: str | None = None
    time: float = 0.0
    received_at: float = 0.0
    body: msgspec.Raw = msgspec.Raw()
    run_id: str | None = None
    backtest_id: str | None = None
    salt: str | None = None
    link: str | None = None
    list: str | None = None
    piece: int = 0
    first: int = 0
    items: msgspec.Raw = msgspec.Raw()


class Checked(msgspec.Struct, kw_only=True):
    """What a check found. Without problems the tape is as it was sealed."""

    model_id: str
    model: str
    key_id: str
    events: int = 0
    first_at: float | None = None
    last_at: float | None = None
    checkpoints: int = 0
    """Whose signatures are good."""
    signed_at: float | None = None
    """When the newest of them was signed."""
    results: int = 0
    """Backtests whose long lists are here and whole."""
    results_without_lists: int = 0
    """Replaced or deleted since: the tape has what they said, not the lists."""
    problems: list[str] = []


class _Results:
    """The long lists in the file, against what the chain says of them."""

    def __init__(self) -> None:
        self.sealed: dict[str | None, tuple[int, dict[str, str]]] = {}
        self.found: dict[int, dict[str, PiecesDigest]] = {}

    def note(self, record: Record) -> None:
        if record.kind == kinds.BACKTEST_RESULT.number:
            header = msgspec.json.decode(record.body, type=dict[str, Any])
            self.sealed[record.backtest_id] = (record.seq, header.get("digests") or {})

    def add(self, line: _Line) -> None:
        assert line.list is not None
        digests = self.found.setdefault(line.seq, {})
        items = bytes(line.items)
        packed = items if line.list in PACKED else _doubles(items)
        digests.setdefault(line.list, PiecesDigest()).add(line.piece, line.first, packed)
        if line.list == "account_values":  # its series is sealed beside it
            digests.setdefault("equity", PiecesDigest()).add(
                line.piece, line.first, _doubles(items)
            )


def check(lines: Iterable[bytes], *, key: str | None = None) -> Checked:
    """Read an export once, from its start to its end. `key` is the public key one trusts."""
    rest = iter(lines)
    heading = _heading(next(rest, b""))
    sealed = heading.seals
    found = Checked(
        model_id=heading.model_id, model=heading.model, key_id=_key_id(sealed.public_key)
    )
    wanted = {one.seq for one in sealed.items}
    links: dict[int, str] = {}
    results = _Results()
    broken = seals.first_break(
        _noted(rest, found, results, wanted, links), (sealed.seq, bytes.fromhex(sealed.link))
    )
    if broken is not None:
        found.problems.append(f"Event {broken} is not what was sealed: edited, removed or added.")
    _check_signatures(heading, links, found, key, broken or sealed.seq + 1)
    if broken is None:
        _check_lists(results, found)
    return found


def _heading(line: bytes) -> Heading:
    try:
        heading = msgspec.json.decode(line, type=Heading)
        bytes.fromhex(heading.seals.link + heading.seals.public_key)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        raise Invalid("This file is no export of a tape.") from None
    if heading.tapeline_export != FORMAT:
        raise Invalid("This export was made by a newer Tapeline. Check it with that version.")
    return heading


def _noted(
    lines: Iterator[bytes],
    found: Checked,
    results: _Results,
    wanted: set[int],
    links: dict[int, str],
) -> Iterator[Record]:
    """The events, with a note of all that is looked at again after the chain."""
    for raw in lines:
        line = _line(raw, found.events)
        if line.kind is None:
            results.add(line)
            continue
        record = _record(line)
        found.events += 1
        found.first_at = record.received_at if found.first_at is None else found.first_at
        found.last_at = record.received_at
        if record.link is not None and record.seq in wanted:
            links[record.seq] = record.link.hex()
        results.note(record)
        yield record


def _line(raw: bytes, after: int) -> _Line:
    try:
        line = msgspec.json.decode(raw, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        line = None
    if line is None or (line.kind is None and line.list is None):
        raise Invalid(f"The line after event {after} is not one of a tape.")
    return line


def _record(line: _Line) -> Record:
    try:
        return Record(
            seq=line.seq,
            kind=_NUMBERS.get(line.kind or "", 0),
            time=line.time,
            received_at=line.received_at,
            body=bytes(line.body),
            run_id=line.run_id,
            backtest_id=line.backtest_id,
            salt=None if line.salt is None else base64.b64decode(line.salt, validate=True),
            link=None if line.link is None else bytes.fromhex(line.link),
        )
    except ValueError:
        raise Invalid(f"Event {line.seq} has a salt or link that is none.") from None


def _check_signatures(
    heading: Heading, links: dict[int, str], found: Checked, key: str | None, until: int
) -> None:
    """Those before `until`: what comes after a break fits nothing any more."""
    sealed = heading.seals
    if key is not None and key.lower() not in {sealed.public_key, found.key_id}:
        found.problems.append(f"It was signed with the key {found.key_id}, not with {key}.")
    newest = None
    for one in sorted(sealed.items, key=lambda one: one.seq):
        # A key this server had before is not in the file, so that nothing can be said of it.
        if one.key_id != found.key_id or one.seq >= until:
            continue
        try:
            signed = statement(heading.model_id, one.seq, bytes.fromhex(one.link), one.at)
            good = is_signed(bytes.fromhex(sealed.public_key), bytes.fromhex(one.signature), signed)
        except ValueError:
            good = False
        if not good:
            found.problems.append(f"The signature at event {one.seq} is not genuine.")
        elif links.get(one.seq) != one.link:
            found.problems.append(f"What was signed at event {one.seq} is not what is here.")
        else:
            found.checkpoints += 1
            newest, found.signed_at = one.seq, one.at
    if sealed.seq and newest != sealed.seq and not found.problems:
        after = f"after event {newest}" if newest else "of them"
        found.problems.append(f"No event {after} is signed.")


def _check_lists(results: _Results, found: Checked) -> None:
    for seq, sealed in results.sealed.values():
        there = {name: one.hex() for name, one in results.found.get(seq, {}).items()}
        if there == sealed:
            found.results += 1
        elif not there:
            found.results_without_lists += 1
        else:
            found.problems.append(f"The long lists of the result at event {seq} were changed.")


def _key_id(public_key: str) -> str:
    return fingerprint(public_key)[:16]


def _doubles(items: bytes) -> bytes:
    """Points as the store keeps a series: all times, then all values."""
    points = msgspec.json.decode(items, type=list[dict[str, Any]])
    times = array("d", [float(one["time"]) for one in points])
    values = array("d", [NAN if one["value"] is None else float(one["value"]) for one in points])
    return times.tobytes() + values.tobytes()
