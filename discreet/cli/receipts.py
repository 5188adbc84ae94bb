"""Commands on receipts for others to read: sheet, register."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from discreet.cli.options import CuratorFolder, curator_of
from discreet.cli.render import say, show_text, write_page
from discreet.evaluation.guarantee_sheet import guarantee_sheet
from discreet.evaluation.receipts import check_receipt, registry_yaml

__all__ = ["app"]

app = typer.Typer(
    help="A receipt for people and for the registry of deployments; `discreet verify receipt` checks one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Receipt = Annotated[Path, typer.Argument(metavar="FILE", help="The receipt of a release.")]
Ring = Annotated[
    Optional[Path],  # noqa: UP045  # typer reads the annotation at run time
    typer.Option("--keyring", metavar="FILE", help="The published keyring; default: the curator's own."),
]


@app.command()
def sheet(
    file: Receipt,
    out: Annotated[Path, typer.Option("--out", metavar="HTML", help="The page to write.")],
    keyring: Ring = None,
    curator: CuratorFolder = None,
) -> None:
    """Write the one-page guarantee sheet of a receipt: what is claimed, what it rests on, what is not claimed."""
    ring = curator_of(curator).keyring if keyring is None else keyring
    write_page(out, guarantee_sheet(check_receipt(file, ring)))
    say(f"The sheet is in {out}.")


@app.command()
def register(
    file: Receipt,
    facts: Annotated[Path, typer.Argument(metavar="YAML", help="What only the keeper knows of the release.")],
    keyring: Ring = None,
    curator: CuratorFolder = None,
) -> None:
    """Print the release as a record of the OpenDP deployments registry."""
    ring = curator_of(curator).keyring if keyring is None else keyring
    show_text(registry_yaml(check_receipt(file, ring), facts))
