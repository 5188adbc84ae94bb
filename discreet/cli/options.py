"""Options that several commands share, and the curator they act on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.check import exact
from discreet.curator import Curator, Limits, ReadOptions
from discreet.errors import ArgumentError

__all__ = [
    "Analyst",
    "AsCsv",
    "AsJson",
    "CuratorFolder",
    "Delimiter",
    "Delta",
    "Encoding",
    "Epsilon",
    "Family",
    "Header",
    "Html",
    "Keyring",
    "Labels",
    "Limit",
    "Names",
    "Nulls",
    "Pdf",
    "Project",
    "Quasi",
    "ReceiptFile",
    "Rho",
    "Sheet",
    "TableName",
    "TableOrFile",
    "Tolerances",
    "curator_of",
    "limits_of",
    "names_of",
    "numbers_of",
    "reading_of",
    "require_one_form",
]

TableName = Annotated[str, typer.Argument(metavar="TABLE", help="A table of the curator.")]
TableOrFile = Annotated[str, typer.Argument(metavar="TABLE", help="A table of the curator, or a file of records.")]
ReceiptFile = Annotated[Path, typer.Argument(metavar="FILE", help="The receipt of a release.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write an offline page with charts.")]
Pdf = Annotated[Path | None, typer.Option("--pdf", metavar="FILE", help="Write the same page as PDF.")]
Keyring = Annotated[
    Path | None,
    typer.Option("--keyring", metavar="FILE", help="The published keyring; default: the curator's own."),
]
Quasi = Annotated[str, typer.Option("--quasi", metavar="A,B,C", help="Columns an intruder could know about a person.")]
Tolerances = Annotated[
    list[str] | None,
    typer.Option("--tolerance", metavar="A=2", help="How far a number may lie off and match; repeatable."),
]
Family = Annotated[str, typer.Option("--family", metavar="NAME", help="ols, logit, probit or poisson.")]
Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="E", help="What to spend.")]
Delta = Annotated[
    str | None,
    typer.Option("--delta", metavar="D", help="A δ to spend too: for Gaussian noise, and for keys to be found."),
]
Rho = Annotated[str | None, typer.Option("--rho", metavar="R", help="What to spend from an account in ρ.")]
Analyst = Annotated[str | None, typer.Option("--analyst", metavar="A", help="Whose account is charged too.")]
Project = Annotated[str | None, typer.Option("--project", metavar="P", help="Which project's account is charged too.")]
CuratorFolder = Annotated[
    Path | None,
    typer.Option("--curator", metavar="DIR", help="The curator's folder; default: the one that holds this directory."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Nulls = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TOKEN", help="What means missing beside the empty field, such as NA; repeatable."),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="SIGN", help="What parts a text file's fields, where its header leaves doubt."),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="A text file's: utf-8 (default), utf-16, latin-1 or windows-1252."),
]
Names = Annotated[str, typer.Option("--names", metavar="A,B", help="The columns of a text file without a header.")]
Header = Annotated[
    bool, typer.Option("--header", help="The first line names the columns, although names in it look like numbers.")
]
Sheet = Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="Which sheet of a workbook.")]
Limit = Annotated[
    list[str] | None,
    typer.Option("--limit", metavar="NAME=N", help="Raise a limit of the import, such as columns=5000; repeatable."),
]
Labels = Annotated[bool, typer.Option("--labels", help="Read value labels instead of codes (SPSS, Stata, SAS).")]


def curator_of(folder: Path | None) -> Curator:
    """The curator named by --curator, or the one whose folder holds the working directory."""
    return Curator.find() if folder is None else Curator.open(folder)


def limits_of(given: list[str] | None) -> Limits:
    """The limits of the import, with those raised that were given."""
    return Limits.of(given or ())


def names_of(listed: str) -> tuple[str, ...]:
    """The names in a list such as age,sex,zip."""
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def numbers_of(option: str, given: list[str] | None) -> dict[str, float]:
    """The numbers by name in a repeated option such as --tolerance age=2."""
    found = {}
    for text in given or ():
        name, sign, value = text.rpartition("=")
        if not sign or not name:
            raise ArgumentError(
                option, found=f"{text!r}", right="a column, = and a number", step=f"give {option} age=2"
            )
        found[name] = float(exact(f"{option} of {name}", value))
    return found


def reading_of(
    *,
    nulls: list[str] | None,
    delimiter: str | None,
    encoding: str | None,
    names: str,
    header: bool,
    sheet: str | None,
    labels: bool,
    kept: ReadOptions = ReadOptions(),  # noqa: B008  a frozen value
) -> ReadOptions:
    """How a file is to be read, where it does not say so itself: as said here, and for the rest as `kept`."""
    said: dict[str, Any] = {
        "nulls": tuple(nulls or ()),
        "delimiter": "\t" if delimiter == "\\t" else delimiter,
        "encoding": encoding,
        "names": names_of(names),
        "header": header,
        "sheet": sheet,
        "labels": labels,
    }
    if names or header:
        kept = replace(kept, names=None, header=False)  # either takes the place of the other
    return replace(kept, **{name: value for name, value in said.items() if value})


def require_one_form(as_json: bool, as_csv: bool) -> None:
    """Refuse two forms at once."""
    if as_json and as_csv:
        raise ArgumentError("--json and --csv", found="both", right="one form at a time", step="leave one of them out")
