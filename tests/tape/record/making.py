"""Makes tapes and records without a server, always the same bytes: for the set of records that
every checker is tested with."""

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tapeline.tape.events import kinds
from tapeline.tape.events.kinds import Kind
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import key_chain, older_seals, removed, seals
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.removed import Removed
from tapeline.tape.proof.seals import GENESIS, PiecesDigest
from tapeline.tape.proof.signer import statement
from tapeline.tape.record import writing
from tapeline.tape.record.lines import SecondHead, Witness
from tapeline.tape.record.writing import ALL, Shows

MODEL = "2vf5v8gcd8g79vvg"
START = 1_790_000_000.0  # epoch seconds
LOG, ORDER, CASH, RESULT = kinds.LOG, kinds.SPOT_MARKET, kinds.CASH, kinds.BACKTEST_RESULT
TRADES = b'[{"side":"buy","symbol":"BTC-USD","time":1790000000.0},{"side":"sell"}]'
SPREAD = b'[ {"time": 1790000000.0,\n  "value": 10} ]'
"""A list that came with whitespace and was sealed with it, as older versions did."""


def key(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(some_bytes(f"key {number}", 32))


def some_bytes(seed: str, count: int) -> bytes:
    """Bytes that look random and are the same in every run."""
    blocks = (sha256(f"{seed} {block}".encode()).digest() for block in range(count // 32 + 1))
    return b"".join(blocks)[:count]


def first_key(number: int) -> Key:
    return Key(key_chain.public_hex(key(number)))


def rotated(*numbers: int) -> list[Key]:
    """A chain of keys, each made a day after the one before."""
    chain = [first_key(numbers[0])]
    for day, (before, after) in enumerate(pairwise(numbers), 1):
        chain.append(key_chain.succeed(key(before), key(after), START + 86_400.0 * day))
    return chain


def body_of(seq: int, kind: Kind) -> bytes:
    if kind is LOG:
        fields: dict[str, Any] = {"line": f"line {seq} \u2028 ü", "type": "stdout"}
    elif kind is CASH:
        fields = {"amount": -12.5, "id": f"c{seq}", "type": "fee"}
    elif kind is RESULT:
        fields = {"backtest_id": "b1", "digests": digests()}
    else:
        fields = {"id": f"o{seq}", "note": {"deep": [1, None, "ü"]}, "price": 100.0, "side": "buy",
                  "size": 1.5, "symbol": "BTC-USD"}  # fmt: skip
    return msgspec.json.encode(fields, order="deterministic")


def digests() -> dict[str, str]:
    trades, values = PiecesDigest(), PiecesDigest()
    trades.add(0, 0, TRADES)
    values.add(0, 0, SPREAD)
    return {"account_values": values.hex(), "trades": trades.hex()}


def lists_of(seq: int) -> list[bytes]:
    return [
        writing.list_line(seq, "account_values", 0, 0, SPREAD),
        writing.list_line(seq, "trades", 0, 0, TRADES),
    ]


class Tape:
    """Groups of events, sealed as a server seals them."""

    def __init__(self, model_id: str = MODEL, seed: str = "tape") -> None:
        self.model_id = model_id
        self.groups: list[Sequence[StoredEvent]] = []
        self.links = [GENESIS]
        self.signed: dict[int, Checkpoint] = {}
        self._seed = seed
        self.now = START

    @property
    def seq(self) -> int:
        return removed.last(self.groups[-1][-1]) if self.groups else 0

    def add(self, *group: Kind, rule: int = 3, after: float = 60.0) -> None:
        self.now += after
        records = [self._event(self.seq + place, kind, rule) for place, kind in enumerate(group, 1)]
        self._seal(records, rule)

    def add_order(self, fields: dict[str, Any], claims: float = 0.0) -> None:
        """An order with these fields that claims to be so many seconds later than it is."""
        self.now += 60.0
        body = msgspec.json.encode(fields, order="deterministic")
        salt = some_bytes(f"{self._seed} salt {self.seq + 1}", seals.SALT_BYTES * len(fields))
        order = StoredEvent(
            self.seq + 1, ORDER.number, self.now + claims, self.now, body, "run", None, salt
        )
        self._seal([order], 3)

    def tell(self, kind: Kind, fields: dict[str, Any], at: float, after: float = 60.0) -> None:
        """Any event, which claims this time and arrives so many seconds after the one before."""
        self.now += after
        body = msgspec.json.encode(fields, order="deterministic")
        size = seals.SALT_BYTES * len(fields)
        is_sealed = kind in kinds.SEALED
        salt = some_bytes(f"{self._seed} salt {self.seq + 1}", size) if is_sealed else None
        one = StoredEvent(self.seq + 1, kind.number, at, self.now, body, "run", None, salt)
        self._seal([one], 3)

    def _seal(self, records: list[StoredEvent], rule: int) -> None:
        has_plain = any(one.salt is None for one in records)
        nonce = (
            some_bytes(f"{self._seed} nonce {self.seq}", 16) if rule == 3 and has_plain else None
        )
        contents = [seals.content(one) for one in records]
        if rule == 1:
            link = older_seals.link(self.links[-1], records)
        else:
            link = seals.link(self.links[-1], records, contents, nonce)
        records[-1] = msgspec.structs.replace(records[-1], link=link, nonce=nonce)
        self.groups.append(records)
        self.links.append(link)

    def sign(self, number: int = 0, after: float = 1.0, model_id: str | None = None) -> None:
        self.now += after
        link = self.links[-1]
        said = statement(model_id or self.model_id, self.seq, link, self.now)
        signature = key(number).sign(said).hex()
        key_id = first_key(number).key_id
        self.signed[self.seq] = Checkpoint(self.seq, link.hex(), self.now, key_id, signature)

    def remove(self, place: int) -> None:
        """Let retention remove a group of plain events."""
        group = self.groups[place]
        nonce = group[-1].nonce
        span = Removed(
            group[0].seq, removed.KIND, group[-1].received_at, group[-1].received_at,
            seals.digest_of_run(seals.frames(group), nonce, 0), None, None, None, None, None,
            group[-1].seq, True, {LOG.number: len(group)},
        )  # fmt: skip
        self.groups[place] = [span]

    def lines(self, shows: Shows = ALL, upto: int | None = None) -> list[bytes]:
        """Without the first line."""
        found: list[bytes] = []
        for previous, group in zip(self.links[:upto], self.groups[:upto], strict=False):
            for piece in writing.written(previous, [group], shows, self.signed).pieces:
                if isinstance(piece, bytes):
                    found += piece.splitlines(keepends=True)
                else:
                    found += lists_of(piece.seq)
        return found

    def _event(self, seq: int, kind: Kind, rule: int) -> StoredEvent:
        body, salt = body_of(seq, kind), None
        if kind in kinds.SEALED:
            fields = msgspec.json.decode(body, type=dict[str, Any])
            size = older_seals.SALT_BYTES if rule == 1 else seals.SALT_BYTES * len(fields)
            salt = some_bytes(f"{self._seed} salt {seq}", size)
        backtest = "b1" if kind is RESULT else None
        return StoredEvent(
            seq, kind.number, self.now - 0.25, self.now + seq / 1000, body, "run", backtest, salt
        )


def head(tape: Tape, keys: Sequence[Key]) -> bytes:
    return second_head(tape.model_id, tape.seq, keys)


def second_head(
    model_id: str, seq: int, keys: Sequence[Key], witnesses: Sequence[Witness] = ()
) -> bytes:
    """The first line as the second version wrote it."""
    said = SecondHead("record", 2, model_id, seq, [*keys], [*witnesses])
    return msgspec.json.encode(said) + b"\n"


def first_head(tape: Tape, number: int = 0) -> bytes:
    """The first line as the first version wrote it."""
    one = first_key(number)
    said = {
        "tapeline": "record", "version": 1, "model_id": tape.model_id,
        "public_key": one.public_key, "key_id": one.key_id, "seq": tape.seq,
    }  # fmt: skip
    return msgspec.json.encode(said) + b"\n"
