"""Orders by their time: what a chart asks for."""

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.create_index("ix_orders_tape_time", ["tape", "time", "side", "seq"], unique=False)
