"""`tapeline hold`, `release` and `halt`: keep models from running, on the machine itself.

None of them needs a server. `halt --here` needs no database either: it ends processes, and the
kernel's locks prove their end.
"""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tapeline import compose, datadir, logs, settings
from tapeline.cli.server.options import Config, Data, Database, Yes
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Failure, Misused
from tapeline.cli.terminal.screen import Screen
from tapeline.runs import holds
from tapeline.runs.engines import stopping_here
from tapeline.runs.engines.stopping_here import Ended, Launched
from tapeline.store import moving

BY_HAND = "An operator put it on hold."
STOPPED = "An operator stopped it."
HALTED = "An operator halted everything on this machine."

Why = Annotated[
    str | None, typer.Option("--why", help="The reason, for everybody who sees it.", metavar="TEXT")
]


@command('tapeline hold --why "Maintenance until noon"', options=JSON)
def hold(context: typer.Context, why: Why = None, data: Data = None, config: Config = None) -> None:
    """Keep all models from running until `tapeline release`.

    A running server stops its models within seconds. Everything can still be seen, and models that
    should run start again after the release.
    """
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    made = holds.put(chosen.data, holds.ALL, why or BY_HAND)
    Screen(as_json=context.obj.as_json).done(
        f"{chosen.data} is {made.sentence()} Nothing runs until: tapeline release",
        {"since": made.since, "why": made.why},
    )


@command("tapeline release", "tapeline release --yes", options=JSON)
def release(
    context: typer.Context,
    yes: Yes = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Let models run again: after a hold, in a restored copy, or in a database that was moved.

    Two copies of one installation would trade twice. Make sure that the other one is gone.
    """
    chosen = settings.load({"data": data, "database": database, "config": config})
    datadir.require(chosen.data)
    logs.start("warning", chosen.log_format)
    screen = Screen(as_json=context.obj.as_json)
    held = holds.on_all(chosen.data)
    with compose.open_store(chosen) as store:
        elsewhere = store.read_now(moving.destination)
        reasons = [
            *([f"It is {held.sentence()}"] if held else []),
            *([f"It was moved to {elsewhere}."] if elsewhere else []),
        ]
        if not reasons:
            screen.done(f"{chosen.data} is not on hold.", {"released": False})
            return
        because = f"{' '.join(reasons)} If another copy still runs, models will trade twice."
        confirm(screen, f"{because} Release it?", yes=yes, because=because)
        store.write_now(moving.forget)
    holds.lift(chosen.data)
    screen.done("Released. Models that should run start within seconds.", {"released": True})


@command('tapeline halt --here --why "Prices are wrong"', options=JSON)
def halt(
    context: typer.Context,
    here: Annotated[
        bool, typer.Option("--here", help="On this machine, through its processes.")
    ] = False,
    why: Why = None,
    data: Data = None,
    config: Config = None,
) -> None:
    """Stop every model on this machine now, and keep it from starting again.

    Works without a server and without a database. Models get their seconds to clean up and are
    killed after that. Exits with 1 if the end of one is not proven. Undo it with: tapeline release
    """
    if not here:
        raise Misused("Give --here: everything that runs on this machine is stopped.")
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    screen = Screen(as_json=context.obj.as_json)
    kept = _kept(screen, chosen.data, holds.ALL, why or HALTED)
    # Again and again: the supervisor may have started one just before it noticed the hold.
    ended: list[Ended] = []
    while some := [one for one in stopping_here.launched(chosen.data) if _is_new(one, ended)]:
        ended += stopping_here.end(chosen.data, some, float(chosen.stop_seconds))
    _show(screen, ended, "Nothing was running on this machine.", is_held=kept)


def stop_here(screen: Screen, chosen: settings.Settings, wanted: str) -> None:
    """For `tapeline stop --here`, with the id of a model or of a run."""
    datadir.require(chosen.data)
    alive = stopping_here.launched(chosen.data)
    name = next((one.model for one in alive if wanted in (one.model, one.run)), None)
    if name is None:
        running = ", ".join(sorted({one.model for one in alive})) or "nothing"
        raise Failure(f"{wanted} does not run on this machine. Running here: {running}.")
    kept = _kept(screen, chosen.data, name, STOPPED)
    some = [one for one in alive if one.model == name]
    ended = stopping_here.end(chosen.data, some, float(chosen.stop_seconds))
    _show(screen, ended, "", is_held=kept)


def _kept(screen: Screen, data: Path, name: str, why: str) -> bool:
    """Whether the hold was written. What can be stopped is stopped in any case."""
    try:
        holds.put(data, name, why)
    except OSError as error:
        screen.note(
            f"The hold could not be written ({error.strerror}), so a server may start it again."
            " Stop the server, too."
        )
        return False
    return True


def _is_new(one: Launched, ended: list[Ended]) -> bool:
    return not any(one.run == other.run and not other.is_proven for other in ended)


def _show(screen: Screen, ended: list[Ended], nothing: str, *, is_held: bool) -> None:
    if screen.as_json:
        screen.json({"held": is_held, "ended": [msgspec.structs.asdict(one) for one in ended]})
    else:
        screen.table(
            ["model", "run", "end", "proof"],
            [
                [one.model, one.run, one.how, "its lock is free" if one.is_proven else "none"]
                for one in ended
            ],
            empty=nothing,
        )
    if not all(one.is_proven for one in ended):
        raise Failure("Not everything is known to be stopped. Look at these processes.")
