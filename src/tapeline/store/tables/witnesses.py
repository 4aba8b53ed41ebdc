"""Tables of witnesses: who witnesses the log of this server, and which logs this one witnesses."""

from sqlalchemy import BigInteger, Boolean, Column, Double, LargeBinary, String, Table, Text

from tapeline.store.tables.core import metadata

# Servers that witness our log. `size` is of the newest head that each is known to have signed.
witnesses = Table(
    "witnesses",
    metadata,
    Column("address", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("pinned", Text, nullable=False),  # its keys, as JSON
    Column("added_at", Double, nullable=False),
    Column("log", String),
    Column("size", BigInteger, nullable=False),
    Column("signed_at", Double),  # by its clock
    Column("problem", Text),  # why it has not signed the newest head
    Column("problem_at", Double),
    Column("evidence", Text),  # two heads that cannot be of one history, as JSON
)

# Signatures of witnesses under heads of our log.
cosignatures = Table(
    "cosignatures",
    metadata,
    Column("log", String, primary_key=True),
    Column("entry", BigInteger, primary_key=True),
    Column("name", String, primary_key=True),
    Column("public_key", String, nullable=False),
    Column("line", Text, nullable=False),
    Column("at", Double, nullable=False),  # by the clock of the witness
)

# Logs that we witness, and the newest head of each. It only ever moves by a conditional UPDATE.
witnessed_logs = Table(
    "witnessed_logs",
    metadata,
    Column("origin", String, primary_key=True),
    Column("address", String, nullable=False),
    Column("pinned", Text, nullable=False),  # its keys, as JSON
    Column("allowed_at", Double, nullable=False),
    Column("is_allowed", Boolean, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("seen_at", Double),
)

# Every head that we signed: a log that goes back is compared with what it said at that size.
witnessed_heads = Table(
    "witnessed_heads",
    metadata,
    Column("origin", String, primary_key=True),
    Column("size", BigInteger, primary_key=True),
    Column("root", LargeBinary, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", Double, nullable=False),
)

# Heads that we did not sign: the first of each kind that proves something, else the newest.
refusals = Table(
    "refusals",
    metadata,
    Column("origin", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("evidence", Text, nullable=False),  # JSON
)
