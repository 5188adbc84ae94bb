"""Commands on contracts: draft, check, show, declare."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from discreet.cli.options import (
    AsCsv,
    AsJson,
    CuratorFolder,
    Delimiter,
    Encoding,
    Header,
    Labels,
    Limit,
    Names,
    Nulls,
    Sheet,
    TableName,
    curator_of,
    limits_of,
    reading_of,
    require_one_form,
)
from discreet.cli.render import progress, say, show_csv, show_grids, show_json, show_text
from discreet.curator import Curator
from discreet.draw.lettering import plain
from discreet.errors import ArgumentError, CheckFailedError, ContractError

__all__ = ["app"]

app = typer.Typer(
    help="The public facts about a table: types, bounds, keys, and whom one row speaks of.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _is_file(source: str) -> bool:
    """A table's name has no dot and no slash, so what has one is a file, there or not; a bare name is a table."""
    return any(sign in source for sign in (".", "/", os.sep))


@app.command()
def draft(
    source: Annotated[str, typer.Argument(metavar="TABLE|FILE", help="A table of the curator, or a file.")],
    nulls: Nulls = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    names: Names = "",
    header: Header = False,
    sheet: Sheet = None,
    labels: Labels = False,
    limit: Limit = None,
    curator: CuratorFolder = None,
) -> None:
    """Propose a contract read off the data, as YAML. Check each line of it: it is drafted from confidential data."""
    options = reading_of(
        nulls=nulls, delimiter=delimiter, encoding=encoding, names=names, header=header, sheet=sheet, labels=labels
    )
    limits = limits_of(limit)
    path = Path(source)
    with progress("Reading"):
        if _is_file(source):
            proposal = Curator.draft_of(path, options=options, limits=limits)
        else:
            proposal = curator_of(curator).draft_contract(source)
    show_text(proposal.to_yaml())
    say("Drafted from confidential data. Next: mend it to what is publicly known, then discreet contract declare YAML")


@app.command()
def check(
    contract: Annotated[str, typer.Argument(metavar="YAML|TABLE", help="A contract file, or a table that has one.")],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    curator: CuratorFolder = None,
) -> None:
    """Compare a table with its contract: what is clipped, what is outside the keys, who has too many rows."""
    require_one_form(as_json, as_csv)
    held = curator_of(curator)
    agreed = held.read_contract(Path(contract)) if _is_file(contract) else None
    fit = held.check_contract(agreed.table if agreed else contract, agreed)
    if as_json:
        show_json(fit.as_json())
    elif as_csv:
        show_csv(fit.grid())
    else:
        show_grids([fit.grid()])
        say("Raw shares, for the keeper's eyes.")
    if fit.problems:
        raise CheckFailedError(
            f"contract of {fit.table!r}",
            found=fit.problems[0],
            right="the table should keep to its contract",
            step="widen the contract, or accept what is clipped and say so in its notes",
        )


@app.command()
def show(
    table: TableName,
    form: Annotated[
        str | None,
        typer.Option("--form", metavar="FORM", help="As another tool reads it: smartnoise, csvw or croissant."),
    ] = None,
    curator: CuratorFolder = None,
) -> None:
    """Print a table's contract as YAML, or in the form of another tool."""
    agreed = curator_of(curator).contract(table)
    if agreed is None:
        raise ContractError(
            f"table {table!r}",
            found="it has no contract",
            right="assessing needs none, all else does",
            step=f"discreet contract draft {table}",
        )
    for warning in agreed.warnings:
        say(f"Note: {plain(warning)}")
    if form is None:
        show_text(agreed.to_yaml())
        return
    written = Curator.export_contract(agreed, form)
    show_text(written.text)
    _say_lost(written.lost)


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Metadata of another tool.")],
    form: Annotated[str, typer.Option("--form", metavar="FORM", help="Its form: smartnoise, csvw or croissant.")],
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Which table, where the file has several or no name.")
    ] = None,
) -> None:
    """Print the contract in another tool's metadata as YAML: a draft, for the keeper to check and declare."""
    taken = Curator.import_contract(file, form, table=table)
    show_text(taken.contract.to_yaml())
    _say_lost(taken.lost)


def _say_lost(lost: Sequence[str]) -> None:
    for one in lost:
        say(f"Note: {plain(one)}.")


@app.command()
def declare(
    contract: Annotated[Path, typer.Argument(metavar="YAML", help="The contract, as the keeper stands by it.")],
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who stands by a drafted contract.")] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="WHY", help="Why a drafted contract holds; needed with --by.")
    ] = None,
    other_persons: Annotated[
        str, typer.Option("--other-persons", metavar="WHY", help="Why another population than before is charged.")
    ] = "",
    curator: CuratorFolder = None,
) -> None:
    """Put a contract in force for the table it names. A draft needs --by and --reason."""
    if (by is None) != (reason is None):
        raise ArgumentError(
            "--by and --reason", found="one without the other", right="who and why go together", step="give both"
        )
    held = curator_of(curator)
    agreed = held.declare(held.read_contract(contract), by=by, reason=reason, other_persons=other_persons)
    for warning in agreed.warnings:
        say(f"Note: {plain(warning)}")
    say(f"The contract of {agreed.table} is in force. Next: discreet contract check {agreed.table}")
    if not held.has_budget(agreed):
        opening = f"discreet ledger open population {quote(agreed.whose)} --epsilon 3 --reason WHY"
        say(f"Questions need a budget: {opening}")
