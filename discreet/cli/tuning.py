"""The command that tunes masks: tune."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.check import exact
from discreet.cli.copies import Sweeps, schedule_of
from discreet.cli.options import (
    AsJson,
    CuratorFolder,
    Family,
    Html,
    Pdf,
    TableName,
    Tolerances,
    curator_of,
    names_of,
    numbers_of,
)
from discreet.cli.render import progress, say, show_grids, show_json, show_text, write_page
from discreet.draw.lettering import plain
from discreet.evaluation.copies import GUARANTEE

__all__ = ["tune"]

_Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar='"Y ~ A + B"', help="An analysis whose intervals are to overlap; repeatable."),
]
_Rules = Annotated[
    list[str] | None, typer.Option("--rule", metavar="RULE", help="Kept by every row of every copy; repeatable.")
]
_Noises = Annotated[str, typer.Option("--noise", metavar="X,Y", help="The noises to try, in standard deviations.")]
_Limit = float | None


def tune(
    table: TableName,
    perturb: Annotated[str, typer.Option("--perturb", metavar="A,B", help="The columns to replace.")],
    model: _Models = None,
    family: Family = "ols",
    keys: Annotated[
        str, typer.Option("--keys", metavar="A,B", help="What an intruder knows; default: the columns to replace.")
    ] = "",
    tolerance: Tolerances = None,
    rule: _Rules = None,
    noise: _Noises = "0.1,0.25,0.5,1,2",
    copies: Annotated[str, typer.Option("--copies", metavar="M,N", help="The numbers of copies to try.")] = "3,20",
    risk_below: Annotated[
        _Limit,
        typer.Option("--risk-below", metavar="R", help="Make copies of which R of the persons are found at most."),
    ] = None,
    overlap_above: Annotated[
        _Limit, typer.Option("--overlap-above", metavar="O", help="Make copies whose intervals overlap by O at least.")
    ] = None,
    sweeps: Sweeps = "",
    alone: Annotated[bool, typer.Option("--alone", help="Leave out the methods that have no masks.")] = False,
    html: Html = None,
    pdf: Pdf = None,
    as_json: AsJson = False,
    curator: CuratorFolder = None,
) -> None:
    """Measure what copies keep and give away while their masks are turned, and make those asked for (method dami).

    Raw figures, for the keeper's eyes. MEASURED RISK, NOT DIFFERENTIAL PRIVACY.
    """
    with progress(f"Tuning {table}") as phase:
        found = curator_of(curator).tune(
            table,
            perturb=names_of(perturb),
            rules=rule or (),
            models=tuple(model or ()),
            family=family,
            keys=names_of(keys) or None,
            tolerances=numbers_of("--tolerance", tolerance),
            noises=tuple(float(exact("--noise", one)) for one in names_of(noise)),
            copies=tuple(int(exact("--copies", one)) for one in names_of(copies)),
            risk_below=risk_below,
            overlap_above=overlap_above,
            schedule=schedule_of(sweeps),
            beside=not alone,
            progress=phase,
        )
    if html is not None or pdf is not None:
        write_page(found.page(), html, pdf)
    if as_json:
        show_json(found.as_json())
    else:
        show_text("\n".join(found.sentences()))
        show_grids([found.frontier.grid()])
    for note in found.notes:
        say(f"Note: {plain(note)}.")
    say(f"{GUARANTEE.upper()}.")
    if found.copies is not None:
        say(f"Copies are kept as {found.copies.release}. Next: discreet evaluate {table} {found.copies.release}")
