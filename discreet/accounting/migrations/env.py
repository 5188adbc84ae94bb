"""What Alembic runs: migrations on the connection it is handed."""

from __future__ import annotations

from alembic import context

from discreet.accounting.store import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
