"""The tables of prices: bars and indicators that models report beside their tapes."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
)

from tapeline.store.tables.core import Sequence, metadata, partial_index

# One symbol in one interval, or one indicator.
price_series = Table(
    "price_series",
    metadata,
    Column("tape", BigInteger, primary_key=True, nullable=False),
    Column("series", Integer, primary_key=True, nullable=False),
    Column("symbol", String, nullable=False),  # empty: an indicator of no symbol
    Column("name", String, nullable=False),  # of an indicator; empty for bars
    Column("interval", Integer, nullable=False),  # seconds; zero for an indicator
    Column("pane", String, nullable=False),  # where an indicator is drawn
    Column("newest", Double, nullable=False),  # start of the newest bar
    Column("close", Double, nullable=False),  # of that bar
    Column("closed_at", Double, nullable=False),  # when that was the price
    Column("marked_at", Double, nullable=False),  # when it last became a mark, on a steady clock
    Column("due", Boolean, nullable=False),  # whether the close is news that marks do not have yet
    Index("uq_price_series", "tape", "symbol", "name", "interval", unique=True),
    partial_index("ix_price_series_due", "due", "tape", where="due"),
    sqlite_with_rowid=False,
)

# Some hundred bars of a series, packed by column; `level` is the interval they were coarsened to.
price_chunks = Table(
    "price_chunks",
    metadata,
    Column("tape", BigInteger, primary_key=True, nullable=False),
    Column("series", Integer, primary_key=True, nullable=False),
    Column("level", Integer, primary_key=True, nullable=False),
    Column("start", BigInteger, primary_key=True, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# What was received and is not in chunks yet, packed; numbers rise in the order of arrival.
price_arrivals = Table(
    "price_arrivals",
    metadata,
    Column("no", Sequence, primary_key=True, autoincrement=True),
    Column("tape", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index(None, "tape", "no"),
    sqlite_autoincrement=True,
)
