"""Whether every host that has unfinished runs is there to supervise them."""

from pathlib import Path

from sqlalchemy import Connection, func, select

from tapeline import typed_commands
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, yellow
from tapeline.runs import heartbeat, host_identity
from tapeline.runs import run as run_records
from tapeline.store import leadership
from tapeline.store.backends.database import Database
from tapeline.store.tables.runs import runs

FIX = (
    "Start the server of that host again with its data directory. Only it knows whether its models"
    " still run; `{hosts}` lists all hosts. If its machine is gone for good: tapeline hosts forget"
)

MEND = "The row `sandbox` says what it lacks. The server looks again every minute."


def look(parts: Parts) -> Verdict:
    here = parts.runner.host_name or _name_in(parts.settings.data)
    if not parts.runner.host_name and parts.store.read_now(run_records.launched_on, here):
        return yellow("This host cannot run models now. Nobody supervises its own runs.", MEND)
    there, gone = parts.store.read_now(_found, parts.store.database, here)
    own = parts.runner.host_name or "not running models"
    says = f"This host is {own}; {len(there):,} others have runs.{_lead(parts)}"
    if not gone:
        return green(says)
    names = ", ".join(gone)
    hosts = typed_commands.with_database("tapeline hosts", parts.settings)
    return yellow(f"{says} Nobody supervises the runs of {names}.", FIX.format(hosts=hosts))


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


def _found(connection: Connection, database: Database, here: str) -> tuple[list[str], list[str]]:
    """Other hosts with unfinished runs, and those of them whose server is silent."""
    query = (
        select(runs.c.host)
        .where(runs.c.ended_at.is_(None), runs.c.host.is_not(None), runs.c.host != here)
        .group_by(runs.c.host)
        .order_by(func.count().desc())
        .limit(100)
    )
    there = [host for host in connection.scalars(query) if host is not None]
    up = heartbeat.up(connection, database, there)
    return there, [one for one in there if one not in up]
