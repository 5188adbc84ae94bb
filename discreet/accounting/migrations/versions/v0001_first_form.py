"""The first form: ledger, entries, outcomes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables. They are written out, so that later changes of the code do not change this step."""
    whole = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table("ledger", sa.Column("id", sa.String(32), primary_key=True))
    op.create_table(
        "entries",
        sa.Column("number", whole, primary_key=True, autoincrement=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(24), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "outcomes",
        sa.Column("charge", whole, primary_key=True, autoincrement=False),
        sa.Column("entry", sa.BigInteger, nullable=False),
        sa.Column("plan", sa.String(64)),
        sa.Column("payer", sa.String(240)),
    )
    op.create_index("outcomes_by_plan", "outcomes", ["plan", "payer"])
