"""Witnesses of this server's log, their signatures, and the logs that this server witnesses."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_table(
        "witnesses",
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("pinned", sa.Text(), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("log", sa.String(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("signed_at", sa.Double(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("problem_at", sa.Double(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_witnesses")),
    )
    op.create_table(
        "cosignatures",
        sa.Column("log", sa.String(), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("public_key", sa.String(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("log", "entry", "name", name=op.f("pk_cosignatures")),
    )
    op.create_table(
        "witnessed_logs",
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("pinned", sa.Text(), nullable=False),
        sa.Column("allowed_at", sa.Double(), nullable=False),
        sa.Column("is_allowed", sa.Boolean(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("origin", name=op.f("pk_witnessed_logs")),
    )
    op.create_table(
        "witnessed_heads",
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("origin", "size", name=op.f("pk_witnessed_heads")),
    )
    op.create_table(
        "refusals",
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("origin", "kind", name=op.f("pk_refusals")),
    )
