"""Telling other servers on the same PostgreSQL what has just been committed.

The word goes out with the commit itself, so nobody hears of what was undone. On SQLite there is one
server and nobody to tell.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from tapeline.store import bulk

CHANNEL = "tapeline"
MODELS = "models"
"""Which models there are, what they are called or what shall run has changed somewhere."""
LONGEST = 7_000  # bytes; PostgreSQL takes fewer than 8,000 in one word


def announce(connection: Connection, sender: str, names: Sequence[str]) -> None:
    """Once per commit: whose tapes grew. `sender` lets a server know its own word again; empty, it
    is a word for all."""
    if connection.dialect.name == "sqlite" or not names:
        return
    for words in _words(sender, names):
        bulk.run(connection, "select pg_notify(?, ?)", (CHANNEL, words))


def heard(words: str) -> tuple[str, list[str]]:
    """The sender and the names."""
    sender, *names = words.split(" ")
    return sender, names


def _words(sender: str, names: Sequence[str]) -> Iterator[str]:
    words = sender
    for name in names:
        if len(words) + len(name) >= LONGEST:
            yield words
            words = sender
        words += " " + name
    yield words
