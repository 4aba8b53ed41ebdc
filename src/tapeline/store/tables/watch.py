"""The tables of what watches over models: halts, and what became of every model in them."""

from sqlalchemy import JSON, Boolean, Column, Double, ForeignKey, Index, String, Table, Text

from tapeline.store.tables.core import metadata, owned_by, partial_index

halts = Table(
    "halts",
    metadata,
    Column("id", String, primary_key=True),
    # Without a project: of everything on this installation.
    Column("project_id", String, ForeignKey("projects.id", ondelete="CASCADE")),
    Column("why", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("by", String, nullable=False),
    Column("resumed_at", Double),
    Column("resumed_by", String),
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
