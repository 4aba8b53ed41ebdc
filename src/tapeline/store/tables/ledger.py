"""The tables of profit and loss: everything in them is computed from the tape."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
)

from tapeline.store.tables.core import metadata, partial_index


def _of_tape() -> Column[int]:
    return Column("tape", BigInteger, primary_key=True, nullable=False)


# How far the books of a tape have come.
ledgers = Table(
    "ledgers",
    metadata,
    _of_tape(),
    Column(
        "version", BigInteger, nullable=False
    ),  # rises with every change, so that a concurrent change is noticed
    Column("cursor", BigInteger, nullable=False),
    Column("cut", Boolean, nullable=False),  # whether the cursor stands inside a page
    Column("books", Integer, nullable=False),
    Column("positions", String, nullable=False),  # the setting that they were kept under
    Column("told", Boolean, nullable=False),  # whether any update said something of a fill
    Column("totals", LargeBinary, nullable=False),
    Column("pending", LargeBinary, nullable=False),
    Column("rated", LargeBinary, nullable=False),  # books whose fees a symbol's marks convert
    sqlite_with_rowid=False,
)

# One symbol of one tape, or cash about it in one currency, and how it stands after its last entry.
books = Table(
    "books",
    metadata,
    _of_tape(),
    Column("book", Integer, primary_key=True),
    Column("is_cash", Boolean, nullable=False),
    Column("symbol", String, nullable=False),
    Column("currency", String, nullable=False),  # empty: the model's own
    Column("muted", Boolean, nullable=False),  # not computed, so on no curve
    Column("last_time", Double),
    Column("last_tie", BigInteger),
    Column("state", LargeBinary, nullable=False),
    Index("uq_books_tape_symbol", "tape", "symbol", "currency", "is_cash", unique=True),
    sqlite_with_rowid=False,
)

# Fills and marks in the order in which they count.
entries = Table(
    "entries",
    metadata,
    _of_tape(),
    Column("book", Integer, primary_key=True),
    Column("time", Double, primary_key=True),
    Column("tie", BigInteger, primary_key=True),
    Column("order_id", String),
    Column("notice", SmallInteger),
    Column("spec", LargeBinary, nullable=False),
    Column("outcome", LargeBinary),
    Column("state", LargeBinary),  # of some: the position after it, to start again from
    # Of a book with a mark for every minute, a chart reads the fills alone.
    partial_index("ix_entries_fills", "tape", "book", "time", where="order_id IS NOT NULL"),
    partial_index("ix_entries_notice", "tape", "notice", "time", where="notice IS NOT NULL"),
    sqlite_with_rowid=False,
)

# Where an order's fills are entered, or cash that has an id. A table of its own: without statistics
# SQLite would rather read all entries of a tape than use an index that begins as the primary key
# does.
places = Table(
    "places",
    metadata,
    _of_tape(),
    Column("is_cash", Boolean, primary_key=True),
    Column("id", String, primary_key=True),
    Column("tie", BigInteger, primary_key=True),
    Column("book", Integer, nullable=False),
    Column("time", Double, nullable=False),
    sqlite_with_rowid=False,
)

# What updates said of an order's fills: of each word an order itself keeps only the last.
statements = Table(
    "statements",
    metadata,
    _of_tape(),
    Column("order_id", String, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# Prices, cash and positions that arrived after their own time, and cash that replaced other cash.
late_events = Table(
    "late_events",
    metadata,
    _of_tape(),
    Column("kind", SmallInteger, primary_key=True),
    Column("late_by", Double, primary_key=True),  # seconds
    Column("seq", BigInteger, primary_key=True),
    Column("is_change", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

# Profit and loss over time per currency, in segments.
curves = Table(
    "curves",
    metadata,
    _of_tape(),
    Column("currency", String, primary_key=True),
    Column("time", Double, primary_key=True),
    Column("tie", BigInteger, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# A sketch of a segment. In its own table, so that a thousand of them lie close together.
sketches = Table(
    "sketches",
    metadata,
    _of_tape(),
    Column("currency", String, primary_key=True),
    Column("time", Double, primary_key=True),
    Column("tie", BigInteger, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("total", Double, nullable=False),
    Column("rest", Double, nullable=False),  # what is too small for a total
    Column("sketch", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
