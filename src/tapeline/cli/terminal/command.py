"""How a command is made: its examples, and the options that many commands share.

A function marked with `@command(…, options=SERVER)` finds the chosen options in `context.obj`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperOption

NOTHING = " "  # in place of the type of a flag, which means nothing to readers
F = TypeVar("F", bound=Callable[..., None])

HERE: tuple[str, ...] = ()
"""For commands that ask no server."""
JSON: tuple[str, ...] = ("as_json",)
SERVER: tuple[str, ...] = ("as_json", "server")
PROJECT: tuple[str, ...] = ("as_json", "server", "project")


@dataclass(frozen=True)
class Choices:
    as_json: bool = False
    server: str | None = None
    project: str | None = None


def command(*examples: str, options: tuple[str, ...] = PROJECT) -> Callable[[F], F]:
    """Mark a function as a command, with examples for its help."""

    def mark(function: F) -> F:
        function.__dict__.update(examples=examples, options=options)
        return function

    return mark


class Command(TyperCommand):
    """A command that also takes the shared options, without each function listing them."""

    shared: tuple[str, ...] = ()

    def get_help_option(self, ctx: Any) -> Any:
        return plain_flag(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        shared = {name: ctx.params.pop(name) for name in self.shared}
        shared.pop("debug", None)  # read where exceptions end up, in main
        ctx.obj = Choices(**shared)
        return super().invoke(ctx)


def command_of(function: Callable[..., None], name: str) -> Command:
    """A function as a command with its examples and shared options."""
    made = _command(function, name)
    wanted = (*function.__dict__["options"], "debug")
    offered = {one.name: one for one in _command(_shared, "shared").params}
    made.params += [offered[one] for one in wanted]
    made.shared = wanted
    # Written in lines here, to be filled to the width of the terminal there.
    made.help = "\n\n".join(one.replace("\n", " ") for one in (made.help or "").split("\n\n"))
    for one in made.params:
        plain_flag(one)
    examples = function.__dict__["examples"]
    heading = "Example:" if len(examples) == 1 else "Examples:"
    lines = [f"  {one}".replace("[", r"\[") for one in examples]
    made.epilog = "\n".join([heading, *lines])
    return made


def plain_flag(option: Any) -> Any:
    """A flag whose help does not say that it is a bool."""
    if isinstance(option, TyperOption) and option.is_flag:
        option.metavar = NOTHING
    return option


def _command(function: Callable[..., None], name: str) -> Command:
    app = typer.Typer(add_completion=False)
    app.command(name, cls=Command)(function)
    made = typer.main.get_command(app)
    assert isinstance(made, Command)
    return made


def _shared(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for scripts.", show_default=False)
    ] = False,
    server: Annotated[
        str | None,
        typer.Option("--server", help="Which server: its name or address.", metavar="NAME|URL"),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", help="Which project: its id or name.", metavar="PROJECT"),
    ] = None,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", help="Show each request, and where the command failed.", show_default=False
        ),
    ] = False,
) -> None:
    """Never run: the options are taken from here."""
