"""What the product reads from the environment beside its arguments."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["ENVIRONMENT", "state_folder"]

# Every environment variable the product reads; the reference prints them.
ENVIRONMENT = {
    "DISCREET_SECONDS": "how long one statement on a confidential table may run, in seconds; default: 600",
    "DISCREET_MEMORY": "how much memory the engine may take, such as 4GB; default: half of the machine's",
    "DISCREET_HEADS": "the folder in which signed heads of ledgers are kept, outside every curator's folder",
    "XDG_STATE_HOME": "where that folder is made when it is not named, as discreet/heads; default: ~/.local/state",
    "DISCREET_HISTORY": "the file in which the shell of `discreet ask` keeps what was typed, or off to keep nothing",
}


def state_folder() -> Path:
    """The user's folder for what outlives a command and belongs to no curator's folder."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "discreet"
