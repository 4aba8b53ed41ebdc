"""Checks the proofs in a record: others confirmed a head of the log that contains its tape."""

from collections.abc import Callable, Sequence
from typing import Any

from tapeline.ids import fingerprint
from tapeline.tape.proof import log_entries, merkle, notes, time_stamps
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.notes import MalformedNote, Note
from tapeline.tape.proof.time_stamps import WrongStamp
from tapeline.tape.record.lines import Proof, Witness
from tapeline.tape.record.outcome import Broken, Checked, Cosigned, Stamped
from tapeline.tape.record.quoting import quoted

Trusted = Callable[[], Sequence[Any]]
"""Certificates that the reader trusts; called when a stamp is there."""


class ProofChecker:
    def __init__(
        self,
        found: Checked,
        keys: Sequence[Key],
        witnesses: Sequence[Witness],
        trusted: Trusted,
        earlier: Checked | None,
    ) -> None:
        self._found = found
        self._keys = keys
        self._witnesses = witnesses
        self._trusted = trusted
        self._origin: str | None = None
        """Of the log that the last proof is of."""
        self._heads = {} if earlier is None else dict(earlier.log_heads)

    def take(self, proof: Proof) -> list[Stamped]:
        """The stamps of a proof; raises if a part of it is wrong."""
        note = self._note(proof)
        if not _leads_to(proof, self._found.model_id, note):
            raise Broken(
                proof.seq,
                "proof_wrong",
                f"The proof at event {proof.seq} does not lead to the head of the log that it has.",
            )
        self._remember(proof.seq, note)
        self._found.cosignatures += self._cosigned(proof.seq, note)
        self._found.proofs += 1
        stamps = [
            self._stamped(proof.seq, note, one.authority, one.response) for one in proof.stamps
        ]
        self._found.stamps += stamps
        return stamps

    def _note(self, proof: Proof) -> Note:
        try:
            note = notes.parse(proof.note)
            if any(note.is_signed_by(bytes.fromhex(key.public_key)) for key in self._keys):
                return note
        except MalformedNote:
            pass
        raise Broken(
            proof.seq,
            "note_wrong",
            f"The head of the log at event {proof.seq} is not signed by a key of this record.",
        )

    def _remember(self, seq: int, note: Note) -> None:
        """A log has one root at each size. Two are the proof that its owner shows two histories."""
        head, root = f"{note.origin} {note.size}", note.root.hex()
        if self._heads.setdefault(head, root) != root:
            raise Broken(
                seq,
                "two_histories",
                f"The server signed two different heads of its log at size {note.size}: it shows"
                " different histories to different readers.",
            )
        self._found.log_heads[head] = root
        if self._origin not in (None, note.origin):
            self._found.new_logs.append(seq)
        self._origin = note.origin

    def _cosigned(self, seq: int, note: Note) -> list[Cosigned]:
        found = []
        for one in self._witnesses:
            try:
                at = note.cosigned_at(one.name, bytes.fromhex(one.public_key))
            except MalformedNote:
                raise Broken(
                    seq,
                    "witness_wrong",
                    f"The head of the log at event {seq} is not signed by the witness"
                    f" {quoted(one.name)}.",
                ) from None
            if at is not None:
                found.append(Cosigned(seq, at, one.name, fingerprint(one.public_key)))
        return found

    def _stamped(self, seq: int, note: Note, authority: str, response: bytes) -> Stamped:
        try:
            said = time_stamps.check(response, note.text, self._trusted())
        except WrongStamp:
            raise Broken(
                seq,
                "stamp_wrong",
                f"The time stamp of {quoted(authority)} at event {seq} is over something else, or"
                " not signed by that authority.",
            ) from None
        return Stamped(seq, said.at, authority, said.is_trusted)


def _leads_to(proof: Proof, model_id: str, note: Note) -> bool:
    """Whether the head of the tape is in the tree, and the tree in the log."""
    tree, log = proof.tree, proof.log
    head = merkle.leaf_hash(log_entries.head_data(model_id, proof.seq, bytes.fromhex(proof.link)))
    root = merkle.root_of_path(head, tree.leaf, tree.size, _hashes(tree.path))
    if root is None:
        return False
    entry = merkle.leaf_hash(log_entries.entry_data(tree.size, root, log.at))
    reached = merkle.root_of_path(entry, log.entry, log.size, _hashes(log.path))
    return (log.size, reached) == (note.size, note.root)


def _hashes(path: Sequence[str]) -> list[bytes]:
    return [bytes.fromhex(one) for one in path]
