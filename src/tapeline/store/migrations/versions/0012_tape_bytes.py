"""How much each tape holds, for its quota."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

HELD = """
update tapes set bytes =
  coalesce((select sum(length(content)) from pages where pages.tape = tapes.no), 0)
  + coalesce((
    select sum(length(pieces.content)) from pieces
    join backtests on backtests.upload = pieces.upload where backtests.tape = tapes.no
  ), 0)
"""


def upgrade() -> None:
    with op.batch_alter_table("tapes", schema=None) as batch_op:
        batch_op.add_column(sa.Column("bytes", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(HELD)
