"""Whether every host is there and well, and every run has one that takes it."""

from pathlib import Path

import msgspec
from sqlalchemy import Connection, select

from tapeline import typed_commands
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow
from tapeline.runs import host_identity, waiting_for
from tapeline.runs import hosts as known_hosts
from tapeline.runs import run as run_records
from tapeline.runs.hosts import Standing
from tapeline.runs.run import Run
from tapeline.runs.silent_hosts import Silence
from tapeline.store import leadership
from tapeline.store.backends.database import Database
from tapeline.store.rows import record
from tapeline.store.tables.runs import runs

FIX = (
    "Start the server of that host again with its data directory. Only it knows whether its models"
    " still run; `{hosts}` lists all hosts. If its machine is gone for good: tapeline hosts forget"
)
FIX_NODES = (
    "Start that machine again, and Ray on it; `{hosts}` lists all. If it is gone for good:"
    " tapeline hosts forget. A host that was drained takes runs again with: tapeline hosts undrain"
)
FIX_WAITING = "Do what the sentence says; `tapeline runs MODEL` says it of each run."

MEND = "The row `sandbox` says what it lacks. The server looks again every minute."
NAMED = 5  # hosts; there may be hundreds
LOOKED_AT = 200  # runs that no host has; there may be thousands


class Found(msgspec.Struct, frozen=True):
    others: list[Standing]
    """All but this server's own, of which other rows tell."""
    takers: int
    """That take runs now, this one among them."""
    has_nodes: bool
    waits: list[str]
    """Why runs wait that no host takes, a sentence of each."""


def look(parts: Parts) -> Verdict:
    here = parts.runner.host_name or _name_in(parts.settings.data)
    if not parts.runner.host_name and parts.store.read_now(run_records.launched_on, here):
        return yellow("This host cannot run models now. Nobody supervises its own runs.", MEND)
    found = parts.store.read_now(_found, parts.store.database, here)
    own = parts.runner.host_name or "not running models"
    verdict = judged(f"This host is {own}; {_used(found.others)}.{_lead(parts)}", found)
    hosts = typed_commands.with_database("tapeline hosts", parts.settings)
    return msgspec.structs.replace(verdict, fix=verdict.fix.replace("{hosts}", hosts))


def judged(says: str, found: Found) -> Verdict:
    bad = [one for one in found.others if _is_bad(one, found.has_nodes)]
    orphaned = [
        one.host.name
        for one in bad
        if one.state == "unreachable" and one.running and not one.host.node
    ]
    more = [_told(one) for one in bad[:NAMED]]
    if (left := len(bad) - NAMED) > 0:
        more.append(f"{left:,} more {'is' if left == 1 else 'are'} not well.")
    if orphaned:
        more.append(f"Nobody supervises the runs of {', '.join(orphaned[:NAMED])}.")
    if found.waits:
        wait = "run waits" if len(found.waits) == 1 else "runs wait"
        more.append(f"{len(found.waits):,} {wait}. {found.waits[0]}")
    fix = FIX if orphaned else FIX_NODES if bad or not found.takers else FIX_WAITING
    if found.has_nodes and not found.takers:
        return red(" ".join([says, "No host takes runs now.", *more]), fix)
    return yellow(" ".join([says, *more]), fix) if more else green(says)


def _is_bad(one: Standing, has_nodes: bool) -> bool:
    """Where models do not move, a server that was taken away with nothing left to do is no loss;
    nor is one that never described itself, which nobody could forget."""
    if one.state == "unreachable":
        return one.running > 0 or (has_nodes and bool(one.host.version))
    return one.state == "unwell"


def _told(one: Standing) -> str:
    if one.state == "unwell":
        return f"{_named(one)} is unwell: {one.host.trouble.rstrip('.')}."
    since = "" if one.seen_at is None else f" and {Silence(one.host.name, one.seen_at).since()}"
    return f"{_named(one)} does not answer{since}."


def _named(one: Standing) -> str:
    kind = "Node" if one.host.node else "Host"
    return f"{kind} {one.host.name}"


def _used(others: list[Standing]) -> str:
    count = sum(one.running > 0 for one in others)
    if not count:
        return "no other has runs"
    return "1 other has runs" if count == 1 else f"{count:,} others have runs"


def _lead(parts: Parts) -> str:
    """Who does what is done once, where several servers share a database."""
    if parts.store.database.file is not None:
        return ""
    if parts.background.leads():
        return " This server leads."
    lease = parts.store.read_now(leadership.holder)
    return (
        " No server leads now; one takes over within seconds."
        if lease is None
        else (f" The server of {lease.server} leads.")
    )


def _name_in(data: Path) -> str:
    """The name of a host whose server runs no models, as its data directory has it."""
    try:
        return next(iter((data / host_identity.FILE).read_text().split()), "")
    except OSError:
        return ""


def _found(connection: Connection, database: Database, here: str) -> Found:
    standings = known_hosts.all_of(connection, database, here or None)
    there = [one for one in standings if one.host.forgotten_at is None]
    return Found(
        others=[one for one in there if one.host.name != here],
        takers=len(known_hosts.taking(standings)),
        has_nodes=any(one.host.node for one in standings),
        waits=_waits(connection, database, here),
    )


def _waits(connection: Connection, database: Database, here: str) -> list[str]:
    """On SQLite this host is the only one, and other rows say what it lacks."""
    if database.file is not None:
        return []
    query = (
        select(runs)
        .where(runs.c.ended_at.is_(None), runs.c.host.is_(None))
        .order_by(runs.c.created_at, runs.c.id)
        .limit(LOOKED_AT)
    )
    found = [record(Run, row) for row in connection.execute(query)]
    return list(waiting_for.reasons(connection, database, here, found).values())
