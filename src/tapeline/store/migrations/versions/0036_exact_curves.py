"""Curves keep how a book stood before each entry and after it, and sketches what is too small for
a total.

The books are emptied: the bookkeeper makes them again from the tapes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

COMPUTED = ("ledgers", "books", "entries", "places", "statements", "late_events", "curves")


def upgrade() -> None:
    for table in COMPUTED:
        op.execute(sa.delete(sa.table(table)))
    op.drop_table("sketches")
    op.create_table(
        "sketches",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("tie", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("total", sa.Double(), nullable=False),
        sa.Column("rest", sa.Double(), nullable=False),
        sa.Column("sketch", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "currency", "time", "tie", name=op.f("pk_sketches")),
        sqlite_with_rowid=False,
    )
