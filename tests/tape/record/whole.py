"""Records of which the server signed the whole file, and what a forger may do to one."""

import re
from collections.abc import Callable, Iterator, Sequence

from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.signer import Hand
from tapeline.tape.record import writing
from tapeline.tape.record.whole_file import WrittenFile
from tapeline.tape.record.writing import ALL, Shows
from tests.tape.record.case import Case
from tests.tape.record.forging import CHECKPOINT, LIST, called_removed
from tests.tape.record.good import (
    FIRST,
    FOREIGN,
    KNOWN,
    NO_ORDERS,
    NOTHING,
    SECOND,
    SOME,
    across_a_rotation,
    tape,
)
from tests.tape.record.making import LOG, ORDER, Tape, first_key, key, rotated
from tests.tape.record.tampering import edited, swap

OURS = rotated(FIRST)
FILE = b'{"file"'


def written(one: Tape, shows: Shows = ALL, keys: Sequence[Key] = OURS, by: int = FIRST) -> bytes:
    """As a server writes it; `by` signs the file."""
    lines = [writing.head(one.model_id, one.seq, shows, keys), *one.lines(shows)]
    file = WrittenFile(one.model_id, Hand(first_key(by).key_id, key(by).sign))
    return b"".join([*map(file.take, lines), file.last_line()])


def cases() -> Iterator[Case]:
    one = tape()
    for name, shows in (
        ("everything", ALL), ("nothing", NOTHING), ("some fields", SOME), ("no orders", NO_ORDERS),
    ):  # fmt: skip
        whole = written(one, shows)
        yield Case(f"signed file, shows {name}", whole, "proven", KNOWN)
        yield Case(f"signed file, shows {name}, signer unknown", whole, "unknown_signer")
    yield Case("signed file without events", written(Tape()), "unsigned", KNOWN)
    removed = tape()
    removed.remove(3)
    yield Case("signed file, retention removed a group", written(removed), "proven", KNOWN,
               facts={"not_shown": 0})  # fmt: skip
    yield from _keys()
    yield from _tampered(written(one))


def _keys() -> Iterator[Case]:
    one, keys = across_a_rotation(), rotated(FIRST, SECOND)
    yield Case("signed file, rotated", written(one, keys=keys, by=SECOND), "proven", KNOWN)
    yield Case("signed file, by the replaced key", written(one, keys=keys), "retired_key", KNOWN)
    strangers = [*OURS, first_key(FOREIGN)]
    whole = written(tape(), keys=strangers, by=FOREIGN)
    yield Case("a stranger signs our record", whole, "unknown_signer", KNOWN)
    hidden = written(tape(), NO_ORDERS, strangers, FOREIGN)
    yield Case("a stranger hides our orders", hidden, "unknown_signer", KNOWN)
    yield Case("signed file, by a key that is not listed", written(tape(), by=FOREIGN),
               "key_not_listed", KNOWN)  # fmt: skip
    unsigned = tape()
    unsigned.add(LOG)
    yield Case("signed file, its end is not", written(unsigned), "unsigned_tail", KNOWN)


def _tampered(whole: bytes) -> Iterator[Case]:
    lines = whole.splitlines(keepends=True)
    *content, last = lines
    first = lines[0].replace(b'"shows":"all"', b'"shows":"part"')
    hidden = b"".join(tape().lines(NO_ORDERS))
    witness = b'"witnesses":[{"name":"w","public_key":"%b"}]' % first_key(4).public_key.encode()
    for name, record, verdict in (
        ("its signature left out", b"".join(content), "file_not_signed"),
        ("cut off in the middle", b"".join(lines[:5]), "ends_early"),
        ("orders hidden", lines[0] + hidden + last, "not_all_shown"),
        ("fields hidden", lines[0] + b"".join(tape().lines(SOME)) + last, "not_all_shown"),
        ("orders hidden, and it says so", first + hidden + last, "file_changed"),
        ("it says that it hides something", b"".join([first, *lines[1:]]), "file_changed"),
        ("a witness added", whole.replace(b'"witnesses":[]', witness, 1), "file_changed"),
        ("the lists of a result left out", _without(LIST, lines), "file_changed"),
        ("every signature but the last left out", _without(CHECKPOINT, lines), "file_changed"),
        ("orders called removed", lines[0] + called_removed(hidden) + last, "file_changed"),
        ("signed twice", whole + last, "not_canonical"),
        ("a line after its end", whole + lines[1], "not_canonical"),
        ("signed before its end", b"".join([*content[:-3], last, *content[-3:]]), "ends_early"),
        ("made one of version 2", whole.replace(b'"version":3', b'"version":2').replace(
            b'"shows":"all",', b""), "not_canonical"),
        ("shows something else", whole.replace(b'"shows":"all"', b'"shows":"most"'),
         "not_canonical"),
    ):  # fmt: skip
        yield Case(f"signed file, {name}", record, verdict, KNOWN)
    for name, edit, verdict in EDITS:
        yield Case(f"signed file, {name}", edited(whole, FILE, edit), verdict, KNOWN)
    other = Tape(seed="another")
    other.add(LOG, ORDER)
    other.sign()
    swapped = written(other).splitlines(keepends=True)[-1]
    yield Case("signed file, the signature of another", b"".join([*content, swapped]),
               "file_changed", KNOWN)  # fmt: skip


def _without(part: bytes, lines: Sequence[bytes]) -> bytes:
    return b"".join(one for one in lines if part not in one)


def _put(name: bytes, value: bytes) -> Callable[[bytes], bytes]:
    return lambda line: re.sub(rb'"%b":"\w+"' % name, b'"%b":"%b"' % (name, value), line)


EDITS: tuple[tuple[str, Callable[[bytes], bytes], str], ...] = (
    ("another hash", _put(b"sha256", b"0" * 64), "file_changed"),
    ("another signature", _put(b"signature", b"0" * 128), "signature_wrong"),
    ("a short signature", _put(b"signature", b"00"), "signature_wrong"),
    ("a signature in capitals", _put(b"signature", b"AA" * 64), "not_canonical"),
    ("another key's id", swap(KNOWN[0][:8].encode(), b"00000000"), "key_not_listed"),
    ("a space", swap(b'"key_id":', b'"key_id": '), "not_canonical"),
)
