"""The last line of a record: the server signs the file as it wrote it. So nobody can hide a part,
leave one out, or change the first line, without a trace."""

from hashlib import sha256

import msgspec

from tapeline.tape.proof.signer import Hand
from tapeline.tape.record.lines import FileSignature, SignedFile

BEGINS = b'{"file":'


class WrittenFile:
    """Reads along while a record is written, and ends it with its signature."""

    def __init__(self, model_id: str, hand: Hand) -> None:
        self._model_id = model_id
        self._hand = hand
        self._hash = sha256()

    def take(self, piece: bytes) -> bytes:
        self._hash.update(piece)
        return piece

    def last_line(self) -> bytes:
        digest = self._hash.hexdigest()
        signature = self._hand.sign(statement(self._model_id, digest)).hex()
        signed = SignedFile(FileSignature(digest, self._hand.key_id, signature))
        return msgspec.json.encode(signed) + b"\n"


def statement(model_id: str, digest: str) -> bytes:
    """The signed statement: we wrote a record of this model with this hash. It has no time, so the
    same record has the same bytes whenever it is written."""
    return msgspec.json.encode(["tapeline file", model_id, digest])
