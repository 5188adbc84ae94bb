"""The command demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.render import progress, say, show_text
from discreet.demonstration import demonstrate

__all__ = ["demo"]


def demo(
    once: Annotated[bool, typer.Option("--once", help="End when it is done instead of serving.")] = False,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Where the demonstration keeps its things.")
    ] = Path("discreet-demo"),
) -> None:
    """Show what Discreet does, on bundled public data."""
    with progress("Working on the bundled census excerpt") as phase:
        shown = demonstrate(folder, progress=phase)
    show_text("\n".join(shown.sentences))
    if not once:
        say("Nothing is served yet: the report is a file.")
    office = folder / "office"
    say(f'Ask on: discreet ask "SELECT COUNT(*) FROM census WHERE AGEP > 90" --epsilon 0.5 --curator {office}')
    show_text(f"Report: {shown.report}")
