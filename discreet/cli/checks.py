"""Commands that check and explain: verify, explain."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.attacks.promises.checklist import check_promises
from discreet.cli.options import AsCsv, AsJson, CuratorFolder, Keyring, ReceiptFile, curator_of, require_one_form
from discreet.cli.render import progress, show_csv, show_grids, show_json, show_text
from discreet.errors import CheckFailedError
from discreet.evaluation.certification import certify_mechanisms
from discreet.evaluation.explanation import explain, meaning_grids
from discreet.evaluation.receipts import check_receipt

__all__ = ["explain_app", "verify_app"]

verify_app = typer.Typer(help="Check what Discreet claims.", no_args_is_help=True, rich_markup_mode=None)
explain_app = typer.Typer(help="Say what a parameter means.", no_args_is_help=True, rich_markup_mode=None)


@verify_app.callback()
def _verify() -> None:
    """Check what Discreet claims."""


@explain_app.callback()
def _explain() -> None:
    """Say what a parameter means."""


@verify_app.command()
def mechanisms(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which certificates; default: all.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check every promise anew: all small tables that differ in one person, in exact fractions."""
    require_one_form(as_json, as_csv)
    with progress("Certifying"):
        checked = certify_mechanisms(names)
    if as_json:
        show_json(checked.as_json())
    elif as_csv:
        show_csv(checked.grid())
    else:
        show_text("\n".join(checked.sentences()) + "\n")
        show_grids(checked.grids())
    if checked.failures:
        raise CheckFailedError(
            "mechanisms",
            found=f"{', '.join(checked.failures)} not as claimed",
            right="every promise holds and every known fault is caught",
            step="publish nothing with this installation, and report it",
        )


@verify_app.command()
def receipt(
    file: ReceiptFile,
    keyring: Keyring = None,
    fingerprint: Annotated[
        str | None,
        typer.Option("--fingerprint", metavar="F", help="A fingerprint you know; the ring must hold its key."),
    ] = None,
    curator: CuratorFolder = None,
) -> None:
    """Check the signature of a receipt, and say what it promises."""
    ring = curator_of(curator).keyring if keyring is None else keyring
    verdict = check_receipt(file, ring, known_as=fingerprint)
    show_text(verdict.sentence)
    if not verdict.holds:
        raise CheckFailedError(
            f"receipt {file.name}",
            found=verdict.outcome,
            right="the receipt of a release is signed, unaltered and by a key in force",
            step="ask whoever published it for the receipt and the keyring",
        )
    if verdict.receipt is not None:
        show_text("\n".join(verdict.receipt.sentences()))


@explain_app.command()
def epsilon(
    value: Annotated[str, typer.Argument(metavar="EPSILON", help="The ε, such as 1 or 0.5 or 1/3.")],
    delta: Annotated[str, typer.Option("--delta", metavar="D", help="The δ, such as 1e-9.")] = "0",
    prior: Annotated[str, typer.Option("--prior", metavar="P", help="What an observer believed before.")] = "0.1",
    persons: Annotated[
        int | None, typer.Option("--persons", metavar="N", help="How many persons the table has, if that is public.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what an ε means: for beliefs, for the best possible test, for people who belong together."""
    meaning = explain(value, delta=delta, prior=prior, persons=persons)
    if as_json:
        show_json(meaning.as_json())
    else:
        show_text("\n".join(meaning.sentences()))
        show_grids(meaning_grids(meaning))


@explain_app.command()
def protections(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Say which demands on a promise each way of protecting meets, by checks and attacks that are run now."""
    require_one_form(as_json, as_csv)
    with progress("Checking and attacking") as phase:
        found = check_promises(progress=phase)
    if as_json:
        show_json(found.as_json())
    elif as_csv:
        show_csv(found.evidence())
    else:
        show_text("\n".join(found.sentences()))
        show_grids(found.grids())
