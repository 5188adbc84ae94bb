"""Forms the ledger's database has had, oldest first, and the way from each to the next."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from discreet.errors import FolderError

__all__ = ["migrate"]


def migrate(connection: sa.Connection) -> None:
    """Bring a database to the newest form, in the turn that the connection holds."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise FolderError(
            "ledger",
            found="a form this version of Discreet does not know",
            right="a ledger is read by the version that wrote it, or a later one",
            step="update Discreet",
        ) from None
