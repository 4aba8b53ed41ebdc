"""`tapeline compact`: make the SQLite file as small as its content, while no server runs.

A running server does this by itself in small steps. Files that older versions made have to be
written anew once before it can.
"""

import typer

from tapeline import datadir, settings
from tapeline.cli.server.options import Config, Data
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.store.backends import sqlite

FILE = "tapeline.db"


@command("tapeline compact", "tapeline compact --data /srv/tapeline", options=JSON)
def compact(context: typer.Context, data: Data = None, config: Config = None) -> None:
    """Give the space of deleted rows back to the disk, while no server runs.

    A running server does so by itself, unless its database was made by an older version: run this
    once then. It needs as much free disk as the database has content.
    """
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    file = chosen.data / FILE
    if chosen.database or not file.exists():
        raise Failure(
            f"{chosen.data} has no SQLite database. PostgreSQL gives space back with VACUUM FULL."
        )
    with datadir.only_server(chosen.data, "tapeline compact"):
        before = file.stat().st_size
        sqlite.compact(file)
        after = file.stat().st_size
    Screen(as_json=context.obj.as_json).done(
        f"{file} has {screen.size(after)} now; it had {screen.size(before)}.",
        {"file": str(file), "before": before, "after": after},
    )
