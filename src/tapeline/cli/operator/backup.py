"""`tapeline backup` and `tapeline restore`: copy a server's data to a folder, and back.

Both leave a folder only if it is complete and checked.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from tapeline import datadir, logs, settings, typed_commands
from tapeline.backups import restoring, writing
from tapeline.backups.checking import Checked
from tapeline.backups.manifest import counted
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen

KeepBroken = Annotated[
    bool,
    typer.Option(
        "--keep-broken", help="Also keep tapes that do not match their seals, as they are."
    ),
]


@command(
    "tapeline backup /backup/tapeline-monday",
    "tapeline backup /backup/monday.tar.age --recipient age1…",
    options=JSON,
)
def backup(
    context: typer.Context,
    to: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The new folder or encrypted file; it must not exist.",
            show_default=False,
        ),
    ],
    recipient: Annotated[
        str,
        typer.Option(
            "--recipient",
            help="Encrypt it to this public key of age; several are separated by commas.",
            metavar="KEY",
            show_default=False,
        ),
    ] = "",
    without_database: Annotated[
        bool,
        typer.Option(
            "--without-database", help="Leave PostgreSQL out, if you back it up with pg_dump."
        ),
    ] = False,
    keep_broken: KeepBroken = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Copy a server's data to a folder, even while it runs.

    Copies the database, keys, archives and the files that models keep, and checks every tape in
    the copy. The content of a PostgreSQL database becomes a SQLite file. `tapeline restore` makes a
    data directory from the folder again.
    """
    screen = Screen(as_json=context.obj.as_json)
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require(chosen.data)
    datadir.require_database(chosen.data, chosen.database)
    if to.exists():
        raise Failure(f"{to} already exists. Choose another folder.")
    if without_database and not chosen.database:
        raise Failure("There is no PostgreSQL to leave out: the database is in the data directory.")
    os.umask(0o077)
    how = {"keep_broken": keep_broken, "with_database": not without_database}
    if recipient:
        checked, _, left_out = writing.encrypted(chosen, to.absolute(), recipient, **how)
    else:
        checked, _, left_out = writing.folder(chosen, to.absolute(), **how)
    said = f"{to} holds the files of {chosen.data}. The database is not in it: use pg_dump."
    if checked:
        said = f"{to} holds the data of {chosen.data}: {_told(checked)}"
    answer = {"folder": str(to), "left_out": left_out, **_answer(checked)}
    screen.done(f"{said} {left_out}".strip(), answer)


@command(
    "tapeline restore /backup/tapeline-monday --data /srv/tapeline",
    "tapeline restore /backup/tapeline-monday --database postgresql://tapeline@localhost/new",
    "tapeline restore /backup/monday.tar.age --identity key.txt",
    options=JSON,
)
def restore(
    context: typer.Context,
    backup: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="The backup.", show_default=False)
    ],
    identity: Annotated[
        Path | None,
        typer.Option(
            "--identity", help="File with the secret key of an encrypted backup.", metavar="FILE"
        ),
    ] = None,
    keep_broken: KeepBroken = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Make a data directory from a backup.

    The data directory must be new, and a PostgreSQL database must be empty. Every tape is checked
    against its seals. The copy is on hold: nothing runs until `tapeline release`.
    """
    screen = Screen(as_json=context.obj.as_json)
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    os.umask(0o077)
    checked = restoring.restore(
        backup.absolute(), chosen, identity=identity, keep_broken=keep_broken
    )
    release = typed_commands.with_database("tapeline release", chosen)
    screen.done(
        f"{chosen.data} holds {_told(checked)} "
        f"It is on hold. When no other copy of it runs: {release}",
        {"data": str(chosen.data), "left_out": checked.left_out, **_answer(checked)},
    )


def _told(checked: Checked) -> str:
    told = (*checked.broken, *checked.lacking, checked.left_out)
    broken = "".join(f" {one}" for one in told if one)
    match = "matches its seals" if checked.tapes == 1 else "match their seals"
    return f"{checked.content.sentence()}; {counted(checked.tapes, 'tape')} {match}.{broken}"


def _answer(checked: Checked | None) -> dict[str, object]:
    if checked is None:
        return {"tapes": None}
    content = checked.content
    return {
        "tapes": checked.tapes,
        "broken": [*checked.broken, *checked.lacking],
        "models": content.models,
        "events": content.events,
        "newest": content.newest,
    }
