"""The command demo."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.render import progress, say, show_text
from discreet.demonstration import demonstrate

__all__ = ["demo"]


def demo(
    once: Annotated[bool, typer.Option("--once", help="Say no more when the report is written.")] = False,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Where the demonstration keeps its things.")
    ] = Path("discreet-demo"),
) -> None:
    """Show what Discreet does, on bundled public data."""
    with progress("Working on the bundled census excerpt") as phase:
        shown = demonstrate(folder, progress=phase)
    show_text("\n".join(shown.sentences))
    if not once:
        say("The report is a file, to open in a browser.")
    office = folder / "office"
    say(f'Ask on: {_called()} ask "SELECT COUNT(*) FROM census WHERE AGEP > 90" --epsilon 0.5 --curator {office}')
    show_text(f"Report: {shown.report}")


def _called() -> str:
    """What calls the product in the reader's shell: the command, where it is found, else this Python."""
    return "discreet" if shutil.which("discreet") else f"{sys.executable} -m discreet"
