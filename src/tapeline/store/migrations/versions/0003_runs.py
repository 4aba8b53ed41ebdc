"""Uploads and runs: versions, runs, samples, secrets, and what keys and models know of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "secrets",
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_secrets_model_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("model_id", "name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("archive", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
        sa.Column("python_version", sa.String(), nullable=False),
        sa.Column("lock", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_versions_model_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
    )
    with op.batch_alter_table("versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_versions_archive"), ["archive"], unique=False)
        batch_op.create_index("uq_versions_model_id_number", ["model_id", "number"], unique=True)

    op.create_table(
        "runs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("desired", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
        sa.Column("memory_mb", sa.Integer(), nullable=False),
        sa.Column("cpu_milli", sa.Integer(), nullable=False),
        sa.Column("python_version", sa.String(), nullable=False),
        sa.Column("backtest_id", sa.String(), nullable=True),
        sa.Column("arguments", sa.JSON(), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("schedule", sa.String(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=True),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("restarts", sa.Integer(), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("confinement", sa.String(), nullable=False),
        sa.Column("journal", sa.BigInteger(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_runs_model_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["versions.id"], name=op.f("fk_runs_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_runs_backtest_id"), ["backtest_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_runs_ended_at"), ["ended_at"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_runs_model_id_created_at"), ["model_id", "created_at"], unique=False
        )

    op.create_table(
        "samples",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("memory", sa.BigInteger(), nullable=False),
        sa.Column("cpu", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_samples_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "at", name=op.f("pk_samples")),
    )
    with op.batch_alter_table("samples", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_samples_at"), ["at"], unique=False)

    with op.batch_alter_table("keys", schema=None) as batch_op:
        batch_op.add_column(sa.Column("run_id", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("fence", sa.BigInteger(), nullable=True))
        batch_op.create_index(batch_op.f("ix_keys_run_id"), ["run_id"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_keys_run_id"), "runs", ["run_id"], ["id"], ondelete="CASCADE"
        )

    with op.batch_alter_table("models", schema=None) as batch_op:
        batch_op.add_column(sa.Column("plan", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("python_version", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False))
