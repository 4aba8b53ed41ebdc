"""`tapeline init`: an example to start from, copied into a folder of one's own."""

import io
import zipfile
from pathlib import Path
from typing import Annotated

import typer

from tapeline.cli import manifest_file
from tapeline.cli.failures import Failure, Misused
from tapeline.cli.screen import Screen
from tapeline.cli.spoken import JSON, spoken
from tapeline.models import starters


@spoken(
    "tapeline init trend",
    "tapeline init watchlist --type screener",
    "tapeline init --list",
    options=JSON,
)
def init(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to put it.", show_default=False)
    ] = Path(),
    type: Annotated[
        str, typer.Option("--type", help="What kind of model: strategy or screener.")
    ] = "strategy",
    example: Annotated[
        str | None, typer.Option("--from", help="Which example; see --list.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the examples.")] = False,
) -> None:
    """Make a folder with an example model to start from."""
    screen = Screen(as_json=context.obj.as_json)
    known = starters.listed()
    if show:
        items = [{"name": one.name, "type": one.type} for one in known]
        if screen.as_json:
            screen.json(items)
        else:
            screen.table(["example", "type"], [list(one.values()) for one in items])
        return
    wanted = [one.name for one in known if (example or type) in {one.name, one.type}]
    if not wanted:
        names = ", ".join(one.name for one in known)
        raise Misused(f"There is no example {example or type}. There are: {names}")
    files = _unpack(starters.packed(wanted[0]), folder)
    screen.done(
        f"{folder.resolve()} holds the example {wanted[0]}: {', '.join(files)}.",
        {"folder": str(folder.resolve()), "example": wanted[0], "files": files},
    )
    where = "" if folder == Path() else f" {folder}"
    screen.note(f"Try it with: tapeline backtest{where} --new", None)
    screen.note(f"Run it with: tapeline deploy{where} --new", None)


def _unpack(archive: bytes, folder: Path) -> list[str]:
    if folder.is_dir() and manifest_file.find(folder) is not None:
        raise Failure(f"There is a model in {folder.resolve()} already. Choose another folder.")
    written = []
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [name.removeprefix("model/") for name in opened.namelist()]
        taken = [name for name in names if (folder / name).exists()]
        if taken:
            raise Failure(f"{folder / taken[0]} is there already. Choose another folder.")
        for entry, name in zip(opened.namelist(), names, strict=True):
            try:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(opened.read(entry))
            except OSError as error:
                raise Failure(f"{folder / name} cannot be written: {error.strerror}.") from error
            written.append(name)
    return written
