"""The symbols of a model's orders, which the filter of its orders lists."""

from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.execute(
        "insert into used (tape, what, name, seq)"
        " select tape, 'order', symbol, min(seq) from orders"
        " where symbol is not null and seq is not null group by tape, symbol"
    )
