"""Says in words what checking a record found: what it proves, and what it does not."""

from collections import Counter

from tapeline.moments import written
from tapeline.tape.record.checking import Change, Checked, Late

LISTED = 20  # late events that are named

_WORDS = {"mark-price": "price", "cash": "cash entry", "position": "position"}
_PLURALS = {"cash entry": "cash entries"}


def words(found: Checked) -> str:
    """The result in words."""
    if not found.is_whole:
        return (
            f"BROKEN at event {found.broken_at}: {found.reason}\n"
            "This record is not what the server signed, or it is not complete."
        )
    said = [
        f"Whole: {found.events:,} events of model {found.model_id}, {found.hidden:,} of them hidden"
        f" and {found.partly:,} shown in part.",
        f"Signed with the key {found.key_id} (Ed25519 {found.public_key}).",
    ]
    if found.first is not None and found.last is not None:
        rest = found.events - found.last.seq
        said += [
            "",
            "What this proves:",
            f"- Events 1 to {found.last.seq:,} are the ones the server signed at"
            f" {_moment(found.last.at)}: none was edited, removed or inserted after that.",
            f"- Those up to event {found.first.seq:,} have stood like this since"
            f" {_moment(found.first.at)}.",
        ]
        if rest:
            said.append(f"- The last {rest:,} events are chained but not signed yet.")
    else:
        said += ["", "Nothing is signed in this record, so it proves nothing yet."]
    said += [
        "",
        "What it does not prove:",
        "- That fills were real: the tape has what the model reported.",
        "- That there are no other models or accounts that did worse.",
        "- That hidden events say anything in particular.",
        "- That whoever runs the server, and has its key, did not sign another tape. Keep this"
        " file, and check a later one against it with --earlier.",
    ]
    if found.removed:
        counts = ", ".join(f"{count:,} ({kind})" for kind, count in sorted(found.removed.items()))
        said += [
            "",
            f"Removed by retention, received until {_moment(found.removed_until)}: {counts}.",
            "Their digests are still part of the chain. The server says of which kind they were;"
            " their content cannot be checked any more.",
        ]
    if found.late:
        said += ["", f"Reported late, long after their own time: {_counted(found.late)}."]
        said += [f"- event {one.seq}, {_word(one)}: {_length(one.seconds)} late"
                 for one in found.late[:LISTED]]  # fmt: skip
        if len(found.late) > LISTED:
            said.append(f"- and {len(found.late) - LISTED:,} more")
    if found.replaced:
        first = ", ".join(f"{seq:,}" for seq in found.replaced[:LISTED])
        said += ["", f"Cash replaced afterwards: {len(found.replaced):,} (event {first})."]
    if found.changes:
        said += ["", "Settings of the account. The newest decide how its whole history is read:"]
        said += [f"- event {one.seq}, {_moment(one.received_at)}: {_changed(one)}"
                 for one in found.changes[-LISTED:]]  # fmt: skip
    return "\n".join(said)


def _word(one: Late) -> str:
    return _WORDS.get(one.kind, "order")


def _counted(late: list[Late]) -> str:
    """As in: 3 orders, 1 price."""
    counts = Counter(_word(one) for one in late)
    return ", ".join(
        f"{count:,} {word if count == 1 else _PLURALS.get(word, word + 's')}"
        for word, count in counts.items()
    )


def _changed(one: Change) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(one.fields.items())) or "hidden"


def _moment(at: float) -> str:
    return written(at, "%Y-%m-%d %H:%M:%S UTC")


def _length(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
