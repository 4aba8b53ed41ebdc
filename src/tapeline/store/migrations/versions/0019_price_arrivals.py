"""Bars and indicators as they arrive, before they are put into chunks."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "price_arrivals",
        sa.Column(
            "no",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("no", name=op.f("pk_price_arrivals")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_price_arrivals_tape_no"), "price_arrivals", ["tape", "no"], unique=False
    )
