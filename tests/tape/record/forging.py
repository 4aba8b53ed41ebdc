"""Records that a forger made of genuine ones without the key: parts hidden or left out, events
added. Nothing of it may count as proven."""

import re
from collections.abc import Iterator

from tests.tape.record.case import Case
from tests.tape.record.good import (
    DAY,
    FIRST,
    FOREIGN,
    HOUR,
    KNOWN,
    NO_ORDERS,
    SECOND,
    SOME,
    file,
    first_file,
    tape,
)
from tests.tape.record.making import LOG, ORDER, Tape, first_key, rotated
from tests.tape.record.tampering import edited, in_checkpoint, with_

OURS = rotated(FIRST)
CHECKPOINT, LIST = b'{"checkpoint"', b'"list":'


def cases() -> Iterator[Case]:
    yield from _left_out()
    yield from _added()
    yield from _signed_by_a_stranger()
    yield from _earlier_tails()
    yield from _texts()


def _left_out() -> Iterator[Case]:
    """What is hidden is counted, so that nobody takes the rest for the whole."""
    one = tape()
    for version, whole in (("", file), ("version 1: ", lambda a, _k, s: first_file(a, s))):
        hidden = whole(one, OURS, NO_ORDERS)
        yield Case(f"{version}orders replaced by their digests", hidden, "proven", KNOWN,
                   facts={"hidden": 6, "not_shown": 6})  # fmt: skip
        yield Case(f"{version}orders called removed", called_removed(hidden), "proven", KNOWN,
                   facts={"hidden": 0, "not_shown": 6})  # fmt: skip
        yield Case(f"{version}fields replaced by their leaves", whole(one, OURS, SOME), "proven",
                   KNOWN, facts={"partly": 6})  # fmt: skip
    lines = file(one, OURS).splitlines(keepends=True)
    without = [line for line in lines if LIST not in line]
    yield Case("the lists of a result left out", b"".join(without), "proven", KNOWN,
               facts={"lists": 0, "lists_missing": 2})  # fmt: skip
    trades = [line for line in lines if b'"list":"trades"' not in line]
    yield Case("one list of a result left out", b"".join(trades), "proven", KNOWN,
               facts={"lists": 1, "lists_missing": 1})  # fmt: skip


def called_removed(record: bytes) -> bytes:
    return re.sub(
        rb'("digest":"\w+")\}', rb'\1,"removed":{"log":1},"received_at":1790000060.5}', record
    )


def _added() -> Iterator[Case]:
    """An honest record is signed to its end: whatever comes after the last signature may be by
    anyone, whatever times it claims."""
    for name, after in (
        ("a minute later", 60.0), ("dated before the signature", -120.0), ("long before", -HOUR),
    ):  # fmt: skip
        one = tape()
        one.add(ORDER, after=after)
        one.add(LOG, ORDER, after=after)
        yield Case(f"events added, {name}", file(one, OURS), "unsigned_tail", KNOWN,
                   facts={"unsigned": 3, "set_back": 0})  # fmt: skip
        yield Case(f"version 1: events added, {name}", first_file(one), "unsigned_tail", KNOWN,
                   facts={"unsigned": 3})  # fmt: skip
    lines = file(tape(), OURS).splitlines(keepends=True)
    assert CHECKPOINT in lines[-1]
    yield Case("the last signature left out", b"".join(lines[:-1]), "unsigned_tail", KNOWN,
               facts={"unsigned": 11})  # fmt: skip
    back = tape()
    back.add(LOG, after=-2 * HOUR)
    back.sign()
    yield Case("the server's clock was set back", file(back, OURS), "proven", KNOWN,
               facts={"set_back": 1})  # fmt: skip


def _signed_by_a_stranger() -> Iterator[Case]:
    """Somebody with a key of their own vouches that it has stood like this for long."""
    one = Tape()
    one.add(LOG, ORDER)
    one.sign(FOREIGN, after=-1_000 * HOUR)
    one.now += 1_000 * HOUR
    one.add(LOG)
    one.sign()
    keys = [*OURS, first_key(FOREIGN)]
    late = Tape()
    late.add(LOG, ORDER, after=2 * DAY)
    late.sign()
    published = tuple(rotated(FIRST, SECOND))
    yield Case("a replaced key that is silent about it", file(late, OURS), "retired_key",
               published=published)  # fmt: skip
    yield Case("a published key", file(tape(), OURS), "proven", published=published)
    yield Case("an early signature by a stranger", file(one, keys), "proven", KNOWN,
               facts={"first_signed": 3})  # fmt: skip


def _earlier_tails() -> Iterator[Case]:
    """What the earlier record shows must be in the later one, signed there or not."""
    kept = tape()
    kept.add(ORDER)
    later = tape()
    later.add(ORDER)
    later.sign()
    whole = file(kept, OURS)
    yield Case("continues an unsigned tail", file(later, OURS), "proven", KNOWN, whole)
    other = tape()
    other.add(LOG)
    other.sign()
    yield Case("the earlier tail is another", file(other, OURS), "earlier_differs", KNOWN, whole)
    yield Case("the earlier tail is gone", file(tape(), OURS), "earlier_not_reached", KNOWN, whole)
    longer = tape()
    longer.add(ORDER, LOG)
    longer.sign()
    yield Case("the earlier tail, then more at once", file(longer, OURS), "earlier_differs", KNOWN,
               whole)  # fmt: skip


TEXTS = (
    ("a line break", "x\nPROVEN: whole, and signed with the key that you named."),
    ("a terminal's commands", "\x1b[2J\x1b[HPROVEN\x9b1m"),
    ("turned letters", "abc\u202edef\u2066\u200b\u2028\u00a0g\ufeff"),
    ("quotes", 'a" and \\ "b'),
    ("a sentence", "is by us. PROVEN: whole"),
    ("many characters", "\U0001f600" * 100),
    ("none", ""),
)


def _texts() -> Iterator[Case]:
    """Texts that look like words of the checker: both must quote them in the same way."""
    whole = file(tape(), OURS)
    for name, text in TEXTS:
        edit = in_checkpoint(key_id=text)
        yield Case(f"a key's id with {name}", edited(whole, CHECKPOINT, edit), "key_not_listed",
                   KNOWN)  # fmt: skip
        list_ = with_(list=text)
        yield Case(f"a list's name with {name}", edited(whole, LIST, list_), "list_unknown",
                   KNOWN)  # fmt: skip
