"""`tapeline witness`: the servers that witness this one, and those that this one witnesses."""

import re
import time
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer

from tapeline import compose, datadir, logs, settings
from tapeline.cli.server import profiles
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.tape.proof import log_entries
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.roots import trees
from tapeline.tape.witnessing import introductions, witnesses
from tapeline.tape.witnessing import logs as witnessed
from tapeline.tape.witnessing.introductions import Introduction
from tapeline.tape.witnessing.logs import Log, Refused
from tapeline.tape.witnessing.witnesses import Witness

Url = Annotated[str, typer.Argument(metavar="URL", help="Address of the other server.")]
Fingerprint = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="FINGERPRINT",
        help="Fingerprint of a key that it must have, or at least its first 16 digits.",
    ),
]


@command("tapeline witness add https://witness.example.com", options=JSON)
def add(
    context: typer.Context,
    url: Url,
    key: Fingerprint = None,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Have the log of this server signed by another one, after each round.

    The other server's keys are remembered as they are now. Later keys must be confirmed by them.
    Its operator has to allow this server, too: tapeline witness allow URL
    """
    out, chosen = Screen(as_json=context.obj.as_json), _settings(data, database, config)
    address, said = _introduced(url, key or [])
    with compose.open_store(chosen) as store:
        if said.log == _our_log(store):
            raise Failure(f"{address} is this server. A witness has to be another one.")
        if not store.write_now(witnesses.add, address, said.witness, said.keys, time.time()):
            raise Failure(f"{address} is a witness already. To take its new keys, remove it first.")
    out.done(
        f"{said.witness} is a witness of this server from the next round on, with the key"
        f" {_newest(said.keys)}. Its operator has to run there, with the address of this server:"
        f" tapeline witness allow {chosen.public_url or 'URL'}",
        _facts(said, address),
    )


@command("tapeline witness remove https://witness.example.com", options=JSON)
def remove(
    context: typer.Context,
    url: Url,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Do not ask a witness any more. The signatures that it gave stay in records."""
    chosen, address = _settings(data, database, config), _address(url)
    with compose.open_store(chosen) as store:
        if not store.write_now(witnesses.remove, address):
            raise Failure(f"{address} is not a witness of this server.")
    Screen(as_json=context.obj.as_json).done(f"{address} is not asked any more.")


@command("tapeline witness allow https://tapeline.example.com", options=JSON)
def allow(
    context: typer.Context,
    url: Url,
    key: Fingerprint = None,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Witness another server: sign each head of its log that extends the one before.

    Its keys are remembered as they are now. Later keys must be confirmed by them.
    """
    chosen = _settings(data, database, config)
    address, said = _introduced(url, key or [])
    with compose.open_store(chosen) as store:
        if said.log == _our_log(store):
            raise Failure(f"{address} is this server. It cannot witness itself.")
        store.write_now(witnessed.allow, said.log, address, said.keys, time.time())
    Screen(as_json=context.obj.as_json).done(
        f"This server witnesses {address} ({said.log}) with the key {_newest(said.keys)}.",
        _facts(said, address),
    )


@command("tapeline witness forbid https://tapeline.example.com", options=JSON)
def forbid(
    context: typer.Context,
    url: Url,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Do not witness another server any more. What was signed stays remembered."""
    chosen, address = _settings(data, database, config), _address(url)
    with compose.open_store(chosen) as store:
        every = store.read_now(witnessed.every)
        mine = [one for one in every if one.address == address and one.is_allowed]
        if not mine:
            raise Failure(f"This server does not witness {address}.")
        for one in mine:
            store.write_now(witnessed.forbid, one.origin)
    Screen(as_json=context.obj.as_json).done(f"Nothing of {address} is signed any more.")


@command("tapeline witness list", "tapeline witness list --json", options=JSON)
def list_witnesses(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """List the witnesses of this server, and the servers that it witnesses."""
    out, chosen = Screen(as_json=context.obj.as_json), _settings(data, database, config)
    with compose.open_store(chosen) as store:
        ours = store.read_now(witnesses.every)
        head = store.read_now(witnesses.newest_head)
        others = store.read_now(
            lambda c: [(one, witnessed.refused(c, one.origin)) for one in witnessed.every(c)]
        )
    size = 0 if head is None else head.size
    if out.as_json:
        out.json(
            {
                "log_size": size,
                "witnesses": [_of_witness(one) for one in ours],
                "witnessed": [_of_log(*one) for one in others],
            }
        )
        return
    out.table(
        ["witness of this server", "name", ">signed", ">log", "last signed", "problem"],
        [
            [one.address, one.name, one.size, size, screen.ago(one.signed_at), _problem(one)]
            for one in ours
        ],
        empty="No server witnesses this one. Add one with: tapeline witness add URL",
    )
    out.table(
        ["witnessed by this server", "=log", ">size", "last seen", "problem"],
        [
            [one.address, one.origin, one.size, screen.ago(one.seen_at), _refused(one, found)]
            for one, found in others
        ],
        empty="This server witnesses no other. Allow one with: tapeline witness allow URL",
    )


def _settings(data: Any, database: Any, config: Any) -> Settings:
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require_database(chosen.data, chosen.database)
    return chosen


def _address(url: str) -> str:
    # Nobody on the way may answer in its place, unless the operator asks for plain HTTP.
    return profiles.normal_url(url if profiles.is_url(url) else f"https://{url}")


def _introduced(url: str, wanted: Sequence[str]) -> tuple[str, Introduction]:
    address = _address(url)
    said = introductions.of(address)
    for one in wanted:
        plain = re.sub(r"[\s:]", "", one).lower()
        if len(plain) < 16 or not any(key.fingerprint.startswith(plain) for key in said.keys):
            raise Failure(f"{address} has no key {one}. Its newest is {_newest(said.keys)}.")
    return address, said


def _our_log(store: Store) -> str | None:
    log = store.read_now(trees.log_id)
    return None if log is None else log_entries.origin_of(log)


def _newest(keys: Sequence[Key]) -> str:
    return keys[-1].fingerprint


def _facts(said: Introduction, address: str) -> dict[str, Any]:
    keys = [one.fingerprint for one in said.keys]
    return {"address": address, "log": said.log, "name": said.witness, "keys": keys}


def _problem(one: Witness) -> str:
    if one.evidence is not None:
        return "TWO HISTORIES: it has proof that this server signed two"
    return one.problem or ""


def _refused(log: Log, found: Sequence[Refused]) -> str:
    kinds = {one.kind: one for one in found}
    if two := kinds.get(witnessed.TWO_HISTORIES):
        return f"TWO HISTORIES: it signed another head of size {two.size:,}"
    if kinds:
        return "its newest head does not extend the one before"
    return "" if log.is_allowed else "forbidden: nothing more is signed"


def _of_witness(one: Witness) -> dict[str, Any]:
    keys = [key.fingerprint for key in one.keys]
    return {**one._asdict(), "keys": keys, "evidence": msgspec.to_builtins(one.evidence)}


def _of_log(one: Log, found: Sequence[Refused]) -> dict[str, Any]:
    return {
        **one._asdict(),
        "keys": [key.fingerprint for key in one.keys],
        "root": one.root.hex(),
        "refusals": [
            {**each._asdict(), "evidence": msgspec.to_builtins(each.evidence)} for each in found
        ],
    }
