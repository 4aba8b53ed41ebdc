"""Asks a witness to sign a head of our log. Blocks; nothing here knows the store."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from tapeline.errors import Problem
from tapeline.tape.proof import notes, outgoing
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.proof.notes import MalformedNote, Note
from tapeline.tape.witnessing import introductions, pins, submissions
from tapeline.tape.witnessing.refusing import UnconfirmedKeys
from tapeline.tape.witnessing.two_histories import Evidence

ADD, KEYS, HEADS = "/witness/add-checkpoint", "/witness/keys", "/witness/heads"
TRIES = 3  # with another size, with more keys
LARGEST_VIEW = 1_000_000  # bytes

Proves = Callable[[int], list[bytes]]
"""That our head extends the one of a size."""


class NotSigned(Problem):
    """The witness did not sign."""

    evidence: Evidence | None = None


class NotWitnessed(NotSigned):
    """The server does not witness this log."""


class View(msgspec.Struct):
    """What a witness says that it knows of a log."""

    log: str
    size: int
    heads: list[str]
    """Notes as the log signed them."""
    two_histories: Evidence | None = None
    unproven_at: float | None = None


class Cosignature(NamedTuple):
    name: str
    public_key: bytes
    line: str
    at: int
    """By the clock of the witness."""


class Asked(NamedTuple):
    """A witness as we know it, and what it shall sign."""

    address: str
    name: str
    keys: list[Key]
    known_size: int
    note: Note
    proves: Proves
    our_keys: Sequence[Key]
    our_address: str


class Signed(NamedTuple):
    cosignature: Cosignature
    keys: list[Key]
    """Of the witness: those that were known, and their successors."""


def ask(one: Asked) -> Signed:
    """Its signature; raises NotSigned with the reason otherwise."""
    old, introduced = min(one.known_size, one.note.size), False
    for _ in range(TRIES):
        body = submissions.written(old, one.proves(old), notes.written(one.note))
        answer = outgoing.post(one.address + ADD, body, "text/plain; charset=utf-8")
        if answer.status == HTTPStatus.OK:
            return _signed(one, answer.content)
        if answer.status == HTTPStatus.CONFLICT:
            size = _size(one, answer.content)
            if size > one.note.size or size == old:
                raise _contradicted(one, size)
            old = size
        elif answer.status == HTTPStatus.FORBIDDEN and not introduced:
            _introduce(one)  # after a rotation; it checks that the new key follows from ours
            introduced = True
        else:
            raise _refused(one, answer.status)
    raise NotSigned(f"{one.address} changes what it has seen of this log, again and again.")


def view(address: str, query: Mapping[str, str]) -> View:
    """What a witness knows of a log, named by `log` or by a `key`. Heads and evidence are signed by
    the log."""
    answer = outgoing.get(f"{address}{HEADS}?{urlencode(query)}", largest=LARGEST_VIEW)
    if answer.status == HTTPStatus.NOT_FOUND:
        raise NotWitnessed(f"{address} does not witness this log.")
    try:
        if answer.status == HTTPStatus.OK:
            return msgspec.json.decode(answer.content, type=View)
    except msgspec.DecodeError:
        pass
    raise NotSigned(f"{address} does not say what it has seen of the log.")


def _signed(one: Asked, content: bytes) -> Signed:
    found = _cosignature(one, one.keys, content)
    if found is not None:
        return Signed(found, one.keys)
    # Perhaps its key was replaced: then the new one follows from the one that we know.
    try:
        keys = pins.extended(one.keys, introductions.of(one.address).keys)
    except UnconfirmedKeys as problem:
        raise NotSigned(f"{one.address} has keys that do not fit. {problem.message}") from problem
    found = _cosignature(one, keys, content)
    if found is None:
        raise NotSigned(
            f"{one.address} signs with a key or a name that is not the one it had when it was"
            " added. If you know why, remove it and add it again."
        )
    return Signed(found, keys)


def _cosignature(one: Asked, keys: Sequence[Key], content: bytes) -> Cosignature | None:
    """The one by a key that we know; lines of others are ignored."""
    try:
        lines = content.decode().splitlines(keepends=True)
        for line in lines[: notes.MOST_SIGNATURES]:
            note = notes.parse(notes.written(one.note) + line)
            for key in pins.current(keys):
                at = note.cosigned_at(one.name, key)
                if at is not None:
                    return Cosignature(one.name, key, line, at)
    except (MalformedNote, UnicodeDecodeError):
        return None
    return None


def _introduce(one: Asked) -> None:
    said = {"log": one.note.origin, "keys": one.our_keys}
    outgoing.post(one.address + KEYS, msgspec.json.encode(said), "application/json")


def _size(one: Asked, content: bytes) -> int:
    text = content.strip()
    if not text.isdigit() or len(text) > 16:
        raise NotSigned(f"{one.address} does not answer as a witness.")
    return int(text)


def _contradicted(one: Asked, size: int) -> NotSigned:
    """It has seen more of our log than there is, or something else of the same size."""
    if size > one.note.size:
        said = (
            f"{one.address} has seen {size:,} entries of this log, and this database has"
            f" {one.note.size:,}: it is an older copy."
        )
    else:
        said = f"{one.address} has seen another entry {size:,} of this log than this database has."
    return _with_evidence(one, said)


def _refused(one: Asked, status: int) -> NotSigned:
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return _with_evidence(
            one, f"{one.address} refused: the log does not extend what it has seen before."
        )
    if status == HTTPStatus.NOT_FOUND:
        return NotSigned(
            f"{one.address} does not witness this server yet. Its operator has to run, with the"
            f" address of this server: tapeline witness allow {one.our_address}"
        )
    if status == HTTPStatus.FORBIDDEN:
        return NotSigned(
            f"{one.address} does not know the key of this server, and no chain of keys leads to it."
        )
    return NotSigned(f"{one.address} answered with status {status}.")


def _with_evidence(one: Asked, said: str) -> NotSigned:
    problem = NotSigned(said)
    try:
        evidence = view(one.address, {"log": one.note.origin}).two_histories
    except Problem:  # it says why it did not sign; the rest can wait
        return problem
    ours = [bytes.fromhex(key.public_key) for key in one.our_keys]
    if evidence is not None and evidence.is_proof(ours):
        problem = NotSigned(f"{said} It has proof that this server signed two histories.")
        problem.evidence = evidence
    return problem
