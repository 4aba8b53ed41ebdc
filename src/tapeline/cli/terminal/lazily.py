"""Commands that are imported when they are called, so that `tapeline --help` answers at once.

Help and completion need only names and sentences, which are in the table of main.py.
"""

import gc
import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from tapeline.cli.terminal.command import command_of, plain_flag


@dataclass(frozen=True)
class Row:
    name: str
    """As people type it: `ps`, or `secrets set` for a command of a group."""
    at: str
    """Where the function is: `module:function` below tapeline.cli."""
    says: str
    panel: str | None = None

    @property
    def group(self) -> str:
        return self.name.rpartition(" ")[0]

    @property
    def word(self) -> str:
        return self.name.rpartition(" ")[2]

    def function(self) -> Any:
        module, _, name = self.at.partition(":")
        # Imports make no garbage worth looking for: those of `tapeline up` take a tenth less.
        gc.disable()
        try:
            return getattr(importlib.import_module(f"tapeline.cli.{module}"), name)
        finally:
            gc.enable()

    def load(self) -> TyperCommand:
        return command_of(self.function(), self.word)

    def stub(self) -> TyperCommand:
        """Enough for a list of commands."""
        return TyperCommand(self.word, help=self.says, rich_help_panel=self.panel)


class LazyGroup(TyperGroup):
    rows: ClassVar[dict[str, Row]] = {}
    order: ClassVar[list[str]] = []
    usual: ClassVar[str | None] = None
    """The command of a group that is meant if none is named."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands.update({word: row.stub() for word, row in self.rows.items()})

    def get_params(self, ctx: Any) -> Any:
        return [plain_flag(one) for one in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        names_one = bool(args) and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        if self.usual is not None and not names_one:
            args = [self.usual, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return self.order

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name in self.rows:
            command = self.rows[name].load()
        return name, command, rest

    def leaves(self, prefix: str) -> Iterator[tuple[str, TyperCommand]]:
        """Every command below this group with its full name, for the docs."""
        for word in self.order:
            below = self.commands[word]
            if isinstance(below, LazyGroup):
                yield from below.leaves(f"{prefix} {word}")
            else:
                yield f"{prefix} {word}", self.rows[word].load()


def application(
    rows: Iterable[Row],
    groups: dict[str, tuple[str, str]],
    usual: dict[str, str],
    **given: Any,
) -> typer.Typer:
    """A command of all rows; `groups` are their sentences and panels, `usual` the commands that are
    meant by the name of a group alone."""
    known = list(rows)
    app = typer.Typer(cls=_class_of(known, "", None), no_args_is_help=True, **given)
    for name, (sentence, panel) in groups.items():
        part = typer.Typer(cls=_class_of(known, name, usual.get(name)), no_args_is_help=True)
        app.add_typer(part, name=name, help=sentence, rich_help_panel=panel)
    return app


def _class_of(rows: list[Row], group: str, usual: str | None) -> type[LazyGroup]:
    own = {row.word: row for row in rows if row.group == group}
    # A group stands where its first command does.
    order = [(row.name if row.group == group else row.group) for row in rows]
    below = [name for name in dict.fromkeys(order) if not group or name.startswith(f"{group} ")]
    words = [name.removeprefix(f"{group} ") if group else name for name in below]
    return type("Group", (LazyGroup,), {"rows": own, "order": words, "usual": usual})
