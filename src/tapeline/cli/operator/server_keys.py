"""`tapeline keys rotate` and `rotate-store`: the keys with which a server signs and encrypts."""

import typer

from tapeline import compose, datadir, logs, settings
from tapeline.accounts import id_tokens
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.screen import Screen
from tapeline.models import secrets
from tapeline.store import encryption
from tapeline.store.encryption import Cipher


@command("tapeline keys rotate --data /srv/tapeline", options=JSON)
def rotate(context: typer.Context, data: Data = None, config: Config = None) -> None:
    """Make a new key for idTokens. A running server uses it at once; tokens in use stay valid."""
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    datadir.prepare(chosen.data)
    folder = chosen.data / "keys"
    id_tokens.ensure_key(folder)
    made = id_tokens.rotate(folder)
    Screen(as_json=context.obj.as_json).done(f"New key: {made}", {"key_id": str(made)})


@command("tapeline keys rotate-store --data /srv/tapeline", options=JSON)
def rotate_store(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """Make a new key for secrets and re-encrypt all of them. A running server uses it at once."""
    chosen = settings.load({"data": data, "database": database, "config": config})
    datadir.require(chosen.data)
    logs.start("warning", chosen.log_format)
    folder = chosen.data / "keys"
    with compose.open_store(chosen) as store:
        # The new key first, so that secrets stored from now on use it; the old key stays
        # readable until no secret can depend on it.
        folder.mkdir(mode=0o700, exist_ok=True)
        encryption.rotate(folder)
        count = store.write_now(secrets.encrypt_again, Cipher.of(folder))
        encryption.forget_retired(folder, store.clock.ago(encryption.RETIRED_SECONDS))
    Screen(as_json=context.obj.as_json).done(
        f"New key. Secrets re-encrypted: {count}.", {"status": "success", "secrets": count}
    )
