"""How much disk space runs use: only new columns, which an earlier server leaves empty."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
goes_beside = True


def upgrade() -> None:
    op.add_column("samples", sa.Column("disk", sa.BigInteger(), nullable=True))
    op.add_column("samples", sa.Column("disk_limit", sa.BigInteger(), nullable=True))
