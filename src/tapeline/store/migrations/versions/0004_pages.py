"""Events in pages: those of one channel that were stored together share a row.

Rows of earlier tapes are carried over, a thousand to a page. What the chain commits to stays as it
is: seals of earlier events fit as before.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

PAGE, BYTES = 1_000, 128 * 1024
FIELDS = (
    "seq", "kind", "time", "received_at", "body", "run_id", "backtest_id", "salt", "link",
)  # fmt: skip
EVENTS = sa.table("events", *map(sa.column, ("tape", "channel", *FIELDS)))
PAGES = sa.table("pages", *map(sa.column, ("tape", "channel", "first", "content")))


def upgrade() -> None:
    op.create_table(
        "pages",
        sa.Column("tape", sa.BigInteger(), nullable=False),
        sa.Column("channel", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tape", "channel", "first", name=op.f("pk_pages")),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    for tape, channel, rows in _portions(connection):
        events = [[_plain(row._mapping[name]) for name in FIELDS] for row in rows]
        content = msgspec.msgpack.encode(events)
        connection.execute(
            sa.insert(PAGES).values(tape=tape, channel=channel, first=rows[0].seq, content=content)
        )
    op.drop_table("events")


def _portions(connection: sa.Connection) -> Iterator[tuple[int, int, list[Any]]]:
    """Rows of one channel that make one page, in bounded memory."""
    key = sa.tuple_(EVENTS.c.tape, EVENTS.c.channel, EVENTS.c.seq)
    query = sa.select(EVENTS).order_by(EVENTS.c.tape, EVENTS.c.channel, EVENTS.c.seq).limit(PAGE)
    last: tuple[int, int, int] | None = None
    while True:
        after = query if last is None else query.where(key > sa.tuple_(*map(sa.literal, last)))
        rows = connection.execute(after).all()
        for (tape, channel), some in groupby(rows, lambda row: (row.tape, row.channel)):
            yield from ((tape, channel, page) for page in _by_size(list(some)))
        if len(rows) < PAGE:
            return
        last = (rows[-1].tape, rows[-1].channel, rows[-1].seq)


def _by_size(rows: list[Any]) -> Iterator[list[Any]]:
    page, size = [], 0
    for row in rows:
        page.append(row)
        size += len(row.body)
        if size >= BYTES:
            yield page
            page, size = [], 0
    if page:
        yield page


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value
