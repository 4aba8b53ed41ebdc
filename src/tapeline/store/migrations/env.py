"""Alembic's entry: runs the migrations on the connection that `migrate.upgrade` hands over."""

from alembic import context

from tapeline.store.tables import (  # noqa: F401 - they add their tables to it
    ledger,
    prices,
    results,
    runs,
    shares,
    tape,
)
from tapeline.store.tables.core import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most things in place; batch mode copies the table instead.
    render_as_batch=True,
    # Our SQLite connections do begin a transaction before DDL, unlike the driver by itself.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
