"""Shared links, and who looked at them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "shares",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("backtest_id", sa.String(), nullable=True),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("percent_only", sa.Boolean(), nullable=False),
        sa.Column("hide_symbols", sa.Boolean(), nullable=False),
        sa.Column("hide_sizes", sa.Boolean(), nullable=False),
        sa.Column("hide_logs", sa.Boolean(), nullable=False),
        sa.Column("delay_hours", sa.Integer(), nullable=False),
        sa.Column("base", sa.Double(), nullable=True),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("views", sa.BigInteger(), nullable=False),
        sa.Column("last_viewed_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["models.id"],
            name=op.f("fk_shares_model_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shares")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_shares_token_hash")),
    )
    with op.batch_alter_table("shares", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_shares_model_id"), ["model_id"], unique=False)
    op.create_table(
        "share_visits",
        sa.Column("share_id", sa.String(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("visitor", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["share_id"],
            ["shares.id"],
            name=op.f("fk_share_visits_share_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("share_id", "day", "visitor", name=op.f("pk_share_visits")),
    )
