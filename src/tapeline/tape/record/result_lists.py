"""Checks the long lists of backtest results in a record against the digests that were signed."""

import struct

import msgspec

from tapeline.tape.backtest_results import result_format
from tapeline.tape.proof import seals
from tapeline.tape.record.lines import Piece
from tapeline.tape.record.outcome import Broken
from tapeline.tape.record.quoting import quoted

AS_TEXT = {"account_values", "trades"}
NEVER_WRITTEN = "equity"  # the account values again
EMPTY = seals.PiecesDigest().hex()


class _Result(msgspec.Struct):
    digests: dict[str, str]


class ResultLists:
    def __init__(self) -> None:
        self._signed: dict[int, dict[str, str]] = {}
        self._begun: dict[tuple[int, str], tuple[seals.PiecesDigest, int]] = {}

    def expect(self, seq: int, body: bytes) -> None:
        self._signed[seq] = msgspec.json.decode(body, type=_Result).digests

    def take(self, line: Piece) -> None:
        name = line.list
        if name not in self._signed.get(line.seq, {}):
            raise Broken(
                line.seq,
                "list_unknown",
                f"There is a list {quoted(name)} that no result speaks of.",
            )
        digest, piece = self._begun.get((line.seq, name), (seals.PiecesDigest(), 0))
        if line.piece != piece:
            raise Broken(
                line.seq, "list_piece_missing", f"A piece of the list {quoted(name)} is missing."
            )
        items = _as_sealed(line)
        if name not in AS_TEXT:
            items = _doubles(msgspec.json.decode(items, type=list[dict[str, float | None]]))
        digest.add(line.piece, line.first, items)
        self._begun[line.seq, name] = (digest, piece + 1)

    def complete(self) -> tuple[int, int]:
        """How many lists there are, and how many are missing; raises if one is not what was
        signed."""
        for (seq, name), (digest, _) in self._begun.items():
            if self._signed[seq].get(name) != digest.hex():
                raise Broken(
                    seq,
                    "list_wrong",
                    f"The list {quoted(name)} of the result is not what was signed.",
                )
        missing = [
            name
            for seq, named in self._signed.items()
            for name, digest in named.items()
            if (seq, name) not in self._begun and name != NEVER_WRITTEN and digest != EMPTY
        ]
        return len(self._begun), len(missing)


def _as_sealed(line: Piece) -> bytes:
    """The bytes of a list's piece that its digest was made of."""
    items = bytes(line.items)
    if line.sealed is None:
        return items
    if result_format.compacted(line.sealed) != items:
        raise Broken(
            line.seq,
            "list_shown_differently",
            f"The list {quoted(line.list)} shows something else than what was signed.",
        )
    return line.sealed


def _doubles(items: list[dict[str, float | None]]) -> bytes:
    nan = float("nan")
    doubles = [one["time"] or 0.0 for one in items]
    doubles += [nan if (value := one["value"]) is None else value for one in items]
    return struct.pack(f"<{len(doubles)}d", *doubles)
