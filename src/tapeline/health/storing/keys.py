"""Whether the server has the keys that its database needs."""

from tapeline.backups import listing, needed_keys
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red

MEANWHILE = (
    "The server goes on with the keys that it has read. It does not start again without a key that"
    " its database needs."
)
SET_AGAIN = "Put the folder keys back from a backup, or set these secrets again."


def look(parts: Parts) -> Verdict:
    keys = parts.settings.data / "keys"
    # Its start made every key, so one that is not there was removed since.
    if lacking := needed_keys.lacking(None, keys):
        return red(" ".join([*lacking, MEANWHILE]), needed_keys.FIX)
    if unreadable := parts.store.read_now(needed_keys.unreadable, keys):
        says = f"These secrets were encrypted with another key: {listing.in_words(unreadable)}."
        return red(says, SET_AGAIN)
    return green("The server can read its secrets and sign its tapes.")
