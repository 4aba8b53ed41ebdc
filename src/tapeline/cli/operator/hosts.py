"""`tapeline hosts`: the machines that share one database, and what runs on each."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tapeline import compose, datadir, logs, settings
from tapeline.cli.operator import telling_of_hosts as telling
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
    show(out, found, here)


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
    with opened(data, database, config) as (chosen, store):
        drain_one(chosen, store, host, Screen(as_json=context.obj.as_json))


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
        undrain_one(store, host, Screen(as_json=context.obj.as_json))


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
    with opened(data, database, config) as (chosen, store):
        store.read_now(described_hosts.get, host)
        if store.database.file is not None:
            raise Failure(f"{host} is the only host: its models have no other to start on.")
        if store.read_now(heartbeat.is_up, store.database, host):
            raise Failure(
                f"{host} is not gone: it was heard a moment ago."
                f" To move its models away, use: tapeline hosts drain {host}"
            )
        left = store.read_now(runs.launched_on, host)
        because = telling.before_forgetting(host, left)
        confirm(out, f"{because} Is the machine gone?", yes=yes, because=because)
        store.write_now(described_hosts.forget, host, operator())
        leader = store.read_now(leadership.holder)
        is_done = not left or (
            leader is not None
            and poll(lambda: not store.read_now(runs.launched_on, host), within=PATIENCE, every=0.2)
        )
        says = telling.forgotten(host, left, all_of(chosen, store), is_done=is_done)
    out.done(says, {"host": host, "runs": [one.id for one in left], "done": is_done})


def show(out: Screen, found: list[Standing], here: str = "") -> None:
    out.table(
        ["", "host", "~machine", "state", ">running", "?last started", "?forgotten by"],
        [
            [
                "*" if one.host.name == here else "",
                one.host.name,
                one.host.machine,
                state(one),
                one.running,
                screen.ago(one.last_started),
                one.host.forgotten_by if one.state == "forgotten" else "",
            ]
            for one in found
        ],
        empty="No model has run on this installation yet.",
    )
    note_troubles(out, found, found)


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


def drain_one(chosen: Settings, store: Store, host: str, out: Screen) -> None:
    store.write_now(described_hosts.drain, host, operator())
    says = telling.drained(host, all_of(chosen, store))
    out.done(says, {"host": host, "drained": True})


def undrain_one(store: Store, host: str, out: Screen) -> None:
    store.write_now(described_hosts.undrain, host)
    out.done(f"{host} takes runs again.", {"host": host, "drained": False})


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


def state(one: Standing) -> Any:
    """In few words: what is wrong is in the notes below the table, which no terminal cuts."""
    is_drained = one.host.drained_at is not None and one.state != "forgotten"
    return screen.styled(f"{one.state}{', drained' if is_drained else ''}", COLOURS[one.state])


def note_troubles(out: Screen, shown: list[Standing], every: list[Standing]) -> None:
    for one in shown:
        if said := telling.trouble(one, every):
            out.note(f"{one.host.name}: {said}", "yellow")


def operator() -> str:
    with suppress(OSError, KeyError):  # a user without a name
        return f"the operator {getpass.getuser()}"
    return "an operator"


def here_of(data: Path) -> str:
    try:
        return (data / host_identity.FILE).read_text().partition(" ")[0]
    except OSError:
        return ""
