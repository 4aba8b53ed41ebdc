"""Trees of the heads of all tapes, the log of their roots, and its time stamps."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "head_trees",
        sa.Column("log", sa.String(), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("parts", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("has_leaves", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("log", "entry", name=op.f("pk_head_trees")),
    )
    op.create_table(
        "head_leaves",
        sa.Column("log", sa.String(), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("leaves", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("log", "entry", "part", name=op.f("pk_head_leaves")),
    )
    op.create_table(
        "stamps",
        sa.Column("log", sa.String(), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("authority", sa.String(), nullable=False),
        sa.Column("response", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("log", "entry", "authority", name=op.f("pk_stamps")),
    )
