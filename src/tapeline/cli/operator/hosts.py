"""`tapeline hosts`: the machines that share one database, and what runs on each."""

from pathlib import Path

import msgspec
import typer
from sqlalchemy import Connection

from tapeline import compose, datadir, logs, settings
from tapeline.backups.manifest import moment
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.screen import Screen
from tapeline.runs import heartbeat
from tapeline.runs import run as runs
from tapeline.store.store import Store

NAME = "host"  # the file in which a data directory keeps the name of its host


@command("tapeline hosts", "tapeline hosts --database postgresql://… --json", options=JSON)
def hosts(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """List the hosts that run models of this installation."""
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require_database(chosen.data, chosen.database)
    with compose.open_store(chosen) as store:
        found = store.read_now(runs.by_host)
        names = [one.host for one in found]
        up = store.read_now(_up, store, names, chosen.data)
        beats = store.read_now(heartbeat.last_of_all, names)
    out, here = Screen(as_json=context.obj.as_json), _here(chosen.data)
    if out.as_json:
        out.json(
            [
                {
                    **msgspec.structs.asdict(one),
                    "is_this_one": one.host == here,
                    "is_up": one.host in up,
                    "silent_since": None if one.host in up else beats.get(one.host),
                }
                for one in found
            ]
        )
        return
    out.table(
        ["", "host", "server", ">running", "last started"],
        [
            [
                "*" if one.host == here else "",
                one.host,
                screen.styled("up", "green")
                if one.host in up
                else screen.styled(_silent(beats.get(one.host)), "red"),
                one.running,
                screen.ago(one.started_at),
            ]
            for one in found
        ],
        empty="No model has run on this installation yet.",
    )


def _up(connection: Connection, store: Store, hosts: list[str], data: Path) -> set[str]:
    """The hosts whose server runs now; with SQLite, that can only be the one of this directory."""
    if store.database.file is not None:
        return {_here(data)} if datadir.server_of(data) else set()
    return {one for one in hosts if heartbeat.is_up(connection, store.database, one)}


def _silent(since: float | None) -> str:
    return "down" if since is None else f"silent since {moment(since)}"


def _here(data: Path) -> str:
    try:
        return (data / NAME).read_text().partition(" ")[0]
    except OSError:
        return ""
