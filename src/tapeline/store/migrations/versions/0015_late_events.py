"""Prices, cash and positions that arrive late are counted.

The books are emptied: the bookkeeper makes them again from the tapes, and counts on the way.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    for table in ("ledgers", "books", "entries", "places", "statements", "curves", "sketches"):
        op.execute(sa.delete(sa.table(table)))
    op.create_table(
        "late_events",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("late_by", sa.Double(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("is_change", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "kind", "late_by", "seq", name=op.f("pk_late_events")),
        sqlite_with_rowid=False,
    )
