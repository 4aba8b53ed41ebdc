"""`tapeline move`: copy everything from one database into another while no server uses either."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any

import typer
from sqlalchemy import Connection, select

from tapeline import compose, datadir, logs, settings, typed_commands
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.screen import Screen
from tapeline.errors import CannotMove
from tapeline.polling import poll
from tapeline.settings import Settings
from tapeline.store import moving
from tapeline.store.backends import database as databases
from tapeline.store.tables.core import models
from tapeline.store.tables.tape import tapes
from tapeline.tape.record import verify

SQLITE = "sqlite"
PATIENCE = 3.0  # seconds for connections that are just being closed


@command(
    "tapeline move postgresql://tapeline:password@localhost/tapeline",
    "tapeline move sqlite --database postgresql://tapeline:password@localhost/tapeline",
    options=JSON,
)
def move(
    context: typer.Context,
    to: Annotated[
        str,
        typer.Argument(
            metavar="DATABASE",
            help="The new database: postgresql://…, or sqlite for the file in the data directory.",
            show_default=False,
        ),
    ],
    keep_broken: Annotated[
        bool,
        typer.Option(
            "--keep-broken", help="Also move tapes that do not match their seals, as they are."
        ),
    ] = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Copy everything from one database into an empty one.

    Copies the database in use; stop the server first. Afterwards every row is compared, and every
    tape is checked against its seals. If anything differs, the new database stays empty. The old
    one is marked as moved: no server starts on it until `tapeline release`.
    """
    screen = Screen(as_json=context.obj.as_json)
    here = settings.load({"data": data, "database": database, "config": config})
    # Read as a setting, so that a wrong address is refused in the same words.
    there = replace(here, database="")
    if to != SQLITE:
        there = settings.load({"data": data, "database": to, "config": config})
    if here.database == there.database:
        raise CannotMove("The database to move to is the one that is in use.")
    logs.start("warning", here.log_format)
    datadir.require(here.data)
    datadir.require_database(here.data, here.database)
    with datadir.only_server(here.data, "being moved to another database"):
        moved = _move(screen, here, there, keep_broken=keep_broken)
    screen.done(
        f"Moved {moved['rows']:,} rows to {moved['database']}, and checked {moved['tapes']:,} tapes"
        " there. Start the server with this database from now on (setting `database`).",
        moved,
    )


def _move(screen: Screen, here: Settings, there: Settings, *, keep_broken: bool) -> dict[str, Any]:
    with _alone(here) as source, _alone(there) as target:
        with (
            source.reading.connect() as reading,
            source.writing.connect() as marking,
            target.writing.connect() as writing,
            marking.begin(),
            reading.begin(),
            writing.begin(),
        ):
            _refuse_moved(reading, here)
            moving.refuse_if_used(writing)
            copied = moving.copy(
                reading, writing, lambda table, rows: screen.note(f"{table}: {rows:,}")
            )
            moving.compare(writing, copied)
            whole, broken = _check_seals(writing)
            if broken and not keep_broken:
                raise CannotMove(
                    f"{' '.join(broken)} Nothing was moved. Restore a backup in which it is intact,"
                    " or use --keep-broken to move it as it is."
                )
            # Committed after the target is: a crash in between leaves two unmarked databases.
            moving.mark(marking, target.name)
        rows = sum(one.rows for one in copied.values())
        return {"database": target.name, "rows": rows, "tapes": whole, "broken": broken}


def _refuse_moved(source: Connection, chosen: Settings) -> None:
    if elsewhere := moving.destination(source):
        release = typed_commands.with_database("tapeline release", chosen)
        raise CannotMove(
            f"This database was moved to {elsewhere} before. Move from there, or use this one again"
            f" with: {release}"
        )


@contextmanager
def _alone(chosen: Settings) -> Iterator[databases.Database]:
    """A database with current tables and no other connections."""
    with compose.open_store(chosen) as store:
        store.database.dispose()  # what is connected now is not ours
        others = poll(
            store.database.others, within=PATIENCE, every=0.1, done=lambda count: not count
        )
        if others:
            raise CannotMove(
                f"A server is using {store.database.name} ({others} connections). Stop it."
            )
        yield store.database


def _check_seals(connection: Connection) -> tuple[int, list[str]]:
    """The number of intact tapes, and a sentence for each broken one. Tapes of deleted models are
    being cleared and are not checked."""
    of_models = select(tapes.c.no, tapes.c.model_id).join(models, models.c.id == tapes.c.model_id)
    whole, sentences = 0, []
    for no, model_id in connection.execute(of_models).all():
        broken = verify.first_break(connection, no)
        if broken is None:
            whole += 1
        else:
            sentences.append(f"The tape of model {model_id} is broken at event {broken}.")
    return whole, sentences
