"""A symbol is quoted in the currency before its kind of contract.

The books are emptied: the bookkeeper makes them again from the tapes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"

COMPUTED = (
    "ledgers", "books", "entries", "places", "statements", "late_events", "curves", "sketches",
)  # fmt: skip


def upgrade() -> None:
    for table in COMPUTED:
        op.execute(sa.delete(sa.table(table)))
