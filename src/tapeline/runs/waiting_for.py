"""What a run waits for that no host takes, or whose host cannot do anything about it now.

Of runs on silent hosts, see `silent_hosts`. A queued backtest, a run whose time has not come and
one that is being installed wait for nothing that anybody has to mend.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from tapeline.runs import heartbeat, pythons_of_hosts
from tapeline.runs.described_hosts import Host
from tapeline.runs.run import Run
from tapeline.runs.silent_hosts import Silence
from tapeline.store.backends import common_time
from tapeline.store.backends.database import Database
from tapeline.store.rows import record
from tapeline.store.tables.runs import hosts


def reasons(
    connection: Connection, database: Database, here: str, found: Sequence[Run]
) -> dict[str, str]:
    """A sentence for each of these runs that waits for a host, by its id."""
    there = [one for one in found if one.ended_at is None]
    if not there:
        return {}
    known = {row.name: record(Host, row) for row in connection.execute(select(hosts))}
    answering = heartbeat.up(connection, database, known) | {here}
    up = {name: one for name, one in known.items() if name in answering}
    answer, now = {}, common_time.now(connection)
    for run in there:
        if run.host is not None:
            said = unwell(up.get(run.host))
        else:
            is_ready = run.desired == "running" and (run.due_at is None or run.due_at < now)
            said = _nobody_takes(connection, known, up, run) if is_ready and known else None
        if said is not None:
            answer[run.id] = said
    return answer


def others_take(connection: Connection, database: Database, here: str) -> bool:
    """Whether another host takes runs now, so that this one need not be able to."""
    if database.file is not None:
        return False
    query = select(hosts).where(
        hosts.c.name != here, hosts.c.drained_at.is_(None), hosts.c.trouble == ""
    )
    names = [row.name for row in connection.execute(query)]
    return bool(heartbeat.up(connection, database, names))


def unwell(host: Host | None) -> str | None:
    if host is None or not host.trouble:
        return None
    return (
        f"It waits for its host {host.name}, which can do nothing about its runs now:"
        f" {host.trouble}. It goes on when that is mended; `tapeline hosts` lists all."
    )


def _nobody_takes(
    connection: Connection, known: dict[str, Host], up: dict[str, Host], run: Run
) -> str | None:
    able = {name: one for name, one in known.items() if _may_have(one, run)}
    if not able:
        return (
            f"It waits for a host with Python {run.python_version}: no host has it any more."
            " Install it on one of them, or deploy the model with another Python."
        )
    here = {name: one for name, one in up.items() if name in able}
    if not here:
        silent = [Silence(one, heartbeat.last_of(connection, one)) for one in sorted(able)]
        said = ", ".join(
            f"{one.host}, whose server does not answer and {one.since()}" for one in silent
        )
        return (
            f"It waits for a host with Python {run.python_version}. Only these have it: {said}."
            " Start that server again, or install that Python on another host."
        )
    taking = [one for one in here.values() if one.drained_at is None]
    if not taking:
        return (
            "It waits for a host that takes runs: these are drained:"
            f" {', '.join(sorted(here))}. To let one take runs again: tapeline hosts undrain"
        )
    if all(one.trouble for one in taking):
        said = "; ".join(f"{one.name}: {one.trouble}" for one in taking)
        return f"It waits for a host. Those that could run it can start nothing now: {said}."
    return None


def _may_have(host: Host, run: Run) -> bool:
    return host.forgotten_at is None and pythons_of_hosts.has(host, run.python_version)
