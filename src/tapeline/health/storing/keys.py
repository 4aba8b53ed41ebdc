"""Whether the server has the keys that its database needs."""

from pathlib import Path

from tapeline.backups import listing, needed_keys
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red
from tapeline.runs import one_installation

MEANWHILE = (
    "The server goes on with the keys that it has read. It does not start again without a key that"
    " its database needs."
)
COPY = (
    "After `tapeline keys rotate` this passes within seconds. Otherwise copy the folder keys of one"
    " server over those of the others."
)
SET_AGAIN = "Put the folder keys back from a backup, or set these secrets again."


def _others(parts: Parts, keys: Path) -> dict[str, list[str]]:
    store, here = parts.store, parts.runner.host_name
    ours = one_installation.digests(keys)
    return store.read_now(one_installation.with_other_keys, store.database, here, ours)


def look(parts: Parts) -> Verdict:
    keys = parts.settings.data / "keys"
    # Its start made every key, so one that is not there was removed since.
    if lacking := needed_keys.lacking(None, keys):
        return red(" ".join([*lacking, MEANWHILE]), needed_keys.FIX)
    if unreadable := parts.store.read_now(needed_keys.unreadable, keys):
        says = f"These secrets were encrypted with another key: {listing.in_words(unreadable)}."
        return red(says, SET_AGAIN)
    if others := _others(parts, keys):
        machines = "; ".join(f"{one}: {', '.join(names)}" for one, names in others.items())
        return red(f"Servers on the same database have other keys than this one: {machines}.", COPY)
    return green("The server can read its secrets and sign its tapes.")
