"""Ways to tamper with a record: edited lines, lines in another form, other keys and signatures."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from tapeline.tape.proof import key_chain
from tapeline.tape.proof.key_chain import Key
from tests.tape.record.case import Case
from tests.tape.record.good import (
    DAY,
    FIRST,
    FOREIGN,
    HOUR,
    KNOWN,
    SECOND,
    across_a_rotation,
    file,
    first_file,
    tape,
)
from tests.tape.record.making import LOG, ORDER, START, Tape, first_key, head, key, rotated

Edit = Callable[[bytes], bytes]

BODY, ORDERED, LINK = rb'{"seq":1,"kind":"log"', rb'{"seq":2,"kind":"spot', rb'{"seq":3,"link"'
CHECKPOINT, TRADES, VALUES = (
    rb'{"checkpoint"',
    rb'{"seq":10,"list":"trades"',
    rb'"account_values","p',
)
HEAD, REMOVED, HIDDEN = rb'{"tapeline"', rb'"removed"', rb'"until":1,'


def cases() -> Iterator[Case]:
    whole = file(tape(), rotated(FIRST))
    for name, line, edit, verdict in (*EDITS, *FORMS):
        yield Case(name, edited(whole, line, edit), verdict, KNOWN)
    for name, change, verdict in MOVES:
        yield Case(name, b"".join(change(whole.splitlines(keepends=True))), verdict, KNOWN)
    first = first_file(tape())
    for name, line, edit, verdict in OF_VERSION_1:
        yield Case(f"version 1: {name}", edited(first, line, edit), verdict, KNOWN)
    yield from _keys()
    yield from _forgeries()


def edited(whole: bytes, line: bytes, edit: Edit) -> bytes:
    """With the first line that contains a text changed."""
    lines = whole.splitlines(keepends=True)
    place = next(place for place, one in enumerate(lines) if line in one)
    before, lines[place] = lines[place], edit(lines[place])
    assert lines[place] != before, line
    return b"".join(lines)


def swap(before: bytes, after: bytes) -> Edit:
    return lambda line: line.replace(before, after, 1)


def flip(name: str) -> Edit:
    """Another digit at the start of a text in hex."""

    def change(line: bytes) -> bytes:
        return re.sub(
            rb'("%b":")(.)' % name.encode(),
            lambda found: found[1] + (b"1" if found[2] == b"0" else b"0"),
            line,
            count=1,
        )

    return change


def with_(**fields: Any) -> Edit:
    return lambda line: _text(msgspec.json.decode(line) | fields)


def in_checkpoint(**fields: Any) -> Edit:
    return lambda line: _text({"checkpoint": msgspec.json.decode(line)["checkpoint"] | fields})


def _text(said: Any) -> bytes:
    return msgspec.json.encode(said) + b"\n"


EDITS: tuple[tuple[str, bytes, Edit, str], ...] = (
    ("a log line edited", BODY, swap(b"line 1 ", b"line 9 "), "chain_broken"),
    ("another kind", BODY, swap(b'"log"', b'"event"'), "chain_broken"),
    ("another time", BODY, swap(b'"time":1790000059.75', b'"time":1790000058.75'), "chain_broken"),
    ("received earlier", BODY, swap(b"060.001", b"050.001"), "chain_broken"),
    ("another run", BODY, swap(b'"run_id":"run"', b'"run_id":"ruin"'), "chain_broken"),
    ("no run", BODY, swap(b'"run_id":"run"', b'"run_id":null'), "chain_broken"),
    ("of a backtest", BODY, swap(b'"backtest_id":null', b'"backtest_id":"b"'), "chain_broken"),
    ("another blind", BODY, flip("blind"), "chain_broken"),
    ("a buy becomes a sell", ORDERED, swap(b'"buy"', b'"sell"'), "chain_broken"),
    ("another price", ORDERED, swap(b"[100.0,", b"[190.0,"), "chain_broken"),
    ("another size", ORDERED, swap(b"[1.5,", b"[2.5,"), "chain_broken"),
    ("another symbol", ORDERED, swap(b"BTC-USD", b"ETH-USD"), "chain_broken"),
    ("another field name", ORDERED, swap(b'"price"', b'"prize"'), "chain_broken"),
    ("a nested value", ORDERED, swap(b"[1,null", b"[1,true"), "chain_broken"),
    ("another salt", ORDERED, swap(b'[1.5,"', b'[1.5,"AA'), "not_canonical"),
    ("a salt of zeros", ORDERED, lambda line: re.sub(
        rb'\[1\.5,"[^"]*"', b'[1.5,"AAAAAAAAAAAAAAAAAAAAAA=="', line), "chain_broken"),
    ("a field removed", ORDERED, lambda line: re.sub(rb'"size":\[[^]]*\],', b"", line),
     "chain_broken"),
    ("a field added", ORDERED, swap(b'"fields":{', b'"fields":{"a":[1,"AAAA"],'), "chain_broken"),
    ("a hidden leaf added", ORDERED, swap(b'"hidden":[]', b'"hidden":["%b"]' % (b"0" * 64)),
     "chain_broken"),
    ("an order without its fields", ORDERED, lambda line: re.sub(
        rb'"fields":.*', b'"body":{}}', line), "not_canonical"),
    ("another number in its place", ORDERED, swap(b'"seq":2', b'"seq":3'), "event_missing"),
    ("another link", LINK, flip("link"), "chain_broken"),
    ("another rule", LINK, swap(b'"rule":3', b'"rule":2'), "not_canonical"),
    ("the oldest rule", LINK, swap(b'"rule":3', b'"rule":1'), "not_canonical"),
    ("a rule that does not exist", LINK, swap(b'"rule":3', b'"rule":4'), "not_canonical"),
    ("a link of another number", LINK, swap(b'"seq":3', b'"seq":2'), "link_misplaced"),
    ("signed at another time", CHECKPOINT, in_checkpoint(at=START), "signature_wrong"),
    ("another signature", CHECKPOINT, flip("signature"), "signature_wrong"),
    ("a short signature", CHECKPOINT, in_checkpoint(signature="00"), "signature_wrong"),
    ("signed for another event", CHECKPOINT, in_checkpoint(seq=2), "checkpoint_misplaced"),
    ("signed over another link", CHECKPOINT, flip("link"), "checkpoint_misplaced"),
    ("signed by a key that is not there", CHECKPOINT, flip("key_id"), "key_not_listed"),
    ("a trade of a backtest edited", TRADES, swap(b"BTC-USD", b"ETH-USD"), "list_wrong"),
    ("a list of another name", TRADES, swap(b'"trades"', b'"treats"'), "list_unknown"),
    ("a list of another result", TRADES, swap(b'"seq":10', b'"seq":9'), "list_unknown"),
    ("a list that starts later", TRADES, swap(b'"first":0', b'"first":1'), "list_wrong"),
    ("a piece of a list missing", TRADES, swap(b'"piece":0', b'"piece":1'), "list_piece_missing"),
    ("a sealed list that shows something else", VALUES, swap(b'"value":10', b'"value":11'),
     "list_shown_differently"),
    ("a list without its sealed bytes", VALUES, lambda line: re.sub(
        rb',"sealed":"[^"]*"', b"", line), "list_wrong"),
    ("more events promised", HEAD, swap(b'"seq":14', b'"seq":15'), "ends_early"),
    ("fewer events promised", HEAD, swap(b'"seq":14', b'"seq":13'), "ends_early"),
    ("another model", HEAD, swap(b'"2vf5v8gcd8g79vvg"', b'"3vf5v8gcd8g79vvg"'), "signature_wrong"),
    ("no model", HEAD, swap(b'"2vf5v8gcd8g79vvg"', b'""'), "not_a_record"),
    ("another version", HEAD, swap(b'"version":2', b'"version":4'), "not_a_record"),
    ("not a record", HEAD, swap(b'"record"', b'"recording"'), "not_a_record"),
)  # fmt: skip

FORMS: tuple[tuple[str, bytes, Edit, str], ...] = (
    ("a space between keys", BODY, swap(b',"kind"', b', "kind"'), "not_canonical"),
    ("a space after a colon", LINK, swap(b'"rule":3', b'"rule": 3'), "not_canonical"),
    ("a carriage return", LINK, swap(b"\n", b"\r\n"), "not_canonical"),
    ("keys in another order", LINK, swap(b'{"seq":3,', b'{"rule":3,"seq":3,'), "not_canonical"),
    ("a key twice", BODY, swap(b'{"seq":1,', b'{"seq":1,"seq":1,'), "not_canonical"),
    ("a kind twice", BODY, swap(b'"kind":"log",', b'"kind":"event","kind":"log",'),
     "not_canonical"),
    ("a field twice", ORDERED, swap(
        b'"fields":{', b'"fields":{"side":["sell","AAAAAAAAAAAAAAAAAAAAAA=="],'), "not_canonical"),
    ("a key that records do not have", BODY, swap(b'"body"', b'"more":1,"body"'), "not_canonical"),
    ("a kind of line that does not exist", LINK, with_(seals=1), "not_canonical"),
    ("a time with an exponent", BODY, swap(b"1790000059.75", b"1.79000005975e9"),
     "not_canonical"),
    ("a time with a zero too much", BODY, swap(b"059.75,", b"059.750,"), "not_canonical"),
    ("a whole price without its point", ORDERED, swap(b"[100.0,", b"[100,"), "chain_broken"),
    ("a price with an exponent", ORDERED, swap(b"[100.0,", b"[1e2,"), "chain_broken"),
    ("a value with a space", ORDERED, swap(b'[{"deep":', b'[{"deep": '), "chain_broken"),
    ("a text with an escape", ORDERED, swap(b'["buy"', b'["\\u0062uy"'), "chain_broken"),
    ("a field name with an escape", ORDERED, swap(b'"side"', b'"\\u0073ide"'), "not_canonical"),
    ("a kind with an escape", BODY, swap(b'"log"', b'"\\u006cog"'), "not_canonical"),
    ("a body with a space", BODY, swap(b'{"line":', b'{"line": '), "chain_broken"),
    ("a hash in capitals", LINK, lambda line: re.sub(
        rb'"link":"(\w+)"', lambda found: b'"link":"%b"' % found[1].upper(), line),
     "not_canonical"),
    ("a signature in capitals", CHECKPOINT, lambda line: re.sub(
        rb'"signature":"(\w+)"', lambda found: b'"signature":"%b"' % found[1].upper(), line),
     "not_canonical"),
    ("a number as text", LINK, swap(b'"seq":3', b'"seq":"3"'), "not_canonical"),
    ("a number with a point", LINK, swap(b'"seq":3', b'"seq":3.0'), "not_canonical"),
    ("bytes that are not UTF-8", BODY, swap(b"line 1", b"line \xff"), "not_canonical"),
    ("a blind on an order", ORDERED, swap(
        b'"hidden":[]', b'"blind":"%b","hidden":[]' % (b"0" * 64)), "not_canonical"),
    ("no blind", BODY, lambda line: re.sub(rb',"blind":"\w+"', b"", line), "not_canonical"),
    ("a body and fields", BODY, swap(b'"blind"', b'"fields":{},"hidden":[],"blind"'),
     "not_canonical"),
    ("half of a line", BODY, lambda line: line[:40] + b"\n", "not_canonical"),
    ("the first line with a space", HEAD, swap(b'"version":2', b'"version": 2'), "not_canonical"),
    ("the first line with another key", HEAD, swap(b'"keys"', b'"key_id":"x","keys"'),
     "not_canonical"),
)  # fmt: skip


Move = Callable[[list[bytes]], list[bytes]]

MOVES: tuple[tuple[str, Move, str], ...] = (
    ("empty", lambda _lines: [], "empty"),
    ("only an empty line", lambda _lines: [b"\n"], "not_a_record"),
    ("an empty line in it", lambda lines: [*lines[:3], b"\n", *lines[3:]], "not_canonical"),
    ("no newline at its end", lambda lines: [*lines[:-1], lines[-1][:-1]], "not_canonical"),
    ("no first line", lambda lines: lines[1:], "not_a_record"),
    ("two first lines", lambda lines: [lines[0], *lines], "not_canonical"),
    ("an event removed", lambda lines: [*lines[:2], *lines[3:]], "event_missing"),
    ("the first event removed", lambda lines: [lines[0], *lines[2:]], "event_missing"),
    ("an event twice", lambda lines: [*lines[:3], lines[2], *lines[3:]], "event_missing"),
    ("two events swapped", lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
     "event_missing"),
    ("a link removed", lambda lines: [*lines[:4], *lines[5:]], "checkpoint_misplaced"),
    ("a link twice", lambda lines: [*lines[:5], lines[4], *lines[5:]], "link_misplaced"),
    ("a signature in another place", lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]],
     "checkpoint_misplaced"),
    ("the last group cut off", lambda lines: lines[:-3], "ends_early"),
    ("cut off in a group", lambda lines: lines[:-2], "ends_early"),
    ("only the first line", lambda lines: lines[:1], "ends_early"),
    ("every signature removed", lambda lines: [one for one in lines if CHECKPOINT not in one],
     "unsigned"),
    ("a list before its result", lambda lines: [
        *lines[:1], next(one for one in lines if TRADES in one), *lines[1:]], "list_unknown"),
    ("a list twice", lambda lines: [
        more for one in lines for more in ([one, one] if TRADES in one else [one])],
     "list_piece_missing"),
)  # fmt: skip

OF_VERSION_1: tuple[tuple[str, bytes, Edit, str], ...] = (
    ("a buy becomes a sell", ORDERED, swap(b'"buy"', b'"sell"'), "chain_broken"),
    ("another key", HEAD, with_(public_key=first_key(FOREIGN).public_key), "key_chain"),
    ("another key and its id", HEAD, with_(
        public_key=first_key(FOREIGN).public_key, key_id=first_key(FOREIGN).key_id), "unsigned"),
    ("another id of its key", HEAD, with_(key_id=first_key(FOREIGN).key_id), "key_chain"),
    ("another id at a signature", CHECKPOINT, in_checkpoint(key_id="0" * 16), "key_chain"),
    ("a key that is not one", HEAD, with_(public_key="00"), "not_canonical"),
    ("signed at another time", CHECKPOINT, in_checkpoint(at=START), "signature_wrong"),
)  # fmt: skip


def _keys() -> Iterator[Case]:
    """Other people's keys, in the chain of a known one or in its place."""
    one, (old, new) = across_a_rotation(), rotated(FIRST, SECOND)

    def case(name: str, keys: list[Key], verdict: str) -> Case:
        return Case(name, file(one, keys), verdict, KNOWN)

    replace = msgspec.structs.replace
    yield case(
        "the new key is not confirmed", [old, replace(new, signature="0" * 128)], "key_chain"
    )
    yield case("the new key did not accept", [old, replace(new, acceptance="0" * 128)], "key_chain")
    yield case("a key confirmed for another time", [old, replace(new, made_at=START)], "key_chain")
    yield case("a key before the one that confirms it", [new, old], "key_chain")
    yield case("a confirmed key without the old one", [new], "key_chain")
    yield case("a key listed twice", [old, new, new], "key_chain")
    yield case("the old key is missing", [first_key(SECOND)], "key_not_listed")
    yield case("two chains that are not connected", [old, first_key(SECOND)], "unknown_signer")
    odd = replace(old, public_key=old.public_key[:-2])
    yield case("a key that is too short", [odd, new], "key_chain")
    yield case("a first key with a time", [replace(old, made_at=START), new], "key_chain")
    # A stranger confirms the known key as the successor of their own, to be known through it.
    said = msgspec.json.encode(
        ["tapeline key", first_key(FOREIGN).public_key, old.public_key, repr(START)]
    )
    claimed = Key(
        old.public_key, START, first_key(FOREIGN).public_key, key(FOREIGN).sign(said).hex(),
        key(FOREIGN).sign(said).hex(),
    )  # fmt: skip
    yield case("a stranger claims the known key", [first_key(FOREIGN), claimed], "key_chain")
    made = key_chain.succeed(key(FOREIGN), key(SECOND), START + DAY)
    chain = [old, first_key(FOREIGN), made]
    yield case("a stranger confirms the new key", chain, "unknown_signer")


