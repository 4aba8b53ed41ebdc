"""Fees in another currency are converted by reported rates: ledgers know which books need them.

The books are emptied: the bookkeeper makes them again from the tapes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    for table in ("books", "entries", "places", "statements", "curves", "sketches"):
        op.execute(sa.delete(sa.table(table)))
    op.drop_table("ledgers")
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
        sa.Column("rated", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", name=op.f("pk_ledgers")),
        sqlite_with_rowid=False,
    )
