"""Changes and figures of a model's tape, found in both ways: from the store, from a record."""

from sqlalchemy import Connection

from tapeline.results.changes import stored_figures
from tapeline.results.changes.change import Change
from tapeline.results.changes.figures import Figures
from tapeline.results.changes.of_record import RecordReports
from tapeline.results.changes.stored import Changes, Place
from tapeline.tape import tapes
from tapeline.tape.reading import whole_tape
from tests.results.pnl.bookkeeping import Books

Found = tuple[list[Change], Figures]


def from_record(books: Books, late_after: float) -> Found:
    reports = RecordReports(late_after)
    for record in books.store.read_now(lambda c: list(whole_tape.records(c, books.tape))):
        reports.take(record, None, 0)
    folded, found = reports.assessed()
    assert found is not None
    return folded.changes, found


def from_store(books: Books, kept: Changes, late_after: float) -> Found:
    def look(connection: Connection) -> Found:
        until = tapes.of_model(connection, books.model).seq
        folded = kept.at(connection, Place(books.tape, until, late_after))
        found = stored_figures.of_tape(connection, books.tape, folded)
        return found.folded.changes, found.figures

    books.keep()
    return books.store.read_now(look)


def from_both(books: Books, late_after: float) -> Found:
    """The same from both."""
    found = from_record(books, late_after)
    assert from_store(books, Changes(), late_after) == found
    return found
