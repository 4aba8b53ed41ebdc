"""`tapeline hosts`: the machines that share one database, and what runs on each."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tapeline import compose, datadir, logs, settings
from tapeline.backups.manifest import moment
from tapeline.cli.server.options import Config, Data, Database, Yes
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.polling import poll
from tapeline.runs import described_hosts, heartbeat, host_identity, hosts
from tapeline.runs import run as runs
from tapeline.runs.hosts import Standing
from tapeline.runs.run import Run
from tapeline.settings import Settings
from tapeline.store import leadership
from tapeline.store.store import Store

Name = Annotated[str, typer.Argument(metavar="HOST", help="Its name, as `tapeline hosts` has it.")]

PATIENCE = 30.0  # seconds in which the server that leads takes the runs of a forgotten host
COLOURS = {"well": "green", "unwell": "yellow", "unreachable": "red", "forgotten": "dim"}


@command(
    "tapeline hosts",
    "tapeline hosts list --database postgresql://… --json",
    options=JSON,
)
def list_hosts(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """List the hosts that run models of this installation."""
    out = Screen(as_json=context.obj.as_json)
    with opened(data, database, config) as (chosen, store):
        here, found = here_of(chosen.data), all_of(chosen, store)
    if out.as_json:
        out.json([{**fields(one), "is_this_one": one.host.name == here} for one in found])
        return
    out.table(
        ["", "host", "machine", "state", ">running", "last started"],
        [
            [
                "*" if one.host.name == here else "",
                one.host.name,
                one.host.machine,
                screen.styled(told(one, found), COLOURS[one.state]),
                one.running,
                screen.ago(one.last_started),
            ]
            for one in found
        ],
        empty="No model has run on this installation yet.",
    )


@command("tapeline hosts drain k3vx8qhmw2td5rfy", options=JSON)
def drain(
    context: typer.Context,
    host: Name,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Move a host's live models to other hosts, one by one.

    Each goes on until another host has prepared it, stops, and starts there. The host takes no new
    runs until `tapeline hosts undrain`.
    """
    with opened(data, database, config) as (_, store):
        set_drained(store, host, Screen(as_json=context.obj.as_json), is_drained=True)


@command("tapeline hosts undrain k3vx8qhmw2td5rfy", options=JSON)
def undrain(
    context: typer.Context,
    host: Name,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Let a host take runs again."""
    with opened(data, database, config) as (_, store):
        set_drained(store, host, Screen(as_json=context.obj.as_json), is_drained=False)


@command("tapeline hosts forget k3vx8qhmw2td5rfy --yes", options=JSON)
def forget(
    context: typer.Context,
    host: Name,
    yes: Yes = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Say that a host's machine is gone, and start its live models on other hosts.

    Only you can know that. If the machine still runs, unseen, its models trade there too until it
    reaches the database again. What they send to this installation is refused. Runs on nodes of a
    cluster end with their leases, whatever you say.
    """
    out = Screen(as_json=context.obj.as_json)
    with opened(data, database, config) as (_, store):
        store.read_now(described_hosts.get, host)
        if store.database.file is not None or store.read_now(heartbeat.is_up, store.database, host):
            raise Failure(
                f"{host} is not gone: its server runs, or it is the only host."
                " To move its models away, use: tapeline hosts drain"
            )
        left = store.read_now(runs.launched_on, host)
        because = (
            f"{len(left)} runs of {host} end here, and its live models start on other hosts."
            f" {_risk(left)}"
        )
        confirm(out, f"{because} Is the machine gone?", yes=yes, because=because)
        store.write_now(described_hosts.forget, host, operator())
        leader = store.read_now(leadership.holder)
        is_done = leader is not None and poll(
            lambda: not store.read_now(runs.launched_on, host), within=PATIENCE, every=0.2
        )
    says = f"{host} is forgotten. Its {len(left)} runs have ended, live models start elsewhere."
    if not is_done:
        says = f"{host} is forgotten. The server that leads ends its {len(left)} runs when it can."
    out.done(says, {"host": host, "runs": [one.id for one in left], "done": is_done})


def _risk(left: list[Run]) -> str:
    if left and all(one.lease_until is not None for one in left):
        return "They have leases, and start elsewhere when these have run out."
    return "If its machine still runs, they trade twice."


# Also for `tapeline cluster`


@contextmanager
def opened(
    data: Path | None, database: str | None, config: Path | None
) -> Iterator[tuple[Settings, Store]]:
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require_database(chosen.data, chosen.database)
    with compose.open_store(chosen) as store:
        yield chosen, store


def all_of(chosen: Settings, store: Store) -> list[Standing]:
    here = here_of(chosen.data) if datadir.server_of(chosen.data) else None
    return store.read_now(hosts.all_of, store.database, here)


def set_drained(store: Store, host: str, out: Screen, *, is_drained: bool) -> None:
    if is_drained:
        store.write_now(described_hosts.drain, host, operator())
        says = f"{host} takes no more runs, and its live models move to other hosts one by one."
    else:
        store.write_now(described_hosts.undrain, host)
        says = f"{host} takes runs again."
    out.done(says, {"host": host, "drained": is_drained})


def fields(one: Standing) -> dict[str, Any]:
    is_up = one.state in ("well", "unwell")
    return {
        **msgspec.structs.asdict(one.host),
        "host": one.host.name,
        "state": one.state,
        "running": one.running,
        "started_at": one.last_started,
        "is_up": is_up,
        "silent_since": None if is_up else one.seen_at,
    }


def told(one: Standing, found: list[Standing]) -> str:
    said = {
        "well": "well",
        "unwell": f"unwell: {one.host.trouble}",
        "unreachable": "unreachable"
        if one.seen_at is None
        else f"unreachable since {moment(one.seen_at)}",
        "forgotten": f"forgotten by {one.host.forgotten_by}",
    }[one.state]
    if one.host.drained_at is None:
        return said
    takers = {other.name for other in described_hosts.takers(other.host for other in found)}
    others = [
        other
        for other in found
        if other.state == "well" and other.host.drained_at is None and other.host.name in takers
    ]
    if one.running and not others:
        return f"{said}, drained: waits for another host to take its {one.running} runs"
    return f"{said}, drained"


def operator() -> str:
    with suppress(OSError, KeyError):  # a user without a name
        return f"the operator {getpass.getuser()}"
    return "an operator"


def here_of(data: Path) -> str:
    try:
        return (data / host_identity.FILE).read_text().partition(" ")[0]
    except OSError:
        return ""
