"""Asks: before a command does something that cannot be undone, and for what it was not told."""

import sys

import typer

from tapeline.cli.terminal.failures import Misused
from tapeline.cli.terminal.plain import clean
from tapeline.cli.terminal.screen import Screen

FINAL = "This cannot be undone."


def confirm(screen: Screen, question: str, *, yes: bool, because: str = FINAL) -> None:
    """Return if the user agrees. Where nobody can be asked, only `--yes` does."""
    if yes:
        return
    if not (screen.is_lively and sys.stdin.isatty()):
        raise Misused(f"{because} Use --yes to confirm.")
    typer.confirm(clean(question), abort=True, err=True)


def agrees(question: str) -> bool:
    return typer.confirm(clean(question), default=True, err=True)


def ask(question: str, default: str | None = None) -> str:
    return str(typer.prompt(clean(question), default=default and clean(default), err=True))


def ask_secret(question: str, *, twice: bool = False) -> str:
    return str(typer.prompt(clean(question), hide_input=True, confirmation_prompt=twice, err=True))
