"""The tables of what watches over models: halts, rules and their incidents, and who is told."""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from tapeline.store.tables.core import metadata, owned_by, partial_index

halts = Table(
    "halts",
    metadata,
    Column("id", String, primary_key=True),
    # Without a project and a host: of everything on this installation.
    Column("project_id", String, ForeignKey("projects.id", ondelete="CASCADE")),
    Column("why", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("by", String, nullable=False),
    Column("resumed_at", Double),
    Column("resumed_by", String),
    Column("host", String),  # of everything on this machine
    Index(None, "project_id", "at"),
)

halted_models = Table(
    "halted_models",
    metadata,
    owned_by("halt", primary_key=True),
    owned_by("model", primary_key=True, index=True),
    # Empty for a model that runs elsewhere and only reports.
    Column("run_id", String, primary_key=True),
    Column("since", Double, nullable=False),
    Column("was_desired", Boolean, nullable=False),  # to run, until the halt
    Column("stated_at", Double),  # when the halt was stated on its tape
    Column("stopped_at", Double),
    Column("how", Text),
    Column("proof", JSON),
    partial_index("ix_halted_models_open", "halt_id", where="stopped_at IS NULL"),
)


def _perhaps(table: str, then: str = "CASCADE") -> Column[str]:
    """A reference that may be empty."""
    return Column(f"{table}_id", String, ForeignKey(f"{table}s.id", ondelete=then))


def _json(name: str) -> Column[object]:
    """JSON, or nothing: not the text `null`."""
    return Column(name, JSON(none_as_null=True))


rules = Table(
    "rules",
    metadata,
    Column("id", String, primary_key=True),
    # What it is about, in one word that is never empty, because two NULLs are not equal:
    # `model:…`, `project:…` or `server`.
    Column("scope", String, nullable=False),
    _perhaps("project"),  # null: of the installation
    _perhaps("model"),
    Column("name", String, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("source", String, nullable=False),  # a person, or the model's version
    _json("override"),  # how people tightened what a version expects
    Column("revision", Integer, nullable=False),  # rises with every change
    Column("created_at", Double, nullable=False),
    Column("created_by", String, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("changed_by", String, nullable=False),
    Column("muted_until", Double),
    Column("muted_by", String),
    Column("muted_why", Text),
    Index("uq_rules_scope_name", "scope", "name", unique=True),
    Index(None, "project_id"),
    Index(None, "model_id"),
)

# Of one rule about one subject: a model, a project, a host, or everything. Written when something
# changed, and never because time passed.
rule_states = Table(
    "rule_states",
    metadata,
    owned_by("rule", primary_key=True),
    Column("subject", String, primary_key=True),
    Column("state", String, nullable=False),
    Column("since", Double, nullable=False),
    Column("held_since", Double),  # since when it is true, by a clock that does not jump
    Column("said", Text, nullable=False),
    Column("value", Double),
    Column("limit", Double),
    _json("memory"),  # what the condition has to remember: a peak, the day's opening
    _perhaps("incident", "SET NULL"),
    Column("revision", Integer, nullable=False),  # of the rule that was evaluated
    Index(None, "incident_id"),
)

incidents = Table(
    "incidents",
    metadata,
    Column("id", String, primary_key=True),
    _perhaps("rule", "SET NULL"),
    _perhaps("project"),
    _perhaps("model"),
    Column("subject", String, nullable=False),
    Column("name", String, nullable=False),
    Column("severity", String, nullable=False),
    Column("spec", JSON, nullable=False),  # the rule as it was then
    Column("said", Text, nullable=False),
    Column("value", Double),
    Column("limit", Double),
    Column("began_at", Double, nullable=False),
    Column("fired_at", Double, nullable=False),
    Column("resolved_at", Double),
    Column("resolution", Text),
    Column("acknowledged_at", Double),
    Column("acknowledged_by", String),
    Index(None, "project_id", "fired_at"),
    Index(None, "model_id", "fired_at"),
    Index(None, "rule_id"),
    # One rule has one open incident about a subject, whoever evaluates it.
    partial_index(
        "uq_incidents_open", "rule_id", "subject", where="resolved_at IS NULL", unique=True
    ),
)

incident_events = Table(
    "incident_events",
    metadata,
    owned_by("incident", primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("what", String, nullable=False),
    Column("by", String, nullable=False),
    Column("text", Text, nullable=False),
    _json("details"),
)

channels = Table(
    "channels",
    metadata,
    Column("id", String, primary_key=True),
    Column("scope", String, nullable=False),  # `project:…` or `server`
    _perhaps("project"),  # null: of the installation
    Column("name", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("address", Text, nullable=False),  # encrypted
    Column("shown", Text, nullable=False),  # the address as people may see it
    Column("secret", Text),  # encrypted: what signs a webhook
    _json("quiet"),
    _json("digest"),
    Column("created_at", Double, nullable=False),
    Column("created_by", String, nullable=False),
    Column("tested_at", Double),
    Column("test_result", Text),
    Column("failing_since", Double),
    Column("last_error", Text),
    Index("uq_channels_scope_name", "scope", "name", unique=True),
    Index(None, "project_id"),
)

# What is still to be told, written in the transaction of what it tells.
outbox = Table(
    "outbox",
    metadata,
    Column("id", String, primary_key=True),
    _perhaps("incident"),  # none: a test of the channel, or a digest
    owned_by("channel", index=True),
    Column("what", String, nullable=False),
    Column("step", Integer, nullable=False),  # which entry of the rule's `do`
    Column("made_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("due_steadily_at", Double),  # of an escalation: by a clock that does not jump
    Column("attempts", Integer, nullable=False),
    Column("claimed_until", Double),
    Column("delivered_at", Double),
    Column("given_up_at", Double),
    Column("last_error", Text),
    _json("payload"),
    Index("uq_outbox_message", "incident_id", "channel_id", "what", "step", unique=True),
    partial_index("ix_outbox_due", "due_at", where="delivered_at IS NULL AND given_up_at IS NULL"),
)
