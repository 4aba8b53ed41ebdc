"""Halts of one machine, which were carried out there without a database."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.add_column("halts", sa.Column("host", sa.String(), nullable=True))
