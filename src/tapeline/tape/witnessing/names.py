"""The name by which other servers know this one as a witness."""

from urllib.parse import urlsplit

from sqlalchemy import Connection

from tapeline.ids import new_id
from tapeline.store import facts

WITNESS = "name as a witness"  # the fact


def of_witness(connection: Connection) -> str | None:
    return facts.get(connection, WITNESS)


def claim_witness(connection: Connection, public_url: str) -> str:
    """The host that people know, or else an id. A name in a note has no spaces and no `+`."""
    facts.claim(connection, WITNESS, urlsplit(public_url).netloc or f"tapeline/witness/{new_id()}")
    name = facts.get(connection, WITNESS)
    assert name is not None
    return name
