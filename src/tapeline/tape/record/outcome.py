"""The result of checking a record, and the exit status that follows from it."""

from typing import Any

import msgspec

from tapeline.tape.proof.checkpoints import Checkpoint

PROVEN, BROKEN, UNKNOWN_SIGNER, UNSIGNED = 0, 1, 3, 4


class Late(msgspec.Struct, frozen=True):
    seq: int
    seconds: float
    kind: str = ""


class Change(msgspec.Struct, frozen=True):
    """Of how positions are kept or of the capital: by the model's owner, or at an upgrade."""

    seq: int
    received_at: float
    fields: dict[str, Any]
    """As far as they are shown."""


class Stamped(msgspec.Struct, frozen=True):
    """A time stamp of an outside authority: events up to this one existed then."""

    seq: int
    at: float
    authority: str
    is_trusted: bool
    """Whether its certificate leads to one that the reader trusts."""


class Cosigned(msgspec.Struct, frozen=True):
    """The signature of a witness: it saw this head of the log, and that it extends those before."""

    seq: int
    at: float
    name: str
    fingerprint: str


class Checked(msgspec.Struct, kw_only=True):
    """The result of checking a record."""

    model_id: str = ""
    key_id: str = ""
    """Of the key that made the last signature."""
    fingerprint: str = ""
    is_known: bool = False
    """Whether that key was given, or belongs to the chain of one that was."""
    is_retired: bool = False
    """Whether it signed long after it had been replaced."""
    events: int = 0
    hidden: int = 0
    """Events that are hidden completely."""
    partly: int = 0
    """Orders with hidden fields."""
    removed: dict[str, int] = {}
    """Events that the server says its retention removed, by kind."""
    removed_until: float = 0.0
    """When the newest of them was received."""
    is_file_signed: bool = False
    """Whether the server signed the file as it is, with all that it hides or says of it."""
    lists: int = 0
    """Long lists of results whose digests match."""
    lists_missing: int = 0
    """Lists that results name, and that are not in the file."""
    link: str = ""
    """Of the last event."""
    first: Checkpoint | None = None
    """By a key that is known, or of the same chain as that of the last signature."""
    last: Checkpoint | None = None
    unsigned: int = 0
    """Events after the last signature. An honest record has none."""
    unsigned_from: float | None = None
    """When the first of them claims to have arrived; None if they do not say it."""
    unsigned_until: float | None = None
    set_back: int = 0
    """Events that arrived long before an earlier one: the server's clock was set back."""
    set_back_by: float = 0.0
    """Seconds, at most."""
    uncounted: int = 0
    """Signatures by keys that are not in the file."""
    proofs: int = 0
    cosignatures: list[Cosigned] = []
    stamps: list[Stamped] = []
    stamp_gap: float | None = None
    """The longest time from the arrival of an event to the trusted stamp that confirms it."""
    unstamped: int = 0
    """Events after the last trusted stamp."""
    log_heads: dict[str, str] = {}
    """Roots of the server's log, by its name and size."""
    new_logs: list[int] = []
    """Events at which proofs begin to be of another log: the server was restored or copied."""
    late: list[Late] = []
    """Orders, prices, cash and positions that arrived long after their own time."""
    replaced: list[int] = []
    """Cash that replaced other cash, as far as its ids are shown."""
    changes: list[Change] = []
    broken_at: int | None = None
    """The first event that differs from what was signed."""
    reason: str | None = None
    """A sentence, if it is broken."""
    code: str = ""
    """The same as a word for programs."""

    @property
    def is_whole(self) -> bool:
        return self.reason is None

    @property
    def not_shown(self) -> int:
        """Events of which the file has a digest only. Of which kind removed ones were is the
        server's statement if it signed the file; otherwise they may have been orders."""
        return self.hidden + (0 if self.is_file_signed else sum(self.removed.values()))

    @property
    def is_partial(self) -> bool:
        """Whether something may be hidden that counts."""
        return self.not_shown > 0 or self.partly > 0

    @property
    def status(self) -> int:
        """Broken before unsigned before unknown: a script reads the worst of them."""
        if not self.is_whole:
            return BROKEN
        if self.last is None or self.unsigned:
            return UNSIGNED
        return PROVEN if self.is_known and not self.is_retired else UNKNOWN_SIGNER

    @property
    def verdict(self) -> str:
        """A word for programs, in every case."""
        if self.status == BROKEN:
            return self.code
        if self.status == UNSIGNED:
            return "unsigned" if self.last is None else "unsigned_tail"
        if self.status == PROVEN:
            return "proven"
        return "retired_key" if self.is_known else "unknown_signer"


class Broken(Exception):
    """Where a record differs from what was signed."""

    def __init__(self, seq: int, code: str, reason: str) -> None:
        super().__init__(reason)
        self.seq = seq
        self.code = code
        self.reason = reason
