"""Machines that run models, and what operators decided about them."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_table(
        "hosts",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=False),
        sa.Column("key_digests", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("drained_at", sa.Double(), nullable=True),
        sa.Column("drained_by", sa.String(), nullable=True),
        sa.Column("forgotten_at", sa.Double(), nullable=True),
        sa.Column("forgotten_by", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_hosts")),
    )
