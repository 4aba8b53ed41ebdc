"""Waiting for the first of something: a model that was just deployed has no orders yet."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from tapeline.cli.server.following import waiting
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.failures import Failure
from tapeline.polling import poll

PATIENCE = 600.0  # seconds; a script must not hang forever on a model that never trades
LOOKED_EVERY = 1.0

Wait = Annotated[bool, typer.Option("--wait", help="Wait for the first one, up to ten minutes.")]

T = TypeVar("T")


def look(session: Session, model: dict[str, Any], ask: Callable[[], T], *, wait: bool) -> T:
    """What `ask` finds; with `wait`, ask again until it finds something."""
    found = ask()
    if wait and not found:
        with waiting(session, f"waiting for {model['name']}"):
            found = poll(ask, within=PATIENCE, every=LOOKED_EVERY)
        if not found:
            raise Failure(f"Nothing came from {model['name']} within ten minutes.")
    return found
