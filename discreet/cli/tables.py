"""Commands on tables: init, add, assess."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import (
    AsCsv,
    AsJson,
    CuratorFolder,
    Delimiter,
    Encoding,
    Header,
    Html,
    Labels,
    Limit,
    Names,
    Nulls,
    Quasi,
    Sheet,
    TableName,
    curator_of,
    limits_of,
    names_of,
    reading_of,
    require_one_form,
)
from discreet.cli.render import progress, say, show_csv, show_grids, show_json, show_text, write_page
from discreet.curator import Curator
from discreet.draw.lettering import plain
from discreet.errors import ArgumentError
from discreet.evaluation.report import exposure_page

__all__ = ["add", "assess", "forget", "init", "refresh"]


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to keep everything.")] = Path(),
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", metavar="URL", help="A PostgreSQL database for the ledger; default: in the folder."),
    ] = None,
) -> None:
    """Make a curator's folder: it will hold tables, contracts, the ledger and releases."""
    made = Curator.create(folder, ledger=ledger)
    say(f"A curator's folder is ready in {made.folder}. Next: discreet add FILE")


def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, Arrow, Excel, SPSS, Stata or SAS.")],
    contract: Annotated[
        Path | None, typer.Option("--contract", metavar="YAML", help="The public facts about the table.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="The budget of the population, where the contract names none."),
    ] = None,
    delta: Annotated[str, typer.Option("--delta", metavar="D", help="The budget's δ.")] = "0",
    name: Annotated[str | None, typer.Option("--name", help="The table's name; default: the file's stem.")] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="WHY", help="Why a second population holds other persons.")
    ] = "",
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
    """Import a file as a table of the curator."""
    options = reading_of(
        nulls=nulls, delimiter=delimiter, encoding=encoding, names=names, header=header, sheet=sheet, labels=labels
    )
    limits = limits_of(limit)
    held = curator_of(curator)
    with progress(f"Adding {file.name}") as phase:
        record = held.add(
            file,
            contract=contract,
            epsilon=epsilon,
            delta=delta,
            name=name,
            reason=reason,
            options=options,
            limits=limits,
            progress=phase,
        )
    _say_notes(held, record.name)
    asked = "" if contract is None else f', or discreet ask "SELECT COUNT(*) FROM {record.name}" --epsilon 0.1'
    assessed = f"discreet assess {record.name} --quasi COLUMNS"
    say(f"Table {record.name} is in, version {record.version}. Next: {assessed}{asked}")


def refresh(
    table: TableName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Its new content.")],
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
    """Put new content in the place of a table's: its next version, read as the last one unless an option says else.

    What was spent stays spent.
    """
    held = curator_of(curator)
    options = reading_of(
        nulls=nulls,
        delimiter=delimiter,
        encoding=encoding,
        names=names,
        header=header,
        sheet=sheet,
        labels=labels,
        kept=held.record(table).options,
    )
    limits = limits_of(limit)
    with progress(f"Refreshing {table}") as phase:
        record = held.refresh(table, file, options=options, limits=limits, progress=phase)
    _say_notes(held, record.name)
    say(f"Table {record.name} is at version {record.version}.")


def forget(
    table: TableName,
    curator: CuratorFolder = None,
) -> None:
    """Take a person's rows out of a table. The person is read from standard input; no charge is taken back."""
    person = sys.stdin.readline().rstrip("\r\n")
    if not person:
        raise ArgumentError(
            "standard input",
            found="nothing",
            right="it holds the person as the contract's unit column has them",
            step=f"discreet forget {table} < FILE, so that no shell history keeps the name",
        )
    record = curator_of(curator).forget(table, person)
    say(f"Table {record.name} is at version {record.version}, without that person's rows if it had any.")


def assess(
    table: TableName,
    quasi: Quasi,
    sensitive: Annotated[str, typer.Option("--sensitive", metavar="A,B", help="Columns nobody should learn.")] = "",
    population: Annotated[
        str | None,
        typer.Option(
            "--population", metavar="N|TABLE", help="The population's size, or a table of the curator with it."
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight", metavar="COLUMN", help="How many people each record stands for.")
    ] = None,
    household: Annotated[
        str | None, typer.Option("--household", metavar="COLUMN", help="What ties records of one household together.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    html: Html = None,
    curator: CuratorFolder = None,
) -> None:
    """Show how exposed a table is to somebody who knows the quasi-identifiers. For the keeper's eyes."""
    require_one_form(as_json, as_csv)
    held = curator_of(curator)
    with progress(f"Assessing {table}") as phase:
        found = held.assess(table, names_of(quasi), sensitive=names_of(sensitive), progress=phase)
        risks = None
        if population or weight or household:
            size = int(population) if population and population.isdecimal() else population
            risks = held.disclosure(
                table, names_of(quasi), population=size, weight=weight, household=household, progress=phase
            )
    if held.source_changed(table):
        say(f"Note: the file {table} came from has changed since it was added; this speaks of the table as added.")
    if html is not None:
        write_page(exposure_page(table, found, risks), html)
    if as_json:
        show_json(found.as_json() | ({} if risks is None else {"disclosure": risks.as_json()}))
    elif as_csv:
        show_csv((found if risks is None else risks).grids()[0])
    elif html is None:
        show_text("\n".join((*found.sentences(), *(risks.sentences() if risks else ()))))
        show_grids((*found.grids(), *(risks.grids() if risks else ())))
        say("Raw figures, for the keeper's eyes: publishing them is a release of its own.")


def _say_notes(held: Curator, table: str) -> None:
    """Nothing is decided in silence: what the import made of the file is said."""
    for note in held.notes(table):
        say(f"Note: {plain(note)}.")
    agreed = held.contract(table)
    for warning in () if agreed is None else agreed.warnings:
        say(f"Note: {plain(warning)}")
