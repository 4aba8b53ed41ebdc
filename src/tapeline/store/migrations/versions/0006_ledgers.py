"""Profit and loss: ledgers, books, their entries, and curves."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "ledgers",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("books", sa.Integer(), nullable=False),
        sa.Column("totals", sa.LargeBinary(), nullable=False),
        sa.Column("pending", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", name=op.f("pk_ledgers")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "books",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("book", sa.Integer(), nullable=False),
        sa.Column("symbol", sa.String(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("last_time", sa.Double(), nullable=True),
        sa.Column("last_tie", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "book", name=op.f("pk_books")),
        sqlite_with_rowid=False,
    )
    op.create_index("uq_books_tape_symbol", "books", ["tape", "symbol"], unique=True)
    op.create_table(
        "entries",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("book", sa.Integer(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.String(), nullable=True),
        sa.Column("notice", sa.SmallInteger(), nullable=True),
        sa.Column("spec", sa.LargeBinary(), nullable=False),
        sa.Column("outcome", sa.LargeBinary(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tape", "book", "time", "tie", name=op.f("pk_entries")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_entries_notice",
        "entries",
        ["tape", "notice", "time"],
        unique=False,
        sqlite_where=sa.text("notice IS NOT NULL"),
        postgresql_where=sa.text("notice IS NOT NULL"),
    )
    op.create_table(
        "places",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.String(), nullable=False),
        sa.Column("book", sa.Integer(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "order_id", name=op.f("pk_places")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "curves",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "currency", "time", "tie", name=op.f("pk_curves")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sketches",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("total", sa.Double(), nullable=False),
        sa.Column("sketch", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "currency", "time", "tie", name=op.f("pk_sketches")),
        sqlite_with_rowid=False,
    )
