"""Whose share of the server an invited account uses. Accounts and invitations of earlier versions
do not say who invited them: such an account is a tenant of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("users", sa.Column("tenant_id", sa.String()))
    op.add_column("invitations", sa.Column("author_id", sa.String()))
