"""`tapeline export`: a model's whole record with its seals, in one file that can be checked."""

import json
import sys
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tapeline.cli.folder import manifest_file, packing
from tapeline.cli.server.options import Model
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import saving
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import BrokeOff, Failure
from tapeline.tape.record import whole_file

SIGNS_THE_FILE = 3  # the version of records since which their last line does that
SIGNATURE_LINE = 4_096  # bytes: it is a tenth as long


@command("tapeline export Trend", "tapeline export Trend --output trend.ndjson")
def export(
    context: typer.Context,
    model: Model = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The new file; - is standard output."),
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
    file = Path(output or f"{found['id']}.record.ndjson")
    _refuse_in_model(file)
    if file.exists() and not force:
        raise Failure(f"{file} already exists. Choose another with --output, or use --force")
    with saving.saved(file) as opened:
        events = _write(session, found, opened)
    session.screen.done(
        f"{file} holds {events:,} events of {found['name']}. Check it with: tapeline verify {file}",
        {"file": str(file), "model_id": found["id"], "events": events},
    )


def _refuse_in_model(file: Path) -> None:
    """A file in a model's folder is uploaded with its next version, for others to read."""
    if manifest_file.find(file.parent) is not None and not packing.is_left_out(file.name):
        raise Failure(
            f"{file} would be uploaded with the next version, because {file.parent.resolve()} is a"
            f" model's folder. Use --output ../{file.name}, or a name that ends in .record.ndjson"
        )


def _write(session: Session, model: dict[str, Any], out: IO[bytes]) -> int:
    """The number of events. The record is complete when its last line is the signature over the
    whole file; behind a proxy, HTTP alone cannot prove that."""
    path, first, last = f"/api/models/{model['id']}/record", b"", b""
    try:
        for piece in session.wire.pieces(path, {"Accept": "application/x-ndjson"}):
            out.write(piece)
            first = first if b"\n" in first else first + piece
            last = (last + piece[-SIGNATURE_LINE:])[-SIGNATURE_LINE:]
        head = json.loads(first.partition(b"\n")[0])
        events, version = int(head["seq"]), int(head["version"])
        is_whole = is_ended(version, events, last)
    except (ValueError, LookupError) as error:
        raise BrokeOff from error
    if not is_whole:
        raise BrokeOff
    return events


def is_ended(version: int, events: int, end: bytes) -> bool:
    """Servers of earlier versions sign the last event instead of the file."""
    *_, line, rest = (b"\n" + end).split(b"\n")
    if rest:
        return False
    if version >= SIGNS_THE_FILE:
        return line.startswith(whole_file.BEGINS) and line.endswith(b"}")
    return not events or json.loads(line).get("checkpoint", {}).get("seq") == events
