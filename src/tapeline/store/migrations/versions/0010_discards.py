"""Uploads that no backtest shows say whose they are; deleted models are remembered."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

# What crashes and earlier versions left without an owner: it goes as everything else does.
UNSHOWN = """
insert into discards (upload)
select distinct upload from {} where upload not in (select upload from discards)
and upload not in (select upload from backtests where upload is not null)
"""


def upgrade() -> None:
    op.create_table(
        "deleted_models",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deleted_models")),
    )
    with op.batch_alter_table("discards", schema=None) as batch_op:
        batch_op.add_column(sa.Column("tape", sa.BigInteger(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("after", sa.Double(), nullable=False, server_default="0"))
        batch_op.create_index(batch_op.f("ix_discards_tape"), ["tape"], unique=False)
        batch_op.create_index(batch_op.f("ix_discards_after"), ["after"], unique=False)
    for table in ("pieces", "reports", "report_pieces"):
        op.execute(UNSHOWN.format(table))
    op.execute("delete from trials where tape not in (select no from tapes)")
