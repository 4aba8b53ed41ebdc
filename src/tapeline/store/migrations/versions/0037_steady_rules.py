"""Since when a condition is true, and when an escalation is due, are kept by a clock that does not
jump. Only on SQLite the server knows how that one differs."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.add_column("outbox", sa.Column("due_steadily_at", sa.Double(), nullable=True))
    ahead = _ahead()
    _change("update outbox set due_steadily_at = due_at - :ahead where what = 'escalated'", ahead)
    if ahead:
        _change("update rule_states set held_since = held_since - :ahead", ahead)
        _change(
            "update rule_states set memory = json_set("
            "memory, '$.at', json_extract(memory, '$.at') - :ahead)"
            " where json_extract(memory, '$.at') is not null",
            ahead,
        )


def _change(statement: str, ahead: float) -> None:
    op.execute(sa.text(statement).bindparams(ahead=ahead))


def _ahead() -> float:
    """How far the wall clock is ahead, as the server saved it. A database on another machine has a
    clock of its own."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return 0.0
    saved = connection.scalar(sa.text("select value from facts where name = 'clock'"))
    if saved is None:
        return 0.0
    last = json.loads(saved)["periods"][-1]
    return float(last["ahead"]) - float(last.get("paused", 0.0))
