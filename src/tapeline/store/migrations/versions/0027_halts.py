"""Halts: who stopped what, and what became of every model in them."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "halts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("resumed_at", sa.Double(), nullable=True),
        sa.Column("resumed_by", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_halts_project_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_halts")),
    )
    op.create_index(op.f("ix_halts_project_id_at"), "halts", ["project_id", "at"])
    op.create_table(
        "halted_models",
        sa.Column("halt_id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("was_desired", sa.Boolean(), nullable=False),
        sa.Column("stated_at", sa.Double(), nullable=True),
        sa.Column("stopped_at", sa.Double(), nullable=True),
        sa.Column("how", sa.Text(), nullable=True),
        sa.Column("proof", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["halt_id"], ["halts.id"], name=op.f("fk_halted_models_halt_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_halted_models_model_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("halt_id", "model_id", "run_id", name=op.f("pk_halted_models")),
    )
    op.create_index(op.f("ix_halted_models_model_id"), "halted_models", ["model_id"])
    is_open = sa.text("stopped_at IS NULL")
    op.create_index(
        "ix_halted_models_open",
        "halted_models",
        ["halt_id"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
