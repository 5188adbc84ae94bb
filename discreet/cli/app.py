"""All commands under one name."""

from __future__ import annotations

import typer

from discreet.cli import (
    asking,
    attacks,
    checks,
    contracts,
    copies,
    evaluations,
    keys,
    ledgers,
    protection,
    receipts,
    showcase,
    tables,
    tuning,
)

__all__ = ["app"]

app = typer.Typer(
    name="discreet",
    help="Publish what a confidential table can teach without telling on anyone in it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(tables.init)
app.command()(tables.add)
app.command()(asking.ask)
app.command()(asking.bounds)
app.command()(asking.replay)
app.command()(tables.assess)
app.command()(tables.refresh)
app.command()(tables.forget)
app.command()(copies.copies)
app.command()(tuning.tune)
app.command()(copies.publish_copies)
app.command()(protection.protect)
app.command()(protection.protect_table)
app.command()(protection.publish_protected)
app.command(name="evaluate")(evaluations.evaluate_copies)
app.command()(showcase.demo)
app.add_typer(attacks.app, name="attack")
app.add_typer(contracts.app, name="contract")
app.add_typer(checks.explain_app, name="explain")
app.add_typer(keys.app, name="key")
app.add_typer(ledgers.app, name="ledger")
app.add_typer(receipts.app, name="receipt")
app.add_typer(checks.verify_app, name="verify")


@app.callback()
def _root() -> None:
    """Each command acts on the curator's folder that holds the working directory, or on --curator DIR."""
