"""Records that nobody tampered with: of this version, of the first, with keys that changed."""

from collections.abc import Iterator, Sequence

from tapeline.tape.proof.key_chain import Key
from tapeline.tape.record.writing import ALL, Shows
from tests.tape.record.case import Case
from tests.tape.record.making import (
    CASH,
    LOG,
    ORDER,
    RESULT,
    Tape,
    first_head,
    first_key,
    head,
    rotated,
)

NOTHING = Shows(lambda _record: False, lambda _name, _fields: False)
SOME = Shows(lambda record: record.seq % 2 == 0, lambda name, _fields: name == "side")
NO_ORDERS = Shows(None, None, orders=False)
FIRST, SECOND, FOREIGN = 0, 1, 7  # numbers of keys
KNOWN = (first_key(FIRST).fingerprint,)
HOUR, DAY = 3_600.0, 86_400.0


def file(tape: Tape, keys: Sequence[Key], shows: Shows = ALL) -> bytes:
    return b"".join([head(tape, keys), *tape.lines(shows)])


def first_file(tape: Tape, shows: Shows = ALL) -> bytes:
    return b"".join([first_head(tape), *tape.lines(shows)])


def tape() -> Tape:
    """Of every rule and every kind of line, signed twice."""
    one = Tape()
    one.add(LOG, ORDER, LOG)
    one.sign()
    one.add(ORDER, ORDER, rule=2)
    one.add(LOG, rule=2)
    one.add(LOG, LOG)
    one.add(LOG, RESULT, CASH)
    one.add(LOG, ORDER, rule=1)
    one.add(ORDER)
    one.sign()
    return one


def across_a_rotation() -> Tape:
    one = Tape()
    one.add(LOG, ORDER)
    one.sign(FIRST)
    one.add(ORDER, after=DAY)
    one.sign(SECOND, after=HOUR)
    return one


def cases() -> Iterator[Case]:
    one, keys = tape(), rotated(FIRST)
    for name, shows in (
        ("everything", ALL), ("nothing", NOTHING), ("some fields", SOME), ("no orders", NO_ORDERS),
    ):  # fmt: skip
        yield Case(f"shows {name}", file(one, keys, shows), "proven", KNOWN)
        yield Case(f"shows {name}, signer unknown", file(one, keys, shows), "unknown_signer")
        yield Case(f"version 1, shows {name}", first_file(one, shows), "proven", KNOWN)
    yield Case("version 1, signer unknown", first_file(one), "unknown_signer")
    yield Case("a key named by its first 16 digits", file(one, keys), "proven", (KNOWN[0][:16],))
    yield Case("a key named in full", file(one, keys), "proven", (first_key(FIRST).public_key,))
    yield Case("another key is known", file(one, keys), "unknown_signer", (first_key(7).key_id,))
    yield from _rotations()
    yield from _tails()
    yield from _histories()
    one = tape()
    one.remove(3)
    yield Case("retention removed a group", file(one, keys), "proven", KNOWN)
    yield Case("retention removed a hidden group", file(one, keys, SOME), "proven", KNOWN)
    yield Case("version 1, retention removed a group", first_file(one), "proven", KNOWN)


def _rotations() -> Iterator[Case]:
    one, keys = across_a_rotation(), rotated(FIRST, SECOND)
    second = (first_key(SECOND).fingerprint,)
    yield Case("rotated, the old key is known", file(one, keys), "proven", KNOWN)
    yield Case("rotated, the new key is known", file(one, keys), "proven", second)
    yield Case("rotated, no key is known", file(one, keys), "unknown_signer")
    thrice = rotated(FIRST, SECOND, 2, 3)
    yield Case("rotated three times", file(one, thrice), "proven", (thrice[3].key_id,))
    yield Case(
        "version 1, the last key is not in the file", first_file(one), "unsigned_tail", KNOWN
    )
    one.add(LOG, after=DAY)
    one.sign(FIRST)
    yield Case("signed with a replaced key", file(one, keys), "retired_key", KNOWN)
    one = across_a_rotation()
    one.add(LOG)
    one.sign(FOREIGN)
    servers = [*keys, first_key(FOREIGN)]
    yield Case("two servers, one known", file(one, servers), "unknown_signer", KNOWN)
    both = (*KNOWN, first_key(FOREIGN).key_id)
    yield Case("two servers, both known", file(one, servers), "proven", both)
    one.add(ORDER)
    one.sign(SECOND)
    yield Case("two servers, the last is known", file(one, servers), "proven", KNOWN)
    yield Case("version 1, of two servers", first_file(_two_servers()), "proven", KNOWN)


def _two_servers() -> Tape:
    """Its first signature is by a key that the first version did not put into the file."""
    one = Tape()
    one.add(LOG)
    one.sign(FOREIGN)
    one.add(ORDER)
    one.sign(FIRST)
    return one


def _tails() -> Iterator[Case]:
    keys = rotated(FIRST)
    one = Tape()
    yield Case("no events", file(one, keys), "unsigned", KNOWN)
    one.add(LOG, ORDER)
    yield Case("never signed", file(one, keys), "unsigned", KNOWN)
    yield Case("version 1, never signed", first_file(one), "unsigned", KNOWN)
    one.sign()
    one.add(LOG, after=HOUR / 2)
    yield Case("half an hour is not signed", file(one, keys), "unsigned_tail", KNOWN)
    yield Case("half an hour is not signed or known", file(one, keys), "unsigned_tail")
    yield Case("the end is not signed and hidden", file(one, keys, NOTHING), "unsigned_tail", KNOWN)
    one.add(ORDER, after=HOUR)
    yield Case("more than an hour is not signed", file(one, keys), "unsigned_tail", KNOWN)


def _histories() -> Iterator[Case]:
    """With an earlier record: the database may have been set back in between."""
    keys = rotated(FIRST)
    earlier, later = Tape(), tape()
    earlier.add(LOG, ORDER, LOG)
    earlier.sign()
    kept = file(earlier, keys)
    yield Case("continues the earlier record", file(later, keys), "proven", KNOWN, kept)
    yield Case(
        "continues one of version 1", file(later, keys), "proven", KNOWN, first_file(earlier)
    )
    hidden = file(earlier, keys, NOTHING)
    yield Case("continues one that hides more", file(later, keys), "proven", KNOWN, hidden)
    back = Tape()
    back.add(LOG, ORDER, LOG)
    back.add(LOG)
    back.sign()
    yield Case("goes on after it was set back", file(back, keys), "proven", KNOWN, kept)
    yield Case("was set back", kept, "earlier_not_reached", KNOWN, file(later, keys))
    other = Tape(seed="another")
    other.add(LOG, ORDER, LOG)
    other.add(LOG)
    other.sign()
    yield Case("was written anew", file(other, keys), "earlier_differs", KNOWN, kept)
    stranger = Tape("another-model")
    stranger.add(LOG)
    stranger.sign()
    yield Case("is of another model", file(stranger, keys), "other_model", KNOWN, kept)
