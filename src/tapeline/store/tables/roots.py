"""Tables of the trees of heads, and of the log of their roots."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from tapeline.store.tables.core import metadata

# One tree of all tapes, and its place in the log. Rows are never changed but for `has_leaves`.
head_trees = Table(
    "head_trees",
    metadata,
    Column("log", String, primary_key=True),
    Column("entry", BigInteger, primary_key=True),
    Column("at", Double, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("parts", LargeBinary, nullable=False),  # the roots of its parts
    Column("note", Text, nullable=False),  # the head of the log with this entry, signed
    Column("has_leaves", Boolean, nullable=False),
)

# The leaves of a tree, in parts: number of the tape, number of the event, hash.
head_leaves = Table(
    "head_leaves",
    metadata,
    Column("log", String, primary_key=True),
    Column("entry", BigInteger, primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("first", BigInteger, nullable=False),  # its first tape
    Column("leaves", LargeBinary, nullable=False),
)

stamps = Table(
    "stamps",
    metadata,
    Column("log", String, primary_key=True),
    Column("entry", BigInteger, primary_key=True),
    Column("authority", String, primary_key=True),
    Column("response", LargeBinary, nullable=False),
    Column("at", Double, nullable=False),  # by the authority's clock
)
