"""The tables of what is uploaded and run: versions, runs, hosts, what they used, and secrets."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from tapeline.store.tables.core import metadata, owned_by

versions = Table(
    "versions",
    metadata,
    Column("id", String, primary_key=True),
    owned_by("model"),
    Column("number", Integer, nullable=False),
    Column("description", Text, nullable=False),
    Column("archive", String, nullable=False),  # the name of its blob: the hash of the zip
    Column("content", String),  # the digest of what it holds; null before it was kept
    Column("size", BigInteger, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("plan", String, nullable=False),
    Column("python_version", String, nullable=False),
    Column("lock", Text),  # the packages that its requirements were first resolved to
    Column("created_at", Double, nullable=False),
    Column("created_by", String, nullable=False),
    Index("uq_versions_model_id_number", "model_id", "number", unique=True),
    Index(None, "archive"),
)

# Versions that people published as starter models, for everybody of the installation.
published_starters = Table(
    "published_starters",
    metadata,
    Column("name", String, primary_key=True),
    owned_by("model"),
    owned_by("version"),
    Column("published_at", Double, nullable=False),
    Column("published_by", String, nullable=False),
    Index(None, "model_id"),
    Index(None, "version_id"),
)

# Runs: what is desired, and what became of it.
runs = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    owned_by("model"),
    Column("version_id", String, ForeignKey("versions.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),
    Column("desired", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("plan", String, nullable=False),
    Column("memory_mb", Integer, nullable=False),
    Column("cpu_milli", Integer, nullable=False),
    Column("python_version", String, nullable=False),
    Column("backtest_id", String),
    Column("arguments", JSON),
    Column("description", Text, nullable=False),
    Column("schedule", String),
    Column("due_at", Double),
    Column("host", String),  # whose engine runs it; nobody else can know that it is gone
    Column("fence", BigInteger),
    Column("lease_until", Double),  # by the database's clock; null: it lives until it is ended
    Column("launches", Integer, nullable=False),  # shims started for it
    Column("restarts", Integer, nullable=False),
    Column("exit_code", Integer),
    Column("confinement", String, nullable=False),  # how it was sandboxed
    Column("journal", BigInteger, nullable=False),  # how far its output is on the tape
    Column("refused", Integer, nullable=False),  # events that came after it was superseded
    Column("created_at", Double, nullable=False),
    Column("created_by", String, nullable=False),
    Column("started_at", Double),
    Column("ended_at", Double),
    Index(None, "model_id", "created_at"),
    Index(None, "ended_at"),
    Index(None, "backtest_id"),
)

# Machines that run models, as each last described itself, and what operators decided about them.
hosts = Table(
    "hosts",
    metadata,
    Column("name", String, primary_key=True),
    Column("machine", String, nullable=False),
    Column("version", String, nullable=False),  # of Tapeline
    Column("trouble", Text, nullable=False),  # why it is unwell, or empty
    Column("key_digests", Text, nullable=False),  # the digests of its keys, which all servers share
    Column("started_at", Double, nullable=False),
    Column("pythons", Text, nullable=False, server_default=""),  # JSON; empty: not known
    Column("node", Text, nullable=False, server_default=""),  # JSON; empty: a server
    Column("drained_at", Double),
    Column("drained_by", String),
    Column("forgotten_at", Double),
    Column("forgotten_by", String),
)

samples = Table(
    "samples",
    metadata,
    owned_by("run", primary_key=True),
    Column("at", Double, primary_key=True),
    Column("memory", BigInteger, nullable=False),  # bytes
    Column("cpu", Double, nullable=False),  # cores, on average since the sample before
    Column("disk", BigInteger),  # bytes of its folders
    Column("disk_limit", BigInteger),
    Index(None, "at"),
)

secrets = Table(
    "secrets",
    metadata,
    owned_by("model", primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),  # encrypted
    Column("changed_at", Double, nullable=False),
)
