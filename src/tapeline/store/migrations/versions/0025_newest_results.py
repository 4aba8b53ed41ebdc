"""The newest result of a model's backtests, which names the currency of its figures, is found."""

from alembic import op

revision = "0025"
down_revision = "0024"
goes_beside = True


def upgrade() -> None:
    op.create_index(op.f("ix_backtests_tape_result_seq"), "backtests", ["tape", "result_seq"])
