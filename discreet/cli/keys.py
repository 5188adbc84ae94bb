"""Commands on the curator's signing keys: show, rotate, revoke."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import AsJson, CuratorFolder, curator_of
from discreet.cli.render import say, show_grids, show_json
from discreet.draw import Grid, GridColumn
from discreet.errors import ArgumentError

__all__ = ["app"]

app = typer.Typer(
    help="The keys that sign receipts: fingerprints, rotation, revocation.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def show(as_json: AsJson = False, curator: CuratorFolder = None) -> None:
    """Show every key's fingerprint and state. People compare fingerprints over a way they trust."""
    states = curator_of(curator).desk.keys()
    if as_json:
        show_json([{"fingerprint": name, "state": state} for name, state in states])
    else:
        show_grids([Grid("Keys", (GridColumn("fingerprint"), GridColumn("state")), states)])


@app.command()
def rotate(
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="N", help="How long the new key may sign; default: until it is replaced."),
    ] = None,
    curator: CuratorFolder = None,
) -> None:
    """Put a new key in use, introduced by the one before it. Receipts signed until now stay good."""
    name = curator_of(curator).desk.rotate(days=days)
    say(f"The key in use is {name}. Next: publish signing/keyring.json anew")


@app.command()
def revoke(
    fingerprint: Annotated[str, typer.Argument(metavar="FINGERPRINT", help="A former key; see discreet key show.")],
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="Why; readers of receipts see it.")],
    compromised: Annotated[
        bool, typer.Option("--compromised", help="Somebody else may have it: nothing it ever signed counts.")
    ] = False,
    retired: Annotated[
        bool, typer.Option("--retired", help="It was lost or put away: what it signed before today counts.")
    ] = False,
    curator: CuratorFolder = None,
) -> None:
    """Say that a former key is not to be believed. The key in use is replaced first, by `discreet key rotate`."""
    if compromised == retired:
        raise ArgumentError(
            "--compromised and --retired",
            found="both" if retired else "neither",
            right="it decides whether receipts signed before count",
            step="say one of them",
        )
    curator_of(curator).desk.revoke(fingerprint, reason=reason, compromised=compromised)
    say(f"The key {fingerprint} is revoked. Next: publish signing/keyring.json anew")
