"""Which Pythons each host has: a run waits for one that has its own."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    with op.batch_alter_table("hosts") as batch:
        batch.add_column(sa.Column("pythons", sa.Text(), nullable=False, server_default=""))
