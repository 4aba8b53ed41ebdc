"""The tape: events, what is folded from them, backtests and checkpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "backtests",
        sa.Column(
            "no",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.Column("result_seq", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.LargeBinary(), nullable=True),
        sa.Column("upload", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("no", name=op.f("pk_backtests")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_backtests_tape_no"), "backtests", ["tape", "no"], unique=False)
    op.create_index("uq_backtests_tape_id", "backtests", ["tape", "id"], unique=True)
    op.create_table(
        "checkpoints",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("link", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "seq", name=op.f("pk_checkpoints")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "events",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("channel", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("backtest_id", sa.String(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=True),
        sa.Column("link", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("tape", "channel", "seq", name=op.f("pk_events")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "orders",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.Column("symbol", sa.String(), nullable=True),
        sa.Column("side", sa.String(), nullable=True),
        sa.Column("time", sa.Double(), nullable=True),
        sa.Column("received_at", sa.Double(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "id", name=op.f("pk_orders")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_orders_tape_seq"), "orders", ["tape", "seq"], unique=False)
    op.create_table(
        "pieces",
        sa.Column("upload", sa.String(), nullable=False),
        sa.Column("list", sa.String(), nullable=False),
        sa.Column("piece", sa.Integer(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("upload", "list", "piece", name=op.f("pk_pieces")),
    )
    op.create_table(
        "states",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "name", name=op.f("pk_states")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tapes",
        sa.Column(
            "no",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("link", sa.LargeBinary(), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.Column("signed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("no", name=op.f("pk_tapes")),
        sa.UniqueConstraint("model_id", name=op.f("uq_tapes_model_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "used",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "what", "name", name=op.f("pk_used")),
        sqlite_with_rowid=False,
    )
