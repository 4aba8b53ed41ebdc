"""`tapeline pull`: download a version into a folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tapeline.cli.folder import manifest_file
from tapeline.cli.folder.unpacking import unpack
from tapeline.cli.model.control import version_id
from tapeline.cli.server.options import ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import LOST
from tapeline.cli.terminal import saving
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import BrokeOff, Failure

ZIP = {"Accept": "application/zip"}


@command(
    "tapeline pull 3", "tapeline pull 3 trend-v3 --model Trend", "tapeline pull 3 --zip v3.zip"
)
def pull(
    context: typer.Context,
    version: Annotated[str, typer.Argument(help="Its number, such as 3.", show_default=False)],
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Where to put it.", show_default=False)
    ] = None,
    model: ModelOption = None,
    file: Annotated[
        Path | None,
        typer.Option("--zip", metavar="FILE", help="Save the zip archive instead."),
    ] = None,
) -> None:
    """Download a version as it was uploaded, into a new folder."""
    session = Session.of(context)
    found = session.model(model)
    wanted = version_id(session, found, version)
    number = version.lower().removeprefix("v")
    content = download(session, f"/api/models/{found['id']}/versions/{wanted}/archive")
    if file is not None:
        _keep(file, content)
        session.screen.done(f"{file} holds version {number}.", {"file": str(file)})
        return
    place = folder or Path(f"{_plain(found['name'])}-v{number}")
    files = unpack(content, place)
    manifest_file.require(place).remember(model_id=found["id"], project_id=found["projectId"])
    answer: dict[str, Any] = {"folder": str(place.resolve()), "files": files, "version_id": wanted}
    session.screen.done(
        f"{place.resolve()} holds version {number} of {found['name']}: {len(files)} files.", answer
    )


def download(session: Session, path: str) -> bytes:
    """Download a whole file: one that is shorter than the server announced is a failure."""
    try:
        with session.wire.stream(path, ZIP) as stream:
            return stream.read()
    except LOST as error:
        raise BrokeOff from error


def _keep(file: Path, content: bytes) -> None:
    if file.exists():
        raise Failure(f"{file} already exists. Choose another name.")
    with saving.saved(file) as opened:
        opened.write(content)


def _plain(name: str) -> str:
    """A name as a folder name: a server must not choose a path elsewhere."""
    kept = "".join(one if one.isalnum() or one in "._-" else "-" for one in name)
    return kept.strip(".-") or "model"
