"""The trial of each result of a backtest, so that a replaced one is known as it was."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
goes_beside = True


def upgrade() -> None:
    op.create_table(
        "trials_by_result",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("backtest", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("sharpe", sa.Double(), nullable=True),
        sa.Column("periods_per_year", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("tape", "backtest", "seq", name=op.f("pk_trials_by_result")),
    )
    op.execute(
        "insert into trials_by_result (tape, backtest, seq, sharpe, periods_per_year)"
        " select t.tape, t.backtest, b.result_seq, t.sharpe, t.periods_per_year"
        " from trials t join backtests b on b.no = t.backtest where b.result_seq is not null"
    )
