"""`tapeline init`: an example to start from, copied into a new folder."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from tapeline.cli.folder.unpacking import unpack
from tapeline.cli.model.pull import download
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import SERVER, Choices, command
from tapeline.cli.terminal.failures import Misused
from tapeline.cli.terminal.screen import Screen
from tapeline.models import starters


@command(
    "tapeline init trend",
    "tapeline init watchlist --type screener",
    "tapeline init --list",
    options=SERVER,
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
    examples = Examples(context.obj)
    if show:
        everything = examples.own | examples.published()
        items = [{"name": name, "type": kind} for name, kind in everything.items()]
        if screen.as_json:
            screen.json(items)
        else:
            screen.table(["example", "type"], [list(one.values()) for one in items])
        return
    chosen = _chosen(examples, example, type)
    files = unpack(examples.content(chosen), folder)
    screen.done(
        f"{folder.resolve()} holds the example {chosen}: {', '.join(files)}.",
        {"folder": str(folder.resolve()), "example": chosen, "files": files},
    )
    where = "" if folder == Path() else f" {folder}"
    screen.note(f"Try it with: tapeline backtest{where} --new", None)
    screen.note(f"Run it with: tapeline deploy{where} --new", None)


def _chosen(examples: "Examples", example: str | None, kind: str) -> str:
    if example is None:
        own = [name for name, type_ in examples.own.items() if type_ == kind]
        if own:
            return own[0]
        raise Misused(f"--type must be strategy or screener, not {kind}")
    if example in examples.own:
        return example
    known = examples.own | examples.published()
    if example not in known:
        raise Misused(f"There is no example {example}. Choose one of: {', '.join(known)}")
    return example


class Examples:
    """The examples that come with Tapeline, and the starter models of the current server."""

    def __init__(self, choices: Choices) -> None:
        self.session = Session(choices)
        self.own = {one.name: one.type for one in starters.listed()}

    def published(self) -> dict[str, str]:
        if not self.session.is_signed_in:
            return {}
        self.session.sign_in()
        found = self.session.wire.get("/model/starter-models")
        return {
            one["shortName"]: one["modelType"] for one in found if one["shortName"] not in self.own
        }

    def content(self, name: str) -> bytes:
        if name in self.own:
            return starters.packed(name)
        return download(self.session, f"/model/starter-models/{quote(name, safe='')}.zip")
