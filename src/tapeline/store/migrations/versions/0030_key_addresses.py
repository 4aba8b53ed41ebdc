"""From which addresses keys were used: only a new table."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
goes_beside = True


def upgrade() -> None:
    op.create_table(
        "key_addresses",
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("first_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["key_id"], ["keys.id"], name=op.f("fk_key_addresses_key_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key_id", "address", name=op.f("pk_key_addresses")),
    )
    op.create_index(op.f("ix_key_addresses_first_at"), "key_addresses", ["first_at"])
