"""Commands on the ledger: show, verify, report, export, open, limit, restore."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from discreet.cli.options import AsCsv, AsJson, CuratorFolder, curator_of, require_one_form
from discreet.cli.render import say, show_csv, show_grids, show_json, show_text
from discreet.errors import ArgumentError, CheckFailedError
from discreet.evaluation.books import account_json, accounts_grid, entry_json, named_amounts, spending

__all__ = ["app"]

app = typer.Typer(
    help="The durable account of what was spent, which cannot be overspent.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="E", help="The limit as an ε.")]
Rho = Annotated[str | None, typer.Option("--rho", metavar="R", help="The limit as a ρ.")]
Delta = Annotated[str, typer.Option("--delta", metavar="D", help="The limit's δ.")]
KindName = Annotated[str, typer.Argument(metavar="KIND", help="population, analyst or project.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]


@app.command()
def show(as_json: AsJson = False, as_csv: AsCsv = False, curator: CuratorFolder = None) -> None:
    """Show every account: its limit, what was spent, what is left, and its lifetime total."""
    require_one_form(as_json, as_csv)
    with closing(curator_of(curator).ledger) as ledger:
        accounts = ledger.accounts()
    if as_json:
        show_json([account_json(account) for account in accounts])
    elif as_csv:
        show_csv(accounts_grid(accounts))
    else:
        show_grids([accounts_grid(accounts)])


@app.command()
def verify(curator: CuratorFolder = None) -> None:
    """Check the chain, the signed head, and that every account is what its entries add up to."""
    with closing(curator_of(curator).ledger) as ledger:
        found, length = ledger.verify(), len(ledger.entries())
    if found:
        raise CheckFailedError(
            "ledger",
            found="; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else ""),
            right="the history is whole and its own",
            step="find out what happened, then discreet ledger restore",
        )
    say(f"The ledger is whole: {length} entries.")


@app.command()
def export(curator: CuratorFolder = None) -> None:
    """Print the whole history, one JSON object a line."""
    import json

    with closing(curator_of(curator).ledger) as ledger:
        entries = ledger.entries()
    for entry in entries:
        show_text(json.dumps(entry_json(entry), ensure_ascii=False, sort_keys=True))


@app.command()
def report(
    population: Annotated[str, typer.Argument(metavar="POPULATION", help="Whose charges are added up.")],
    delta: Annotated[str, typer.Option("--delta", metavar="D", help="At which δ.")] = "1e-6",
    as_json: AsJson = False,
    curator: CuratorFolder = None,
) -> None:
    """Say what all charges of a population amount to: the smallest valid ε at a δ, and the theorem that gives it."""
    with closing(curator_of(curator).ledger) as ledger:
        found = spending(ledger, population, delta)
    if as_json:
        show_json(found.as_json())
    else:
        show_text("\n".join(found.sentences()))


@app.command("open")
def open_account(
    kind: KindName,
    name: Name,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = "0",
    period: Annotated[
        str, typer.Option("--period", metavar="P", help="never, day, month or year: when it refills.")
    ] = "never",
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="Why it is opened.")] = "",
    curator: CuratorFolder = None,
) -> None:
    """Open an account of an analyst, a project, or a further population (which needs --reason)."""
    key, currency, limit, refill = named_amounts(kind, name, epsilon, rho, delta, period)
    with closing(curator_of(curator).ledger) as ledger:
        account = ledger.open_account(key, currency, limit, period=refill, reason=reason)
    say(f"The account of {account.key} is open with {account.limit.text(account.currency)}.")


@app.command()
def limit(
    kind: KindName,
    name: Name,
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="Why it changes; written down.")],
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = "0",
    curator: CuratorFolder = None,
) -> None:
    """Change what an account may spend. What was spent stays spent."""
    key, currency, amount, _ = named_amounts(kind, name, epsilon, rho, delta, "never")
    with closing(curator_of(curator).ledger) as ledger:
        if ledger.account(key).currency != currency:
            raise ArgumentError(
                "limit", found="another currency", right="an account keeps the one it was opened in", step="give that"
            )
        account = ledger.set_limit(key, amount, reason=reason)
    say(f"The limit of {account.key} is {account.limit.text(account.currency)}.")


@app.command()
def restore(
    charge: Annotated[
        list[str],
        typer.Option("--charge", metavar="POPULATION=LOSS[,DELTA]", help="What may have been spent since; one each."),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="WHY", help="What happened; written down.")],
    curator: CuratorFolder = None,
) -> None:
    """Go on with an older copy of the ledger, after charging every population for what may be missing from it."""
    gap = {}
    for one in charge:
        name, sign, amount = one.rpartition("=")
        if not sign:
            raise ArgumentError(
                "--charge", found=repr(one), right="it is POPULATION=LOSS or POPULATION=LOSS,DELTA", step="say how much"
            )
        loss, _, delta = amount.partition(",")
        key, _, price, _ = named_amounts("population", name, loss, None, delta or "0", "never", least=0)
        gap[key] = price
    with closing(curator_of(curator).ledger) as ledger:
        ledger.restore(gap, reason=reason)
    say("The gap is written down and charged, and the head is signed anew. Next: discreet ledger verify")
