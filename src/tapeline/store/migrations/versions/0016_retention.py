"""How long projects keep what their models say. PostgreSQL looks at the large tables earlier."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

LARGE = ("pages", "pieces", "entries")


def upgrade() -> None:
    op.create_table(
        "retention",
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"],
            name=op.f("fk_retention_project_id"), ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "kind", name=op.f("pk_retention")),
    )  # fmt: skip
    if op.get_bind().dialect.name == "postgresql":
        for table in LARGE:  # by default a fifth of the rows must be gone first
            op.execute(f"alter table {table} set (autovacuum_vacuum_scale_factor = 0.02)")
