"""Announces commits to other servers on the same PostgreSQL.

The notice is sent with the commit itself, so nobody hears of something that was rolled back. On
SQLite there is only one server, and nothing to send.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from tapeline.store import bulk

CHANNEL = "tapeline"
MODELS = "models"
"""The list of models, a model's name or its desired run has changed somewhere."""
WATCH = "watch"
"""A rule, its state or an incident has changed somewhere."""
RIGHTS = "rights"
"""Somebody has lost a right: open streams and downloads are authorised again at once."""
LONGEST = 7_000  # bytes; PostgreSQL takes fewer than 8,000 in one notice


def announce(connection: Connection, sender: str, names: Sequence[str]) -> None:
    """Once per commit: the models whose tapes grew. A server recognises its own notices by
    `sender`; a notice without sender is for all."""
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
