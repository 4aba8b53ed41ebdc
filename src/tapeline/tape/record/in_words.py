"""Says in words what checking a record found: what it proves, and what it does not."""

import json
from typing import Any

from tapeline.moments import written
from tapeline.tape.record.outcome import UNSIGNED, Change, Checked
from tapeline.tape.record.quoting import quoted

LISTED = 20  # changes that are named
_LEFT_OUT = ", or somebody left them out"


def words(found: Checked) -> str:
    """The result in words."""
    if not found.is_whole:
        return (
            f"BROKEN at event {found.broken_at}: {found.reason}\n"
            "This record is not what the server signed, or it is not complete."
        )
    said = [
        _headline(found),
        f"The file has {found.events:,} events of model {quoted(found.model_id)},"
        f" {found.hidden:,} of them hidden and {found.partly:,} shown in part.",
        *_lists(found),
        *_proven(found),
        *_stamped(found),
        "",
        "What it does not prove:",
        "- That fills were real: they are what the model reported, and nobody asked the exchange.",
        "- That there are no other models or accounts that did worse.",
        "- What hidden events say, and whether they are orders or anything else that counts.",
        "- That the operator of the server, who has its key, did not sign another tape. Keep this"
        " file, and check a later one against it with --earlier.",
    ]
    if found.removed:
        counts = ", ".join(
            f"{count:,} ({quoted(kind)})" for kind, count in sorted(found.removed.items())
        )
        said += [
            "",
            f"Removed by retention, received until {_moment(found.removed_until)}: {counts}.",
            "Their digests are still part of the chain. Of which kind they were is what the"
            f" {'server' if found.is_file_signed else 'file'} says; their content cannot be checked"
            " any more.",
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
            f"NOT SIGNED TO ITS END: {_tail(found)} Anyone could have added them. The file is not"
            " complete, or it is not what the server wrote."
        )
    if found.is_known and found.is_retired:
        return (
            f"SIGNED WITH A REPLACED KEY: {found.fingerprint} signed this record more than an hour"
            " after it had been replaced. It may have been stolen."
        )
    if found.is_known and found.is_partial:
        return (
            "PROVEN, AS FAR AS IT IS SHOWN: what this file shows was signed with the key that you"
            f" named ({found.fingerprint}). It does not show everything."
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
    if found.is_file_signed:
        said.append(
            "- The file is as the server wrote it: nothing in it was hidden or left out afterwards."
        )
    if found.is_partial:
        said.append("- Of what is hidden or removed, the file has digests: it is there, unread.")
    if found.unsigned:
        said.append(f"- Nothing about its end: {_tail(found)}")
    if found.set_back:
        said.append(
            f"- The server's clock was set back: {found.set_back:,} events have times of up to"
            f" {_length(found.set_back_by)} before those of earlier ones."
        )
    if found.new_logs:
        said.append(
            f"- The server began a new log before event {_numbers(found.new_logs)}: it was restored"
            " from a backup, or copied. What it had signed after that backup and lost is not in"
            " this file. A record from before (--earlier) or a witness shows whether that was"
            " about this model."
        )
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
    strangers = {one.authority for one in found.stamps if not one.is_trusted}
    said = [""]
    if trusted:
        last = max(trusted, key=lambda one: one.seq)
        said += [
            f"Time stamps by {_names({one.authority for one in trusted})}:",
            f"- Events up to {trusted[0].seq:,} existed at {_moment(trusted[0].at)}.",
            *(
                [f"- Events up to {last.seq:,} existed at {_moment(last.at)}."]
                if last.seq > trusted[0].seq
                else []
            ),
            "- The longest time from a shown event to a stamp over it is"
            f" {_length(found.stamp_gap or 0)}. Within that time the server could still have"
            " changed it.",
        ]
        if found.unstamped:
            said.append(f"- The last {found.unstamped:,} events are not stamped yet.")
    if strangers:
        said.append(
            f"Stamps by {_names(strangers)} do not count: their certificates do not lead to one"
            " that is trusted here. Name theirs with --tsa-certificate FILE."
        )
    return said


def _lists(found: Checked) -> list[str]:
    said = []
    if found.lists:
        said.append(f"{found.lists:,} long lists of backtest results are as they were signed.")
    if found.lists_missing:
        said.append(
            f"{found.lists_missing:,} long lists of backtest results are not in this file: the"
            f" result was replaced or deleted{'' if found.is_file_signed else _LEFT_OUT}."
        )
    return said


def _tail(found: Checked) -> str:
    first, last = found.unsigned_from, found.unsigned_until
    times = "" if first is None or last is None else f", from {_moment(first)} to {_moment(last)},"
    if found.unsigned == 1:
        return f"the last event{times} is not signed."
    return f"the last {found.unsigned:,} events{times} are not signed."


def _numbers(some: list[int]) -> str:
    return ", ".join(f"{one:,}" for one in some[-LISTED:])


def _names(names: set[str]) -> str:
    return ", ".join(map(quoted, sorted(names)))


def _changed(one: Change) -> str:
    fields = sorted(one.fields.items())
    return ", ".join(f"{quoted(name)} {_value(value)}" for name, value in fields) or "hidden"


def _value(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _moment(at: float) -> str:
    return written(at, "%Y-%m-%d %H:%M:%S UTC")


def _length(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
