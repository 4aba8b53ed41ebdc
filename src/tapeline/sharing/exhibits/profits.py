"""Profit and loss as first reported and as it stood then, of a live record up to a delay."""

from sqlalchemy import Connection

from tapeline.results.changes.figures import Assessed, TapeInMemory, assessed, in_memory
from tapeline.results.changes.folding import Folded
from tapeline.results.changes.stored_figures import StoredTape
from tapeline.results.rules.position import exact
from tapeline.sharing.exhibits.replay import Replay


def replayed(connection: Connection, tape: int, replay: Replay, folded: Folded) -> Assessed:
    books, entries = replay.books().books, replay.entries()
    long_only = replay.settings.long_only
    now = in_memory(folded, entries, books, replay.quote, long_only=long_only)
    arrivals = StoredTape(connection, tape, books)
    with exact():
        return assessed(folded, now, TapeInMemory(entries, arrivals.arrival))
