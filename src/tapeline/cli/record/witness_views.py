"""What witnesses say about a record: those that signed it, and what one that is asked has seen."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from tapeline.cli.server import profiles
from tapeline.cli.terminal.failures import Unreachable
from tapeline.errors import Problem
from tapeline.moments import written
from tapeline.tape.proof import notes
from tapeline.tape.proof.key_chain import ID_LENGTH, Key
from tapeline.tape.proof.notes import MalformedNote, Note
from tapeline.tape.record.outcome import Checked, Cosigned
from tapeline.tape.witnessing import asking, introductions, two_histories
from tapeline.tape.witnessing.asking import NotWitnessed, View

FINGERPRINT = re.compile(rf"[0-9a-f]{{{ID_LENGTH},64}}")
AT_ONCE = 500  # sizes
FALSE = (
    "The server showed another history of its log to the witness {name}: what this record shows is"
    " not what the server showed before."
)


class Named(NamedTuple):
    """A witness that the reader knows."""

    address: str | None
    """None if only its key is known: then it is not asked."""
    name: str
    fingerprints: list[str]

    def made(self, one: Cosigned) -> bool:
        return any(one.fingerprint.startswith(mine) for mine in self.fingerprints)


def named(given: Sequence[str]) -> list[Named]:
    return [_named(one) for one in given]


def said(known: Sequence[Named], found: Checked, keys: Sequence[Key]) -> list[str]:
    """Sentences about witnesses. If one that is asked contradicts the record, it is broken."""
    asked = _ask(known, found, keys)
    return [*_words(known, found), *asked]


def _ask(known: Sequence[Named], found: Checked, keys: Sequence[Key]) -> list[str]:
    """Ask each for its view of the server's log, and compare it with the record."""
    said = []
    for one in known:
        if one.address is not None and found.is_whole:
            said.append(_asked(one, one.address, found, keys))
    return said


def _words(known: Sequence[Named], found: Checked) -> list[str]:
    """Who signed heads of the log that this record is in."""
    if not found.proofs:
        return []
    mine = [one for one in found.cosignatures if any(each.made(one) for each in known)]
    others = sorted({one.name for one in found.cosignatures if one not in mine})
    said = []
    for name in sorted({one.name for one in mine}):
        last = max((one for one in mine if one.name == name), key=lambda one: one.seq)
        said.append(
            f"The witness {name} signed the log of the server with events up to {last.seq:,} at"
            f" {_moment(last.at)}: everyone who asks it sees this one history."
        )
    if others:
        said.append(
            f"Signatures under the name of {', '.join(others)} count if you know the witness: name"
            " it with --witness URL, or by its key with --witness FINGERPRINT."
        )
    if not found.cosignatures:
        said.append("No witness has signed it: the server may show another history to others.")
    return said


def _named(text: str) -> Named:
    plain = re.sub(r"[\s:]", "", text).lower()
    if FINGERPRINT.fullmatch(plain):
        return Named(None, "", [plain])
    # Nobody on the way may answer in its place, unless the reader asks for plain HTTP.
    address = profiles.normal_url(text if profiles.is_url(text) else f"https://{text}")
    try:
        said = introductions.of(address)
    except Problem as problem:
        raise Unreachable(problem.message) from problem
    return Named(address, said.witness, [one.fingerprint for one in said.keys])


def _asked(one: Named, address: str, found: Checked, keys: Sequence[Key]) -> str:
    public = [bytes.fromhex(key.public_key) for key in keys]
    seen, views = 0, _views(address, found, keys)
    for view in views:
        if _contradicts(view, found, public):
            found.reason, found.code = FALSE.format(name=one.name), "two_histories"
            found.broken_at = found.events
            return ""
        seen += sum(f"{head.origin} {head.size}" in found.log_heads for head in _heads(view))
    was_asked = f"The witness {one.name} was asked:"
    if not views:
        return f"{was_asked} it does not witness the log of this server."
    if not seen:
        return (
            f"{was_asked} it witnesses this server, but no head of the log that it has seen is in"
            " this record. The server may have shown it something else."
        )
    return _with_lost(
        views,
        found,
        f"{was_asked} it has seen {seen:,} of the {len(found.log_heads):,} heads of the log in this"
        " record, and they are the same.",
    )


def _with_lost(views: Sequence[View], found: Checked, said: str) -> str:
    """Heads of a log that was ended, which the server signed after the last one in the record."""
    sizes = _sizes(found)
    ended = list(sizes)[:-1] if found.new_logs else []
    seen = {log: max(one.size for one in views if one.log == log)
            for log in ended if any(one.log == log for one in views)}  # fmt: skip
    for log, size in seen.items():
        last = max(sizes[log])
        if size > last:
            said += (
                f" It has seen the log before the restore up to entry {size:,}; this record follows"
                f" that log up to entry {last:,}. What the server signed in between is not in it."
            )
    return said


def _views(address: str, found: Checked, keys: Sequence[Key]) -> list[View]:
    """Of the logs that the record names, or else of those with its keys: a server that deceives may
    leave all proofs out."""
    wanted = [
        {"log": log, "sizes": ",".join(map(str, sizes[at : at + AT_ONCE]))}
        for log, sizes in _sizes(found).items()
        for at in range(0, len(sizes), AT_ONCE)
    ]
    wanted += [{"key": one} for one in {keys[0].public_key, keys[-1].public_key}] if keys else []
    views = []
    for each in wanted:
        try:
            views.append(asking.view(address, each))
        except NotWitnessed:
            continue
        except Problem as problem:
            raise Unreachable(problem.message) from problem
    # The newest head is in each answer: count what is in the record once.
    return [View(one.log, one.size, _fresh(views[:at], one), one.two_histories)
            for at, one in enumerate(views)]  # fmt: skip


def _fresh(before: Sequence[View], view: View) -> list[str]:
    known = {head for one in before for head in one.heads}
    return [head for head in view.heads if head not in known]


def _heads(view: View) -> list[Note]:
    found = []
    for text in view.heads:
        with suppress(MalformedNote):
            found.append(notes.parse(text))
    return found


def _contradicts(view: View, found: Checked, keys: Sequence[bytes]) -> bool:
    """Whether the log signed something else for the witness. What it did not sign, the witness may
    have made up."""
    if view.two_histories is not None and view.two_histories.is_proof(keys):
        return True
    for note in _heads(view):
        root = found.log_heads.get(f"{note.origin} {note.size}")
        is_other = root is not None and root != note.root.hex()
        if is_other and two_histories.is_signed_by(note, keys):
            return True
    return False


def _sizes(found: Checked) -> dict[str, list[int]]:
    """By log."""
    logs: dict[str, list[int]] = {}
    for head in found.log_heads:
        origin, _, size = head.rpartition(" ")
        logs.setdefault(origin, []).append(int(size))
    return logs


def _moment(at: float) -> str:
    return written(at, "%Y-%m-%d %H:%M:%S UTC")
