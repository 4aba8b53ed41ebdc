"""Records with proofs from outside: good ones, and proofs that somebody tampered with.

The stamp was made once, by the authority of the tests, over a text that never changes:
`python -m tests.tape.record.stamped` makes another one.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tapeline.tape.proof import key_chain, log_entries, merkle, notes, time_stamps
from tapeline.tape.record.lines import InLog, InTree, Proof, Proven, Stamp, Witness
from tests.tape.record.case import Case
from tests.tape.record.good import FIRST, FOREIGN, KNOWN
from tests.tape.record.making import (
    LOG,
    ORDER,
    START,
    Tape,
    first_key,
    key,
    rotated,
    second_head,
    some_bytes,
)
from tests.tape.roots.authority import Authority, serving

FOLDER = Path(__file__).parent / "stamp"
ROOT, RESPONSE = FOLDER / "root.pem", FOLDER / "response.der"
ADDRESS = "http://tsa.example.com"
ORIGIN = log_entries.origin_of("a-log")
LEAF, HEADS, ENTRY, ENTRIES = 2, 5, 1, 3
WITNESS = Witness("tapeline/witness", first_key(4).public_key)


def tape() -> Tape:
    one = Tape()
    one.add(LOG, ORDER)
    one.sign()
    return one


def proof(
    one: Tape, stamps: Sequence[Stamp], *, by: int = FIRST, seed: str = "", origin: str = ORIGIN
) -> Proof:
    """The tape among others in a tree, and the tree among others in the log."""
    heads = [merkle.leaf_hash(some_bytes(f"head {place}", 32)) for place in range(HEADS)]
    heads[LEAF] = merkle.leaf_hash(log_entries.head_data(one.model_id, one.seq, one.links[-1]))
    tree, at = merkle.Tree(heads), START + 3_600.0
    entries = [merkle.leaf_hash(some_bytes(f"{seed}entry {place}", 32)) for place in range(ENTRIES)]
    entries[ENTRY] = merkle.leaf_hash(log_entries.entry_data(HEADS, tree.root(), at))
    log = merkle.Tree(entries)
    text = notes.text_of(origin, ENTRIES, log.root())
    return Proof(
        one.seq,
        one.links[-1].hex(),
        InTree(LEAF, HEADS, [part.hex() for part in tree.path(LEAF, HEADS)]),
        InLog(ENTRY, ENTRIES, [part.hex() for part in log.path(ENTRY, ENTRIES)], at),
        notes.sign(text, key_chain.public_of(key(by)), key(by).sign),
        list(stamps),
    )


def file(one: Tape, *proofs: Proof, witnesses: Sequence[Witness] = ()) -> bytes:
    lines = [second_head(one.model_id, one.seq, rotated(FIRST), witnesses), *one.lines()]
    lines += [msgspec.json.encode(Proven(each)) + b"\n" for each in proofs]
    return b"".join(lines)


def witnessed(found: Proof) -> Proof:
    text = notes.parse(found.note).text
    public = key_chain.public_of(key(4))
    line = notes.cosign(text, WITNESS.name, public, int(START) + 3_700, key(4).sign)
    return msgspec.structs.replace(found, note=found.note + line)


def cases() -> Iterator[Case]:
    one, stamp = tape(), Stamp(ADDRESS, RESPONSE.read_bytes())
    trusted = (ROOT.read_text(),)
    good = proof(one, [stamp])

    def case(name: str, found: Proof, verdict: str, **more: Any) -> Case:
        witnesses = more.pop("witnesses", ())
        return Case(name, file(one, found, witnesses=witnesses), verdict, KNOWN, **more)

    yield case("stamped by a trusted authority", good, "proven", certificates=trusted)
    yield case("stamped by an unknown authority", good, "proven")
    yield case("a proof without stamps", proof(one, []), "proven", certificates=trusted)
    yield case("stamped twice", proof(one, [stamp, stamp]), "proven", certificates=trusted)
    both = {"certificates": trusted, "witnesses": (WITNESS,)}
    yield case("witnessed", witnessed(good), "proven", **both)
    yield case("witnessed by somebody who is not listed", witnessed(good), "proven")
    unsigned = [
        each for each in file(one, good).splitlines(keepends=True) if b"heckpoint" not in each
    ]
    yield Case("stamped but not signed", b"".join(unsigned), "unsigned", KNOWN)
    yield case("witnessed with another time", _by_another(witnessed(good)), "witness_wrong", **both)
    yield from _tampered(one, good, case, trusted)
    other = proof(one, [], seed="another ")
    anew = proof(one, [], seed="another ", origin=log_entries.origin_of("a-new-log"))
    yield Case("a new log after a restore", file(one, good, anew), "proven", KNOWN,
               facts={"new_logs": 1})  # fmt: skip
    yield Case("two heads of one log", file(one, good, other), "two_histories", KNOWN)
    yield Case(
        "another head than in the earlier record", file(one, other), "two_histories", KNOWN,
        file(one, good),
    )  # fmt: skip
    yield Case(
        "the same head as in the earlier record", file(one, good), "proven", KNOWN, file(one, good)
    )
    early = file(one, good).splitlines(keepends=True)
    yield Case("a proof before its link", b"".join([*early[:3], early[-1], *early[3:-1]]),
               "checkpoint_misplaced", KNOWN)  # fmt: skip
    lines = re.sub(rb'"leaf":2', b'"leaf": 2', file(one, good))
    yield Case("a proof with a space", lines, "not_canonical", KNOWN)


def _by_another(found: Proof) -> Proof:
    """With a cosignature that was made over another head."""
    line = found.note.splitlines(keepends=True)[-1]
    other = witnessed(msgspec.structs.replace(found, note=found.note.replace("\n3\n", "\n4\n")))
    wrong = other.note.splitlines(keepends=True)[-1]
    return msgspec.structs.replace(found, note=found.note.replace(line, wrong))


def _tampered(one: Tape, good: Proof, case: Any, trusted: tuple[str, ...]) -> Iterator[Case]:
    replace = msgspec.structs.replace
    tree, log = good.tree, good.log
    flipped = [("1" if tree.path[0][0] == "0" else "0") + tree.path[0][1:], *tree.path[1:]]
    longer = [*log.path, "0" * 64]
    for name, found in (
        ("another place in the tree", replace(good, tree=replace(tree, leaf=3))),
        ("a place outside the tree", replace(good, tree=replace(tree, leaf=9))),
        ("another size of the tree", replace(good, tree=replace(tree, size=6))),
        ("another path in the tree", replace(good, tree=replace(tree, path=flipped))),
        ("a shorter path in the tree", replace(good, tree=replace(tree, path=tree.path[1:]))),
        ("a longer path in the log", replace(good, log=replace(log, path=longer))),
        ("another place in the log", replace(good, log=replace(log, entry=0))),
        ("another size of the log", replace(good, log=replace(log, size=4))),
        ("a tree made earlier", replace(good, log=replace(log, at=START))),
    ):
        yield case(name, found, "proof_wrong")
    yield case("a proof of another event", replace(good, seq=1), "checkpoint_misplaced")
    yield case("a note signed by a stranger", proof(one, [], by=FOREIGN), "note_wrong")
    for name, note in (
        ("a note of another size", good.note.replace("\n3\n", "\n4\n")),
        ("a note of another log", good.note.replace(ORIGIN, "tapeline/b-log", 1)),
        ("a note without signatures", good.note.partition("\n\n")[0] + "\n\n"),
        ("a note with another line", good.note.replace("\n\n", "\nmore\n\n")),
    ):
        yield case(name, replace(good, note=note), "note_wrong")
    stamp = good.stamps[0]
    for name, response in (
        ("a stamp that is not one", b"stamp"),
        ("a stamp cut off", stamp.response[:-20]),
        ("a stamp with another signature", stamp.response[:-20] + bytes(20)),
    ):
        found = replace(good, stamps=[Stamp(ADDRESS, response)])
        yield case(name, found, "stamp_wrong", certificates=trusted)
    moved = proof(one, [stamp], seed="another ")
    yield case("a stamp over another head", moved, "stamp_wrong", certificates=trusted)


def _stamp() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder) / "authority")
        with serving(authority) as address:
            text = notes.parse(proof(tape(), []).note).text
            RESPONSE.write_bytes(time_stamps.ask(address, text)[0])
        ROOT.write_bytes(authority.root.read_bytes())


if __name__ == "__main__":
    _stamp()
