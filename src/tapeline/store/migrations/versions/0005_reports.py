"""Results: reports of backtests and their pieces, trials, words for backtests, deleted ones."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("upload", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("brief", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("upload", name=op.f("pk_reports")),
    )
    op.create_table(
        "report_pieces",
        sa.Column("upload", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("piece", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("upload", "name", "level", "piece", name=op.f("pk_report_pieces")),
    )
    op.create_table(
        "trials",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("backtest", sa.BigInteger(), nullable=False),
        sa.Column("sharpe", sa.Double(), nullable=True),
        sa.Column("periods_per_year", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("tape", "backtest", name=op.f("pk_trials")),
    )
    op.create_table(
        "discards",
        sa.Column("upload", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("upload", name=op.f("pk_discards")),
    )
    with op.batch_alter_table("backtests", schema=None) as batch_op:
        batch_op.add_column(sa.Column("label", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("description", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("deleted_seq", sa.BigInteger(), nullable=True))
        batch_op.create_index(batch_op.f("ix_backtests_upload"), ["upload"], unique=False)
