"""Rules, their states and incidents, and who is told: only new tables."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
goes_beside = True


def upgrade() -> None:
    op.create_table(
        "rules",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("model_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("override", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.Column("changed_by", sa.String(), nullable=False),
        sa.Column("muted_until", sa.Double(), nullable=True),
        sa.Column("muted_by", sa.String(), nullable=True),
        sa.Column("muted_why", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_rules_model_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_rules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rules")),
    )
    op.create_index(op.f("ix_rules_model_id"), "rules", ["model_id"], unique=False)
    op.create_index(op.f("ix_rules_project_id"), "rules", ["project_id"], unique=False)
    op.create_index("uq_rules_scope_name", "rules", ["scope", "name"], unique=True)
    op.create_table(
        "incidents",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("rule_id", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("model_id", sa.String(), nullable=True),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("severity", sa.String(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("limit", sa.Double(), nullable=True),
        sa.Column("began_at", sa.Double(), nullable=False),
        sa.Column("fired_at", sa.Double(), nullable=False),
        sa.Column("resolved_at", sa.Double(), nullable=True),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.Column("acknowledged_at", sa.Double(), nullable=True),
        sa.Column("acknowledged_by", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.id"], name=op.f("fk_incidents_model_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_incidents_project_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rules.id"], name=op.f("fk_incidents_rule_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incidents")),
    )
    op.create_index(
        op.f("ix_incidents_model_id_fired_at"), "incidents", ["model_id", "fired_at"], unique=False
    )
    op.create_index(
        op.f("ix_incidents_project_id_fired_at"),
        "incidents",
        ["project_id", "fired_at"],
        unique=False,
    )
    op.create_index(op.f("ix_incidents_rule_id"), "incidents", ["rule_id"], unique=False)
    op.create_index(
        "uq_incidents_open",
        "incidents",
        ["rule_id", "subject"],
        unique=True,
        sqlite_where=sa.text("resolved_at IS NULL"),
        postgresql_where=sa.text("resolved_at IS NULL"),
    )
    op.create_table(
        "rule_states",
        sa.Column("rule_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("held_since", sa.Double(), nullable=True),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("limit", sa.Double(), nullable=True),
        sa.Column("memory", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("incident_id", sa.String(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"],
            ["incidents.id"],
            name=op.f("fk_rule_states_incident_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rules.id"], name=op.f("fk_rule_states_rule_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rule_id", "subject", name=op.f("pk_rule_states")),
    )
    op.create_index(
        op.f("ix_rule_states_incident_id"), "rule_states", ["incident_id"], unique=False
    )
    op.create_table(
        "incident_events",
        sa.Column("incident_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["incident_id"],
            ["incidents.id"],
            name=op.f("fk_incident_events_incident_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("incident_id", "number", name=op.f("pk_incident_events")),
    )
    op.create_table(
        "channels",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("quiet", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("digest", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("tested_at", sa.Double(), nullable=True),
        sa.Column("test_result", sa.Text(), nullable=True),
        sa.Column("failing_since", sa.Double(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_channels_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channels")),
    )
    op.create_index(op.f("ix_channels_project_id"), "channels", ["project_id"], unique=False)
    op.create_index("uq_channels_scope_name", "channels", ["scope", "name"], unique=True)
    op.create_table(
        "outbox",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("incident_id", sa.String(), nullable=True),
        sa.Column("channel_id", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claimed_until", sa.Double(), nullable=True),
        sa.Column("delivered_at", sa.Double(), nullable=True),
        sa.Column("given_up_at", sa.Double(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("payload", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_outbox_channel_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["incident_id"],
            ["incidents.id"],
            name=op.f("fk_outbox_incident_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_index(op.f("ix_outbox_channel_id"), "outbox", ["channel_id"], unique=False)
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("delivered_at IS NULL AND given_up_at IS NULL"),
        postgresql_where=sa.text("delivered_at IS NULL AND given_up_at IS NULL"),
    )
    op.create_index(
        "uq_outbox_message", "outbox", ["incident_id", "channel_id", "what", "step"], unique=True
    )
