"""Starter models that people made of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "published_starters",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("published_at", sa.Double(), nullable=False),
        sa.Column("published_by", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["models.id"],
            name=op.f("fk_published_starters_model_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["versions.id"],
            name=op.f("fk_published_starters_version_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_published_starters")),
    )
    with op.batch_alter_table("published_starters", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_published_starters_model_id"), ["model_id"])
        batch_op.create_index(batch_op.f("ix_published_starters_version_id"), ["version_id"])