def _forgeries() -> Iterator[Case]:
    """Tapes that were written and signed anew, by somebody without the key."""
    forged = Tape(seed="forged")
    forged.add(LOG, ORDER)
    forged.sign(FOREIGN)
    strangers, ours = [first_key(FOREIGN)], rotated(FIRST)
    yield Case("signed anew with another key", file(forged, strangers), "unknown_signer", KNOWN)
    both = [*ours, *strangers]
    yield Case("signed anew, our key beside", file(forged, both), "unknown_signer", KNOWN)
    claims = file(forged, ours).replace(first_key(FOREIGN).key_id.encode(), KNOWN[0][:16].encode())
    yield Case("signed anew in our name", claims, "signature_wrong", KNOWN)
    other = Tape(seed="forged")
    other.add(LOG, ORDER)
    other.sign(FIRST, model_id="another-model")
    yield Case("signed for another model", file(other, ours), "signature_wrong", KNOWN)
    grown = tape()
    grown.add(ORDER, after=2 * HOUR)
    yield Case("events added without a signature", file(grown, ours), "unsigned_tail", KNOWN)
    grown.sign(FOREIGN)
    yield Case("events added by a stranger", file(grown, both), "unknown_signer", KNOWN)
    cut = tape()
    lines = cut.lines()[:4]
    short = Tape()
    short.add(LOG, ORDER, LOG)
    yield Case(
        "cut off, its signature too", b"".join([head(short, ours), *lines]), "unsigned", KNOWN
    )
    removed = tape()
    removed.remove(3)
    whole = file(removed, ours)
    for name, edit, verdict in (
        ("another digest of removed events", flip("digest"), "chain_broken"),
        ("more removed events than numbers", swap(b'{"log":2}', b'{"log":3}'), "not_canonical"),
        ("removed events without a time", lambda line: re.sub(
            rb',"received_at":[\d.]+', b"", line), "not_canonical"),
        ("removed events that end elsewhere", swap(b'"until":8', b'"until":9'), "not_canonical"),
    ):  # fmt: skip
        yield Case(name, edited(whole, REMOVED, edit), verdict, KNOWN)
