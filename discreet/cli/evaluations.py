"""The command that evaluates copies: evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.check import one_of
from discreet.cli.options import (
    AsJson,
    CuratorFolder,
    Family,
    Html,
    Nulls,
    Pdf,
    Tolerances,
    curator_of,
    names_of,
    numbers_of,
    reading_of,
)
from discreet.cli.render import progress, say, show_grids, show_json, show_text, write_page
from discreet.curator import Curator, ReadOptions
from discreet.evaluation.copies import GUARANTEE, Copies, Evaluation, evaluate
from discreet.evaluation.copies_report import copies_page, evaluation_grids
from discreet.stats.survey import Sampling

__all__ = ["evaluate_copies"]


_Models = Annotated[
    list[str] | None, typer.Option("--model", metavar='"Y ~ A + B"', help="An analysis to compare; repeatable.")
]
_Holdout = Annotated[
    Path | None, typer.Option("--holdout", metavar="FILE", help="Records that the copies were not made from.")
]
_Design = Annotated[
    list[str] | None,
    typer.Option(
        "--design",
        metavar="PART=A",
        help="A column of the survey's design: weight=A, stratum=A or cluster=A; repeatable. Default: the contract's.",
    ),
]


def evaluate_copies(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="A table of the curator, or a file.")],
    copies: Annotated[
        list[str], typer.Argument(metavar="COPIES...", help="Files in row order, or copies that the curator keeps.")
    ],
    model: _Models = None,
    family: Family = "ols",
    keys: Annotated[
        str, typer.Option("--keys", metavar="A,B", help="What an intruder knows; default: the columns that changed.")
    ] = "",
    tolerance: Tolerances = None,
    sensitive: Annotated[str, typer.Option("--sensitive", metavar="A,B", help="Columns an intruder guesses.")] = "",
    groups: Annotated[str, typer.Option("--groups", metavar="A", help="A column to show the risk by.")] = "",
    holdout: _Holdout = None,
    rule: Annotated[str, typer.Option("--rule", metavar="NAME", help="How estimates are pooled.")] = "partial",
    interactions: Annotated[
        bool, typer.Option("--interactions", help="Also a logistic classifier with interactions.")
    ] = False,
    design: _Design = None,
    nulls: Nulls = None,
    html: Html = None,
    pdf: Pdf = None,
    as_json: AsJson = False,
    curator: CuratorFolder = None,
) -> None:
    """Show what copies of a table keep (utility) and give away (risk), beside baselines. For the keeper's eyes."""
    options = reading_of(nulls=nulls, delimiter=None, encoding=None, names="", header=False, sheet=None, labels=False)
    asked: dict[str, Any] = {
        "model": tuple(model or ()),
        "family": family,
        "keys": names_of(keys) or None,
        "tolerances": numbers_of("--tolerance", tolerance),
        "sensitive": names_of(sensitive),
        "groups": groups or None,
        "rule": rule,
        "interactions": interactions,
        "sampling": _design_of(design),
    }
    with progress("Evaluating") as phase:
        phase("reading files")
        made = _made(copies, options, curator)
        if holdout is not None:
            asked["holdout"] = Curator.rows_of(holdout, options=options)
        if Path(original).is_file():
            rows = Curator.rows_of(original, options=options)
            found = evaluate(rows, made, table=Path(original).name, progress=phase, **asked)
        else:
            found = curator_of(curator).evaluate(original, made, progress=phase, **asked)
    _show(found, html, pdf, as_json)


def _made(names: list[str], options: ReadOptions, curator: Path | None) -> Copies | list[Any]:
    """Copies that the curator keeps, by the name of their release, or those in files."""
    if len(names) == 1 and not Path(names[0]).exists():
        return curator_of(curator).made_copies(names[0])
    return [Curator.rows_of(file, options=options) for file in names]


def _design_of(given: list[str] | None) -> Sampling | None:
    """The design of a survey out of PART=COLUMN."""
    if not given:
        return None
    parts = {}
    for text in given:
        part, _, name = text.partition("=")
        parts[one_of("--design", part, ("weight", "stratum", "cluster", "household"))] = name
    return Sampling(**parts)


def _show(found: Evaluation, html: Path | None, pdf: Path | None, as_json: bool) -> None:
    if html is not None or pdf is not None:
        write_page(copies_page(found), html, pdf)
    if as_json:
        show_json(found.as_json())
    elif html is None and pdf is None:
        show_text("\n".join(found.sentences()))
        show_grids(evaluation_grids(found))
        say(f"These copies are {GUARANTEE.upper()}.")
        say("Raw figures, for the keeper's eyes: publishing them is a release of its own.")
