"""Signed positions, partial fills and cash. Models that exist stay as they are: long only.

The books are dropped: the bookkeeper makes them again from the tapes.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    with op.batch_alter_table("models", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("positions", sa.String(), nullable=False, server_default="signed")
        )
    op.execute("update models set positions = 'long_only'")
    for table in ("ledgers", "books", "entries", "places", "curves", "sketches"):
        op.drop_table(table)
    op.create_table(
        "cash",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "id", name=op.f("pk_cash")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledgers",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("books", sa.Integer(), nullable=False),
        sa.Column("positions", sa.String(), nullable=False),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.Column("totals", sa.LargeBinary(), nullable=False),
        sa.Column("pending", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", name=op.f("pk_ledgers")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "books",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("book", sa.Integer(), nullable=False),
        sa.Column("is_cash", sa.Boolean(), nullable=False),
        sa.Column("symbol", sa.String(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("muted", sa.Boolean(), nullable=False),
        sa.Column("last_time", sa.Double(), nullable=True),
        sa.Column("last_tie", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "book", name=op.f("pk_books")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "uq_books_tape_symbol", "books", ["tape", "symbol", "currency", "is_cash"], unique=True
    )
    _create_entries()
    for table, column in (("curves", None), ("sketches", "sketch")):
        _create_curve(table, column)


def _create_entries() -> None:
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
        sa.Column("is_cash", sa.Boolean(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        sa.Column("book", sa.Integer(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "is_cash", "id", "tie", name=op.f("pk_places")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "statements",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("order_id", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "order_id", "seq", name=op.f("pk_statements")),
        sqlite_with_rowid=False,
    )


def _create_curve(table: str, sketch: str | None) -> None:
    content: list[sa.Column[Any]] = [sa.Column("content", sa.LargeBinary(), nullable=False)]
    if sketch:
        content = [
            sa.Column("count", sa.Integer(), nullable=False),
            sa.Column("total", sa.Double(), nullable=False),
            sa.Column(sketch, sa.LargeBinary(), nullable=False),
        ]
    op.create_table(
        table,
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        *content,
        sa.PrimaryKeyConstraint("tape", "currency", "time", "tie", name=op.f(f"pk_{table}")),
        sqlite_with_rowid=False,
    )
