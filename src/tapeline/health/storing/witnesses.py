"""Whether witnesses sign the log of this server, and whether a log that it witnesses deceives."""

from sqlalchemy import Connection

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, duration, green, red, yellow
from tapeline.tape.witnessing import logs, witnesses
from tapeline.tape.witnessing.witnesses import Head, Witness

PATIENCE = 2.5  # times the pause between two rounds
LIST = "Look at: tapeline witness list"
TWO = (
    "Records of the two histories contradict each other, and anyone can prove it. If a backup was"
    f" restored, say so to your readers. {LIST}"
)


def look(parts: Parts) -> Verdict:
    ours = parts.store.read_now(witnesses.every)
    if said := _of_this_server(ours):
        return red(said[0], TWO)
    if said := parts.store.read_now(two_histories):
        return yellow(said[0], LIST)
    return _of_ours(parts, ours)


def two_histories(connection: Connection) -> list[str]:
    """A sentence for each witness that has proof about this server, and for each log about which
    this server has proof."""
    return [
        *_of_this_server(witnesses.every(connection)),
        *(
            f"{log.address}, which this server witnesses, signed two histories."
            for log in logs.every(connection)
            if logs.TWO_HISTORIES in {one.kind for one in logs.refused(connection, log.origin)}
        ),
    ]


def _of_this_server(ours: list[Witness]) -> list[str]:
    return [
        f"{one.address} has proof that this server signed two histories."
        for one in ours
        if one.evidence is not None
    ]


def _of_ours(parts: Parts, ours: list[Witness]) -> Verdict:
    if not ours:
        return green("No server witnesses this one. Add one with: tapeline witness add URL")
    head = parts.store.read_now(witnesses.newest_head)
    late = PATIENCE * 60 * parts.settings.timestamp_minutes
    ages = [age for one in ours if (age := _age(parts, one)) is not None]
    figures = {"witness_age_seconds": min(ages)} if ages else {}
    for one in ours:
        age = _age(parts, one)
        if one.problem and _is_behind(one, head) and (age is None or age > late):
            gap = "never" if age is None else f"{duration(age)} ago"
            said = f"{one.address} signed the log of this server last: {gap}. {one.problem}"
            return yellow(said, "Nothing waits for it, and it is asked again", **figures)
    if not ages:
        return green("No signature of a witness is due yet.")
    return green(f"The newest signature of a witness is {duration(min(ages))} old.", **figures)


def _age(parts: Parts, one: Witness) -> float | None:
    return None if one.signed_at is None else parts.store.clock.age(one.signed_at)


def _is_behind(one: Witness, head: Head | None) -> bool:
    return head is not None and (one.log, one.size) != (head.log, head.size)
