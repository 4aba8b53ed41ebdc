"""The public keys that signed tapes: records carry them."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "signing_keys",
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("public_key", sa.String(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=True),
        sa.Column("previous", sa.String(), nullable=True),
        sa.Column("signature", sa.String(), nullable=True),
        sa.Column("acceptance", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_signing_keys")),
    )
