"""What a version holds, as a digest: an unchanged folder need not be uploaded again."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    with op.batch_alter_table("versions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("content", sa.String(), nullable=True))
