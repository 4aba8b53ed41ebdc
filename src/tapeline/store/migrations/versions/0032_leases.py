"""Until when a run may live without a renewal: a column that an earlier server leaves empty."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
goes_beside = True


def upgrade() -> None:
    op.add_column("runs", sa.Column("lease_until", sa.Double(), nullable=True))
