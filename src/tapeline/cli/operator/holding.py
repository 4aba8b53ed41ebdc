"""`tapeline hold` and `release`: keep models from running, on the machine itself.

They need no server. `halt --here` and `stop --here` need no database either: they end processes,
and the kernel's locks prove their end.
"""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tapeline import compose, datadir, host_faults, logs, settings, typed_commands
from tapeline.backups.restoring import RESTORED
from tapeline.cli.server.options import Config, Data, Database, Yes
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.runs import host_identity
from tapeline.runs.engines import stopping_here
from tapeline.runs.engines.stopping_here import Ended, Launched
from tapeline.runs.holding import hold_socket, holds
from tapeline.runs.holding.hold_socket import Request
from tapeline.runs.holding.holds import Hold
from tapeline.store import moving
from tapeline.tape.roots import trees

BY_HAND = "An operator put it on hold."
STOPPED = "An operator stopped it."
HALTED = "An operator halted everything on this machine."
ON_NODES = (
    "{data} belongs to a server of a cluster, on whose machine no models run: nodes run them. Stop"
    " all of them with: tapeline halt --all. If no server answers, stop them on each node with:"
    " tapeline halt --here --data /var/lib/tapeline-node (its own directory)."
)
RUNS_ON_NODE = (
    "{data} belongs to a server of a cluster, on whose machine no models run: nodes run them. Stop"
    " this one with: tapeline stop {wanted}. If no server answers, stop it on its node with:"
    " tapeline stop --here {wanted} --data /var/lib/tapeline-node (its own directory)."
)
NO_HOLD_OF_NODE = (
    "{data} belongs to a node of a cluster, and a hold has no meaning there. To move its models to"
    " other nodes: tapeline cluster drain {name}. To stop them: tapeline halt --here --data {data}"
)
STAYS_STOPPED = (
    "Nothing starts on this node until: tapeline release --data {data}. What ran here is recorded"
    " as stopped as soon as the server that leads hears of it, and only `tapeline start` starts it"
    " again. Other nodes go on: tapeline halt --all stops everything."
)

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
    if host_identity.is_node(chosen.data):
        name = host_identity.name_in(chosen.data / host_identity.FILE)
        raise Failure(NO_HOLD_OF_NODE.format(data=chosen.data, name=name))
    _refuse_if_elsewhere(chosen.data)
    made = holds.new(why or BY_HAND)
    if unwritten := _unwritten(chosen.data, holds.ALL, made):
        raise Failure(unwritten)
    Screen(as_json=context.obj.as_json).done(
        f"{chosen.data} is {made.sentence()} Nothing runs until: {_release(chosen)}",
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
    held = hold_socket.on_all(chosen.data)
    if host_identity.is_node(chosen.data):
        _release_node(screen, chosen.data, held)
        return
    with compose.open_store(chosen) as store:
        elsewhere = store.read_now(moving.destination)
        is_copy = host_identity.is_copied(chosen.data / host_identity.FILE)
        reasons = [
            *([f"It is {held.sentence()}"] if held else []),
            *(["It is a copy."] if is_copy and not held else []),
            *([f"It was moved to {elsewhere}."] if elsewhere else []),
        ]
        if not reasons:
            screen.done(f"{chosen.data} is not on hold.", {"released": False})
            return
        because = f"{' '.join(reasons)} If another copy still runs, models will trade twice."
        confirm(screen, f"{because} Release it?", yes=yes, because=because)
        store.write_now(moving.forget)
        if is_copy and not (held and held.why.startswith(RESTORED)):
            store.write_now(trees.begin_anew)  # a restored one has begun its own already
    if is_copy:
        holds.mark_released(chosen.data)
    _lift(chosen.data)
    screen.done("Released. Models that should run start within seconds.", {"released": True})


def halt_here(screen: Screen, why: str | None, data: Path | None, config: Path | None) -> None:
    """For `tapeline halt --here`: everything on this machine, through processes and locks."""
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    is_node = host_identity.is_node(chosen.data)
    if not is_node:
        _refuse_if_elsewhere(chosen.data)
    unwritten = _unwritten(chosen.data, holds.ALL, holds.new(why or HALTED, is_halt=True))
    _show(screen, _end(chosen, None), unwritten)
    if is_node:
        screen.note(STAYS_STOPPED.format(data=chosen.data))


def stop_here(screen: Screen, chosen: settings.Settings, wanted: str) -> None:
    """For `tapeline stop --here`, with the id of a model or of a run."""
    datadir.require(chosen.data)
    alive = stopping_here.launched(chosen.data)
    name = next((one.model for one in alive if wanted in (one.model, one.run)), None)
    if name is None and holds.are_elsewhere(chosen.data):
        raise Failure(RUNS_ON_NODE.format(data=chosen.data, wanted=wanted))
    if name is None:
        running = ", ".join(sorted({one.model for one in alive})) or "nothing"
        raise Failure(f"{wanted} does not run on this machine. Running here: {running}.")
    unwritten = _unwritten(chosen.data, name, holds.new(STOPPED))
    _show(screen, _end(chosen, name), unwritten)


def _refuse_if_elsewhere(data: Path) -> None:
    """It would stop whatever this server leads, until another one leads; and nothing before."""
    if holds.are_elsewhere(data):
        raise Failure(ON_NODES.format(data=data))


def _release_node(screen: Screen, data: Path, held: Hold | None) -> None:
    """It has no copies that could trade twice: nothing starts there without a lease."""
    if held is None:
        screen.done(f"{data} is not on hold.", {"released": False})
        return
    _lift(data)
    said = "Released. This node takes models again. What was stopped here stays stopped."
    screen.done(said, {"released": True})


def _release(chosen: settings.Settings) -> str:
    return typed_commands.with_database("tapeline release", chosen)


def _unwritten(data: Path, name: str, hold: Hold) -> str:
    """Write the hold, or tell it to the running server. Empty, or why it is not on the disk."""
    try:
        holds.write(data, name, hold)
    except OSError as error:
        fault = host_faults.fault_of(error)
        cause = f"{error.strerror or error}. {f'{fault.cure}. ' if fault else ''}"
        return f"The hold could not be written: {cause}{_told(data, name, hold)}"
    return ""


def _told(data: Path, name: str, hold: Hold) -> str:
    """What keeps a server from starting models again, without a file."""
    if hold_socket.ask(data, Request(name, hold)) is not None:
        return (
            "The running server was told and starts nothing of it. It writes the hold as soon as it"
            " can; if it ends before that, the hold is lost."
        )
    if note := datadir.server_of(data):
        return f"The server does not answer and may start it again. Stop it, too: {note}."
    return "No server runs. The next one would start it again: write the hold before that."


def _lift(data: Path) -> None:
    """In this order: the server writes on the disk what it still knows."""
    hold_socket.ask(data, Request(holds.ALL))
    holds.lift(data)


def _end(chosen: settings.Settings, name: str | None) -> list[Ended]:
    """End everything, or all that has this lock. Again and again: the supervisor may have started
    something just before it noticed the hold."""
    ended: list[Ended] = []
    while some := [
        one
        for one in stopping_here.launched(chosen.data)
        if name in (None, one.model) and _is_new(one, ended)
    ]:
        ended += stopping_here.end(chosen.data, some, float(chosen.stop_seconds))
    return ended


def _is_new(one: Launched, ended: list[Ended]) -> bool:
    return not any(one.run == other.run and not other.is_proven for other in ended)


def _show(screen: Screen, ended: list[Ended], unwritten: str) -> None:
    if screen.as_json:
        shown = [msgspec.structs.asdict(one) for one in ended]
        screen.json({"held": not unwritten, "problem": unwritten or None, "ended": shown})
    else:
        screen.table(
            ["model", "run", "end", "proof"],
            [
                [one.model, one.run, one.how, "its lock is free" if one.is_proven else "none"]
                for one in ended
            ],
            empty="Nothing was running on this machine.",
        )
    if not all(one.is_proven for one in ended):
        alive = "Not everything is known to be stopped. Look at these processes."
        raise Failure(f"{alive} {unwritten}".strip())
    if unwritten:
        raise Failure(unwritten)
