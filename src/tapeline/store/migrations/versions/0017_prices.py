"""Bars and indicators, packed in chunks; the fills of a book by their time."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "price_series",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("series", sa.Integer(), nullable=False),
        sa.Column("symbol", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("interval", sa.Integer(), nullable=False),
        sa.Column("pane", sa.String(), nullable=False),
        sa.Column("newest", sa.Double(), nullable=False),
        sa.Column("close", sa.Double(), nullable=False),
        sa.Column("closed_at", sa.Double(), nullable=False),
        sa.Column("marked_at", sa.Double(), nullable=False),
        sa.Column("due", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "series", name=op.f("pk_price_series")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "uq_price_series", "price_series", ["tape", "symbol", "name", "interval"], unique=True
    )
    op.create_index(
        "ix_price_series_due",
        "price_series",
        ["due", "tape"],
        sqlite_where=sa.text("due"),
        postgresql_where=sa.text("due"),
    )
    op.create_table(
        "price_chunks",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("series", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "series", "level", "start", name=op.f("pk_price_chunks")),
    )
    op.create_index(
        "ix_entries_fills",
        "entries",
        ["tape", "book", "time"],
        sqlite_where=sa.text("order_id IS NOT NULL"),
        postgresql_where=sa.text("order_id IS NOT NULL"),
    )
    if op.get_bind().dialect.name == "postgresql":
        # The newest chunk of each series is written again and again.
        op.execute("alter table price_chunks set (autovacuum_vacuum_scale_factor = 0.02)")
