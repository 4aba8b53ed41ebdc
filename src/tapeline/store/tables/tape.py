"""The tables of the tape: events of models, and the state folded from them."""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from tapeline.store.tables.core import Sequence, metadata

# A model's tape by a number: eight bytes in ten million rows instead of seventeen.
tapes = Table(
    "tapes",
    metadata,
    Column("no", Sequence, primary_key=True, autoincrement=True),
    # No foreign key: a tape outlives its model until it is cleared, some rows at a time.
    Column("model_id", String, nullable=False, unique=True),
    Column("seq", BigInteger, nullable=False),
    Column("link", LargeBinary, nullable=False),
    Column("counts", LargeBinary, nullable=False),
    Column("signed_at", Double, nullable=False),
    # Of its pages and of the results of its backtests.
    Column("bytes", BigInteger, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)


def _of_tape(**more: bool) -> Column[int]:
    return Column("tape", BigInteger, nullable=False, **more)  # type: ignore[arg-type]


# Clustered by what is read together: one channel of one model, in order. The channel of a line of
# a backtest's log is that backtest's own. A page holds the events of one commit, packed.
pages = Table(
    "pages",
    metadata,
    _of_tape(primary_key=True),
    Column("channel", BigInteger, primary_key=True),
    Column("first", BigInteger, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

states = Table(
    "states",
    metadata,
    _of_tape(primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

used = Table(
    "used",
    metadata,
    _of_tape(primary_key=True),
    Column("what", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

orders = Table(
    "orders",
    metadata,
    _of_tape(primary_key=True),
    Column("id", String, primary_key=True),
    Column("seq", BigInteger),
    Column("symbol", String),
    Column("side", String),
    Column("time", Double),
    Column("received_at", Double),
    Column("state", LargeBinary, nullable=False),
    Index(None, "tape", "seq"),
    # For charts: which orders a time range has, without reading any of them.
    Index("ix_orders_tape_time", "tape", "time", "side", "seq"),
    sqlite_with_rowid=False,
)

# Cash that has an id: what counts under it.
cash = Table(
    "cash",
    metadata,
    _of_tape(primary_key=True),
    Column("id", String, primary_key=True),
    Column("state", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

backtests = Table(
    "backtests",
    metadata,
    Column("no", Sequence, primary_key=True, autoincrement=True),
    _of_tape(),
    Column("id", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("result", LargeBinary),
    Column("result_seq", BigInteger),
    Column("status", LargeBinary),
    Column("upload", String),
    Column("label", Text),  # set by people; shown instead of what its status says
    Column("description", Text),
    # How far the tape was when it was deleted; a result after that brings it back.
    Column("deleted_seq", BigInteger),
    Index("uq_backtests_tape_id", "tape", "id", unique=True),
    Index(None, "tape", "no"),
    Index(None, "tape", "result_seq"),
    Index(None, "upload"),
    sqlite_autoincrement=True,
)

# A backtest's long lists, in pieces: an upload is staged here before its event makes it visible.
pieces = Table(
    "pieces",
    metadata,
    Column("upload", String, primary_key=True),
    Column("list", String, primary_key=True),
    Column("piece", Integer, primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# The public keys that signed checkpoints, of every server that wrote here. `previous` and the two
# signatures make a key the successor of another.
signing_keys = Table(
    "signing_keys",
    metadata,
    Column("key_id", String, primary_key=True),
    Column("public_key", String, nullable=False),
    Column("made_at", Double),
    Column("previous", String),
    Column("signature", String),
    Column("acceptance", String),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    _of_tape(primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("link", LargeBinary, nullable=False),
    Column("at", Double, nullable=False),
    Column("key_id", String, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
