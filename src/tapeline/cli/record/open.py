"""`tapeline open`: from the terminal to the page."""

from typing import Annotated

import typer

from tapeline.cli.account.redirect import open_browser
from tapeline.cli.server.options import Model
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import command


@command("tapeline open", "tapeline open Trend --backtest 8xk2…", "tapeline open --print")
def open_page(
    context: typer.Context,
    model: Model = None,
    backtest: Annotated[str | None, typer.Option("--backtest", help="A backtest's page.")] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening it.")
    ] = False,
) -> None:
    """Open a model's page in the browser."""
    session = Session.of(context)
    found = session.model(model)
    page = session.page_of(found, f"{backtest}/backtest" if backtest else "overview")
    opened = not only_print and open_browser(page)
    if not opened and not only_print:
        session.screen.note("No browser could be opened here. The address is:")
    session.screen.done(page, {"url": page, "opened": opened})
