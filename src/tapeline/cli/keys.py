"""`tapeline keys`: the keys this server signs with."""

import typer

from tapeline import datadir, settings
from tapeline.accounts import id_tokens
from tapeline.cli.options import Config, Data

app = typer.Typer(help="Keys that this server signs with.", no_args_is_help=True)


@app.command()
def rotate(data: Data = None, config: Config = None) -> None:
    """Make a new key for idTokens. A running server uses it at once; tokens in use stay valid."""
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    datadir.prepare(chosen.data)
    folder = chosen.data / "keys"
    id_tokens.ensure_key(folder)
    typer.echo(f"New key: {id_tokens.rotate(folder)}")
