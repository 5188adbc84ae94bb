"""Commands on receipts for others to read: sheet, register."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import CuratorFolder, Keyring, ReceiptFile, curator_of
from discreet.cli.render import show_text, write_page
from discreet.evaluation.guarantee_sheet import guarantee_sheet
from discreet.evaluation.receipts import check_receipt, registry_yaml

__all__ = ["app"]

app = typer.Typer(
    help="A receipt for people and for the registry of deployments; `discreet verify receipt` checks one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def sheet(
    file: ReceiptFile,
    out: Annotated[Path, typer.Option("--out", metavar="HTML", help="The page to write.")],
    keyring: Keyring = None,
    curator: CuratorFolder = None,
) -> None:
    """Write the one-page guarantee sheet of a receipt: what is claimed, what it rests on, what is not claimed."""
    ring = curator_of(curator).keyring if keyring is None else keyring
    write_page(guarantee_sheet(check_receipt(file, ring)), out, note="It is made to be published with the release.")


@app.command()
def register(
    file: ReceiptFile,
    facts: Annotated[Path, typer.Argument(metavar="YAML", help="What only the keeper knows of the release.")],
    keyring: Keyring = None,
    curator: CuratorFolder = None,
) -> None:
    """Print the release as a record of the OpenDP deployments registry."""
    ring = curator_of(curator).keyring if keyring is None else keyring
    show_text(registry_yaml(check_receipt(file, ring), facts))
