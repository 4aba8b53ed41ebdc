"""`tapeline keys rotate`, `rotate-store` and `replace-lost`: the keys with which a server signs and
encrypts."""

from pathlib import Path

import typer

from tapeline import compose, datadir, logs, private_files, settings
from tapeline.accounts import id_tokens
from tapeline.backups import needed_keys
from tapeline.cli.server.options import Config, Data, Database, Yes
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.screen import Screen
from tapeline.models import secrets
from tapeline.polling import poll
from tapeline.runs import host_identity, one_installation
from tapeline.store import encryption
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.tape.proof import signer
from tapeline.tape.proof.signer import Signer
from tapeline.watch.telling import channels


@command("tapeline keys rotate --data /srv/tapeline", options=JSON)
def rotate(context: typer.Context, data: Data = None, config: Config = None) -> None:
    """Make new keys for idTokens and for signing tapes. A running server uses them at once.

    Tokens in use stay valid. The old signing key confirms the new one and is then deleted, so
    records verify across the change.
    """
    chosen = settings.load({"data": data, "config": config})
    datadir.require(chosen.data)
    datadir.prepare(chosen.data)
    folder = chosen.data / "keys"
    private_files.clear_drafts(folder)
    id_tokens.ensure_key(folder)
    made, said = id_tokens.rotate(folder), {}
    text = f"New key for idTokens: {made}"
    if (folder / signer.NAME).exists():  # otherwise there is none to replace yet
        signs = signer.rotate(folder)
        text += f". New key for tapes: {signs.fingerprint}"
        said = {"signing_key": signs.fingerprint}
    Screen(as_json=context.obj.as_json).done(text, {"key_id": str(made), **said})


@command("tapeline keys rotate-store --data /srv/tapeline", options=JSON)
def rotate_store(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """Make a new key for secrets and re-encrypt all of them. A running server uses it at once."""
    chosen = settings.load({"data": data, "database": database, "config": config})
    datadir.require(chosen.data)
    datadir.require_database(chosen.data, chosen.database)
    logs.start("warning", chosen.log_format)
    folder = chosen.data / "keys"
    with compose.open_store(chosen) as store:
        # The new key first, so that secrets stored from now on use it; the old key stays
        # readable until no secret can depend on it.
        store.read_now(needed_keys.require, folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        encryption.rotate(folder)
        count = store.write_now(secrets.encrypt_again, Cipher.of(folder))
        addresses = store.write_now(channels.encrypt_again, Cipher.of(folder))
        encryption.forget_retired(folder, store.clock.ago(encryption.RETIRED_SECONDS))
        behind = _without_it(store, chosen.data)
    screen = Screen(as_json=context.obj.as_json)
    screen.done(
        f"New key. Secrets re-encrypted: {count}." + (f" Channels: {addresses}." * bool(addresses)),
        {"status": "success", "secrets": count, "channels": addresses, "to_copy_to": behind},
    )
    if behind:
        screen.note(
            f"Copy the folder {folder} to these machines now: {', '.join(behind)}. Until then their"
            " servers cannot read secrets, and start no model that has some.",
            "yellow",
        )


def _without_it(store: Store, data: Path) -> list[str]:
    """Machines whose servers run with another key. Those that share the folder say within seconds
    that they have this one."""
    here, ours = (
        host_identity.name_in(data / host_identity.FILE),
        one_installation.digests(data / "keys"),
    )

    def behind() -> list[str]:
        found = store.read_now(one_installation.with_other_keys, store.database, here, ours)
        return sorted(found)

    poll(lambda: not behind(), within=one_installation.PATIENCE, every=0.5)
    return behind()


@command("tapeline keys replace-lost --data /srv/tapeline", options=JSON)
def replace_lost(
    context: typer.Context,
    yes: Yes = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Make new keys in the place of lost ones. Secrets have to be set again.

    First look for the folder `keys` in a backup. Secrets that were encrypted with a lost key have
    to be set again, and new signatures come from a different key. A damaged key counts as lost; its
    file is kept next to the new one, with `.damaged` after its name.
    """
    chosen = settings.load({"data": data, "database": database, "config": config})
    datadir.require(chosen.data)
    datadir.require_database(chosen.data, chosen.database)
    logs.start("warning", chosen.log_format)
    screen, folder = Screen(as_json=context.obj.as_json), chosen.data / "keys"
    with compose.open_store(chosen) as store:
        lost = store.read_now(needed_keys.lacking, folder)
        if not lost:
            screen.done("No key is lost.", {"replaced": []})
            return
        because = f"{' '.join(lost)} Nothing can be read or signed with it any more."
        confirm(screen, f"{because} Make a new one?", yes=yes, because=because)
        folder.mkdir(mode=0o700, exist_ok=True)
        for file in needed_keys.damaged(folder):
            private_files.put_aside(file, ".damaged")
        if store.read_now(needed_keys.is_older, folder):
            private_files.put_aside(folder / signer.NAME, ".replaced")
        Signer(folder)
        Cipher.of(folder)
    screen.done("New keys. Set the secrets of models again.", {"replaced": lost})
