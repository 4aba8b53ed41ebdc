"""Says in words what checking a record found: what it proves, and what it does not."""

from tapeline.moments import written
from tapeline.tape.record.outcome import UNSIGNED, Change, Checked

LISTED = 20  # changes that are named


def words(found: Checked) -> str:
    """The result in words."""
    if not found.is_whole:
        return (
            f"BROKEN at event {found.broken_at}: {found.reason}\n"
            "This record is not what the server signed, or it is not complete."
        )
    said = [
        _headline(found),
        f"The file has {found.events:,} events of model {found.model_id}, {found.hidden:,} of them"
        f" hidden and {found.partly:,} shown in part.",
        *_proven(found),
        *_stamped(found),
        "",
        "What it does not prove:",
        "- That fills were real: they are what the model reported, and nobody asked the exchange.",
        "- That there are no other models or accounts that did worse.",
        "- That hidden events say anything in particular.",
        "- That the operator of the server, who has its key, did not sign another tape. Keep this"
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
    if found.changes:
        said += ["", "Settings of the account. The newest decide how its whole history is read:"]
        said += [f"- event {one.seq}, {_moment(one.received_at)}: {_changed(one)}"
                 for one in found.changes[-LISTED:]]  # fmt: skip
    return "\n".join(said)


def _headline(found: Checked) -> str:
    """The verdict, and what to do about it."""
    if found.last is None:
        return "NOT SIGNED: nothing in this file is signed by a key in it, so it proves nothing."
    if found.status == UNSIGNED:
        return (
            f"NOT SIGNED TO ITS END: the last {found.unsigned:,} events came more than an hour"
            " after the last signature, or do not say when. Anyone could have added them."
        )
    if found.is_known and found.is_retired:
        return (
            f"SIGNED WITH A REPLACED KEY: {found.fingerprint} signed this record more than an hour"
            " after it had been replaced. It may have been stolen."
        )
    if found.is_known:
        return f"PROVEN: whole, and signed with the key that you named ({found.fingerprint})."
    return (
        "CONSISTENT, BUT THE SIGNER IS UNKNOWN: anyone can sign a record with a key of their own."
        f" This one was signed with {found.fingerprint}. If that is the key of the server, check"
        f" again with --key {found.key_id}, or name the server: --server URL."
    )


def _proven(found: Checked) -> list[str]:
    if found.first is None or found.last is None:
        return []
    said = [
        "",
        "What this proves, if the key is the server's:",
        f"- Events 1 to {found.last.seq:,} are the ones the server signed at"
        f" {_moment(found.last.at)}: none was edited, removed or inserted after that.",
        f"- Those up to event {found.first.seq:,} have stood like this since"
        f" {_moment(found.first.at)}.",
    ]
    if found.unsigned:
        said.append(f"- The last {found.unsigned:,} events are chained but not signed yet.")
    if found.uncounted:
        said.append(
            f"- {found.uncounted:,} signatures are by keys that this file does not contain, so they"
            " could not be checked. They count for nothing."
        )
    return said


def _stamped(found: Checked) -> list[str]:
    """What outside authorities confirm of the times. Missing stamps make no record worse."""
    trusted = [one for one in found.stamps if one.is_trusted]
    if not found.stamps:
        return ["", "No outside authority has stamped it: all times are the server's own."]
    strangers = sorted({one.authority for one in found.stamps if not one.is_trusted})
    said = [""]
    if trusted:
        last = max(trusted, key=lambda one: one.seq)
        said += [
            f"Time stamps by {', '.join(sorted({one.authority for one in trusted}))}:",
            f"- Events up to {trusted[0].seq:,} existed at {_moment(trusted[0].at)}.",
            *(
                [f"- Events up to {last.seq:,} existed at {_moment(last.at)}."]
                if last.seq > trusted[0].seq
                else []
            ),
            "- The longest time from an event to a stamp over it is"
            f" {_length(found.stamp_gap or 0)}. Within that time the server could still have"
            " changed it.",
        ]
        if found.unstamped:
            said.append(f"- The last {found.unstamped:,} events are not stamped yet.")
    if strangers:
        said.append(
            f"Stamps by {', '.join(strangers)} do not count: their certificates do not lead to one"
            " that is trusted here. Name theirs with --tsa-certificate FILE."
        )
    return said


def _changed(one: Change) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(one.fields.items())) or "hidden"


def _moment(at: float) -> str:
    return written(at, "%Y-%m-%d %H:%M:%S UTC")


def _length(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
