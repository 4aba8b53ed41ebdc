"""Asks before a command does something that cannot be undone."""

import sys

import typer

from tapeline.cli.terminal.failures import Misused
from tapeline.cli.terminal.screen import Screen

FINAL = "This cannot be undone."


def confirm(screen: Screen, question: str, *, yes: bool, because: str = FINAL) -> None:
    """Return if the user agrees. Where nobody can be asked, only `--yes` does."""
    if yes:
        return
    if not (screen.is_lively and sys.stdin.isatty()):
        raise Misused(f"{because} Use --yes to confirm.")
    typer.confirm(question, abort=True, err=True)
