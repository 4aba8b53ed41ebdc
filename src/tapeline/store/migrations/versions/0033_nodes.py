"""What is only known of a node of a cluster: a column that an earlier server leaves empty."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
goes_beside = True


def upgrade() -> None:
    column = sa.Column("node", sa.Text(), nullable=False, server_default="")
    op.add_column("hosts", column)
