"""Checks a record offline: the chain, the signatures, the lists of results. No store here.

It proves that nothing was edited, removed or inserted since it was signed, and it also says what it
cannot prove. docs/tape.md describes the file and every reason for which it is refused.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Protocol

import msgspec

from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.seals import GENESIS
from tapeline.tape.proof.signer import statement
from tapeline.tape.record import groups, lines, whole_file
from tapeline.tape.record.arrivals import Arrivals
from tapeline.tape.record.groups import Member
from tapeline.tape.record.lines import (
    AnyHead,
    Event,
    FileSignature,
    FirstHead,
    Head,
    Hidden,
    Line,
    Link,
    NotCanonical,
    Piece,
    Proof,
    Proven,
    Signed,
    SignedFile,
)
from tapeline.tape.record.outcome import Broken, Checked
from tapeline.tape.record.proof_checks import ProofChecker, Trusted
from tapeline.tape.record.quoting import quoted
from tapeline.tape.record.result_lists import ResultLists
from tapeline.tape.record.signers import Known, Signers

LATE_AFTER = 300.0  # seconds

_value = msgspec.json.Decoder().decode


class Watch(Protocol):
    def take(self, record: StoredEvent, fields: dict[str, Any] | None, hidden: int) -> None:
        """Sees every shown event: with its shown fields if it is sealed field by field, and how
        many of its fields are hidden."""

    def signed(self) -> None:
        """A signature covers every event so far. Anyone could have added those after the last."""


def check(
    texts: Iterable[bytes],
    late_after: float = LATE_AFTER,
    earlier: Checked | None = None,
    watch: Watch | None = None,
    known: Sequence[str] = (),
    trusted: Trusted = list,
    published: Sequence[Key] = (),
) -> Checked:
    """Check a record from its first line to its last. It must contain everything that is in
    `earlier`, a record of the same tape. `known` are fingerprints and public keys of its signer,
    `published` the keys of a server that may have signed it, `trusted` certificates of time-stamp
    authorities."""
    reader = _Reader(late_after, earlier, Known(known, published), trusted, watch)
    found = reader.found
    try:
        for number, text in enumerate(texts, 1):
            try:
                reader.take(text)
            except (ValueError, KeyError, OverflowError, msgspec.MsgspecError):
                raise Broken(
                    reader.next, "not_canonical", f"Line {number} is not a line of a record."
                ) from None
        reader.end()
    except Broken as broken:
        found.broken_at, found.code, found.reason = broken.seq, broken.code, broken.reason
    return found


class _Reader:
    def __init__(
        self,
        late_after: float,
        earlier: Checked | None,
        known: Known,
        trusted: Trusted,
        watch: Watch | None,
    ) -> None:
        self.found = Checked()
        self.next = 1
        self._earlier = earlier
        self._awaited = None if earlier is None or not earlier.events else earlier
        self._known, self._trusted = known, trusted
        self._proofs: ProofChecker | None = None
        self._waiting: float | None = None
        """When the first event after the last trusted stamp arrived."""
        self._watch = watch
        self._previous = GENESIS
        self._signers: Signers | None = None
        self._claimed = self._stamped = 0
        self._group: list[Member] = []
        self._arrivals = Arrivals(self.found, late_after)
        self._results = ResultLists()
        self._head: AnyHead | None = None
        self._hash = sha256()
        """Of all lines so far, if the last one has to sign them."""

    def take(self, text: bytes) -> None:
        if self._signers is None:
            self._signers = self._begin(text)
            self._hash.update(text)
            return
        if self.found.is_file_signed:
            raise NotCanonical  # nothing comes after it
        self._take_line(lines.line(text), self._signers)
        if isinstance(self._head, Head):
            self._hash.update(text)

    def _take_line(self, line: Line, signers: Signers) -> None:
        if isinstance(line, Event):
            self._take_event(line)
        elif isinstance(line, Link):
            self._close(line)
        elif isinstance(line, Hidden):
            self._take_hidden(line)
        elif isinstance(line, Signed):
            self._take_checkpoint(line.checkpoint, signers)
        elif isinstance(line, Proven):
            self._take_proof(line.proof)
        elif isinstance(line, Piece):
            self._results.take(line)
        elif isinstance(line, SignedFile):
            self._take_file(line.file, signers)

    def end(self) -> None:
        if self._signers is None:
            raise Broken(1, "empty", "The file is empty.")
        self._require_end()
        if isinstance(self._head, Head) and not self.found.is_file_signed:
            raise Broken(
                self.next,
                "file_not_signed",
                "Its last line, the signature over the whole file, is missing.",
            )
        if self._awaited is not None:
            raise Broken(
                self.next,
                "earlier_not_reached",
                f"The earlier record goes to event {self._awaited.events}; this one does not.",
            )
        self.found.lists, self.found.lists_missing = self._results.complete()
        self._signers.judge(self.found)
        self._arrivals.end()
        self.found.unstamped = self.found.events - self._stamped

    def _require_end(self) -> None:
        if self._group or self.next - 1 != self._claimed:
            raise Broken(
                self.next,
                "ends_early",
                f"It should end with event {self._claimed}, but its last is event {self.next - 1}.",
            )

    def _begin(self, text: bytes) -> Signers:
        head = lines.head(text)
        if head is None or not head.model_id:
            raise Broken(
                1, "not_a_record", "This is not a record of Tapeline that this version can check."
            )
        self._head, self._claimed, self.found.model_id = head, head.seq, head.model_id
        if self._earlier is not None and self._earlier.model_id != head.model_id:
            raise Broken(1, "other_model", "The two records are of different models.")
        signers = _signers(head, self._known)
        witnesses = [] if isinstance(head, FirstHead) else head.witnesses
        self._proofs = ProofChecker(
            self.found, signers.keys, witnesses, self._trusted, self._earlier
        )
        return signers

    def _take_event(self, line: Event) -> None:
        self._require_next(line.seq)
        one = groups.member(line)
        assert one.record is not None
        self._group.append(one)
        if line.hidden:
            self._require_may_hide(line.seq)
            self.found.partly += 1
        fields = _shown(line)
        self._arrivals.take(line, one.record.kind, fields)
        if self._watch is not None:
            self._watch.take(one.record, fields, len(line.hidden or []))
        if self._waiting is None:
            self._waiting = line.received_at
        if one.record.kind == kinds.BACKTEST_RESULT.number:
            self._results.expect(line.seq, one.record.body)
        self.next += 1

    def _take_hidden(self, line: Hidden) -> None:
        self._require_next(line.seq)
        size = line.until - line.seq + 1
        if size < 1 or (line.removed is not None and sum(line.removed.values()) != size):
            raise ValueError
        self._group.append(Member(line.seq, None, bytes.fromhex(line.digest)))
        if line.removed is None:
            self._require_may_hide(line.seq)
            self.found.hidden += size
        else:
            self._arrivals.take_removed(line.removed, line.received_at or 0.0)
        self.next = line.until + 1

    def _require_may_hide(self, seq: int) -> None:
        if isinstance(self._head, Head) and self._head.shows == "all":
            raise Broken(
                seq,
                "not_all_shown",
                f"The first line says that all is shown, but a part of event {seq} is hidden.",
            )

    def _require_next(self, seq: int) -> None:
        if seq != self.next:
            raise Broken(self.next, "event_missing", f"Event {self.next} is missing.")

    def _close(self, line: Link) -> None:
        """At the end of a group: check that its link follows from its events."""
        if not self._group or line.seq != self.next - 1:
            raise Broken(self.next, "link_misplaced", "A link stands where no group ends.")
        if line.rule not in {groups.OLDEST_RULE, groups.PLAIN_RULE, groups.BLIND_RULE}:
            raise ValueError
        link = groups.link(self._previous, self._group, line.rule)
        if link.hex() != line.link:
            first = self._group[0].seq
            where = f"event {first}" if first == line.seq else f"events {first} to {line.seq}"
            raise Broken(
                first, "chain_broken", f"The chain breaks at {where}: something there was changed."
            )
        self._previous, self._group = link, []
        self.found.events = line.seq
        self.found.link = line.link
        if self._awaited is not None and line.seq >= self._awaited.events:
            if (line.seq, line.link) != (self._awaited.events, self._awaited.link):
                raise Broken(
                    line.seq,
                    "earlier_differs",
                    f"Up to event {self._awaited.events} it differs from the earlier record.",
                )
            self._awaited = None

    def _take_checkpoint(self, one: Checkpoint, signers: Signers) -> None:
        self._require_here(one.seq, one.link)
        signed = statement(self.found.model_id, one.seq, self._previous, one.at)
        if not signers.confirm(one, signed):
            self.found.uncounted += 1
            return
        self.found.last = one
        self._arrivals.signed()
        if self._watch is not None:
            self._watch.signed()

    def _take_file(self, one: FileSignature, signers: Signers) -> None:
        """The last line. What is wrong with the lines before it was said there, more exactly."""
        if not isinstance(self._head, Head):
            raise NotCanonical
        self._require_end()
        if one.sha256 != self._hash.hexdigest():
            raise Broken(
                self.next,
                "file_changed",
                "The server signed another file: something in this one was hidden, left out or"
                " changed.",
            )
        signed = whole_file.statement(self.found.model_id, one.sha256)
        signers.confirm_file(one, self.next, signed)
        self.found.is_file_signed = True

    def _take_proof(self, proof: Proof) -> None:
        self._require_here(proof.seq, proof.link)
        assert self._proofs is not None
        trusted = [one.at for one in self._proofs.take(proof) if one.is_trusted]
        if trusted:
            if self._waiting is not None:
                gap = min(trusted) - self._waiting
                self.found.stamp_gap = max(gap, self.found.stamp_gap or gap)
            self._waiting, self._stamped = None, proof.seq

    def _require_here(self, seq: int, link: str) -> None:
        if self._group or seq != self.next - 1 or link != self._previous.hex():
            raise Broken(
                seq,
                "checkpoint_misplaced",
                f"The checkpoint or proof at event {seq} belongs to another tape.",
            )


def _signers(head: AnyHead, known: Known) -> Signers:
    if not isinstance(head, FirstHead):
        return Signers(head.keys, known, all_listed=True)
    key = Key(head.public_key)
    if head.key_id != key.key_id:
        raise Broken(
            1,
            "key_chain",
            f"It names the key {quoted(head.key_id)}, but contains the key {key.key_id}.",
        )
    return Signers([key], known, all_listed=False)


def _shown(line: Event) -> dict[str, Any] | None:
    """The shown fields of an event that is sealed field by field."""
    if line.fields is None:
        return None
    return {name: _value(bytes(value)) for name, (value, _) in line.fields.items()}
