"""The tables of reports about backtests, computed from the tape, and of trials."""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
)

from tapeline.store.tables.core import metadata

# By the upload it was made from: a new result has a new upload, and gets a new report.
reports = Table(
    "reports",
    metadata,
    Column("upload", String, primary_key=True),
    Column("version", Integer, nullable=False),  # of the formulas; older reports are made again
    Column("made_at", Double, nullable=False),
    Column("brief", LargeBinary, nullable=False),  # what a list of backtests shows
    Column("content", LargeBinary, nullable=False),
)

report_pieces = Table(
    "report_pieces",
    metadata,
    Column("upload", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("level", SmallInteger, primary_key=True),
    Column("piece", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

# One row per backtest that ever had a result: deleting a backtest does not undo the trying.
trials = Table(
    "trials",
    metadata,
    Column("tape", BigInteger, primary_key=True),
    Column("backtest", BigInteger, primary_key=True),
    Column("sharpe", Double),  # per period
    Column("periods_per_year", Integer),
)

# The same of each result, by the number of its event: a reader who may not see the newest result of
# a backtest yet counts the one before it.
trials_by_result = Table(
    "trials_by_result",
    metadata,
    Column("tape", BigInteger, primary_key=True),
    Column("backtest", BigInteger, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("sharpe", Double),
    Column("periods_per_year", Integer),
)

# Uploads that no backtest shows: still being staged, replaced, or of a deleted backtest. Their
# pieces go some at a time, unless an event takes them out of here before that.
discards = Table(
    "discards",
    metadata,
    Column("upload", String, primary_key=True),
    Column("tape", BigInteger, nullable=False, server_default="0", index=True),
    Column("after", Double, nullable=False, server_default="0", index=True),
)
