"""The tables of shared links and their visitors."""

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, String, Table, Text

from tapeline.store.tables.core import metadata, owned_by

shares = Table(
    "shares",
    metadata,
    Column("id", String, primary_key=True),
    owned_by("model", index=True),
    Column("backtest_id", String),  # null: the live record of the model
    Column("token_hash", String, nullable=False, unique=True),
    Column("title", Text),
    Column("percent_only", Boolean, nullable=False),
    Column("hide_symbols", Boolean, nullable=False),
    Column("hide_sizes", Boolean, nullable=False),
    Column("hide_logs", Boolean, nullable=False),
    Column("delay_hours", Integer, nullable=False),
    Column("base", Double),
    Column("password_hash", String),
    Column("expires_at", Double),
    Column("created_at", Double, nullable=False),
    Column("created_by", String, nullable=False),
    Column("views", BigInteger, nullable=False),
    Column("last_viewed_at", Double),
)

# Visitors counted today. A keyed hash, not an address; yesterday's are deleted.
share_visits = Table(
    "share_visits",
    metadata,
    owned_by("share", primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("visitor", String, primary_key=True),
)
