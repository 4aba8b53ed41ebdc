"""`tapeline export`: a model's whole record with its seals, in one file that can be checked."""

import json
import sys
import time
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tapeline.cli.failures import Failure
from tapeline.cli.options import Model
from tapeline.cli.session import Session
from tapeline.cli.spoken import spoken
from tapeline.cli.wire import LOST

FORMAT = 1  # as tape/exported.py reads it


@spoken("tapeline export Trend", "tapeline export Trend --output trend.tape.ndjson")
def export(
    context: typer.Context,
    model: Model = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; - is standard output."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file.")] = False,
) -> None:
    """Save a model's whole tape with its seals to a file.

    Check it anywhere with `tapeline verify`.
    """
    session = Session.of(context)
    found = session.model(model)
    if output == "-":
        _write(session, found, sys.stdout.buffer)
        return
    file = Path(output or f"{found['id']}.tape.ndjson")
    if file.exists() and not force:
        raise Failure(f"{file} is there already. Choose another with --output, or say --force")
    draft = file.with_name(f".{file.name}.part")
    try:
        with draft.open("wb") as opened:
            events = _write(session, found, opened)
        draft.rename(file)
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)
    session.screen.done(
        f"{file} holds {events:,} events of {found['name']}. Check it with: tapeline verify {file}",
        {"file": str(file), "model_id": found["id"], "events": events},
    )


def _write(session: Session, model: dict[str, Any], out: IO[bytes]) -> int:
    """The seals first: asking for them signs the tape as it stands, and no event after that goes
    into the file, so that all of it is signed."""
    path = f"/api/models/{model['id']}/tape"
    seals = session.wire.get(f"{path}/seals", limit=1000)
    more = _older_seals(session, path, seals["next"])
    heading = {
        "tapeline_export": FORMAT,
        "model_id": model["id"],
        "model": model["name"],
        "server": session.profile.url,
        "exported_at": time.time(),
        "seals": {**seals, "items": seals["items"] + more, "next": None},
    }
    out.write(json.dumps(heading).encode() + b"\n")
    events = 0
    try:
        with session.wire.stream(path, {"Accept": "application/x-ndjson"}) as stream:
            for line in stream:
                told = json.loads(line)
                if told["seq"] > seals["seq"]:
                    break
                events += "kind" in told
                out.write(line)
    except (*LOST, ValueError) as error:
        raise Failure(f"The export broke off ({error}). Try again.") from error
    if events != seals["seq"]:
        raise Failure(f"The export broke off after {events} of {seals['seq']} events. Try again.")
    return events


def _older_seals(session: Session, path: str, cursor: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while cursor is not None:
        answer = session.wire.get(f"{path}/seals", limit=1000, cursor=cursor)
        found += answer["items"]
        cursor = answer["next"]
    return found
