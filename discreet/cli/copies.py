"""Commands on copies: make them, publish them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.check import exact
from discreet.cli.options import CuratorFolder, TableName, curator_of, names_of, numbers_of
from discreet.cli.render import progress, say, show_text
from discreet.copying import HeldCopies, Masking, Schedule, Settings
from discreet.draw.lettering import plain
from discreet.errors import ArgumentError
from discreet.evaluation.copies import GUARANTEE

__all__ = ["Sweeps", "copies", "publish_copies", "schedule_of"]

Into = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="A new folder for the files.")]
Form = Annotated[str, typer.Option("--format", metavar="FORM", help="csv, parquet, spss or stata.")]
_Rules = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="RULE", help="Kept by every row, as 'married requires age >= 15'; repeatable."),
]
_Order = Annotated[str, typer.Option("--order", metavar="A,B", help="In which order trees and regressions draw them.")]
_Improper = Annotated[
    bool, typer.Option("--improper", help="Parameters as fitted, not drawn anew for each copy (trees, regressions).")
]
_Masks = Annotated[
    list[str] | None,
    typer.Option(
        "--mask",
        metavar="COLUMN=X",
        help="For dami: noise of X standard deviations, or X the chance that a level stays; with --by-risk one for all "
        "or three, as age=0.25,1,2; repeatable.",
    ),
]
_Noise = Annotated[
    float | None,
    typer.Option("--noise", metavar="X", help="For dami: one noise for the masks of all columns, as `tune` finds it."),
]
_Fixed = Annotated[
    bool, typer.Option("--fixed-masks", help="For dami: the same masks in every copy. Safer, and intervals too short.")
]
_ByRisk = Annotated[
    str, typer.Option("--by-risk", metavar="A,B", help="For dami: wider masks for records that are rare by these keys.")
]
_Within = Annotated[
    list[str] | None,
    typer.Option("--within", metavar="A=2", help="How near a number among these keys looks the same; repeatable."),
]
Sweeps = Annotated[
    str,
    typer.Option(
        "--sweeps",
        metavar="B,T",
        help="For dami, where its note says that chains do not agree: B sweeps before the first draw, T to the next; "
        "default 1000,50.",
    ),
]
_Restart = Annotated[bool, typer.Option("--restart", help="For dami: forget a run that was broken off, begin anew.")]
_Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Draw the same copies again: for tests, never to publish.")
]
_Epsilon = Annotated[
    str | None, typer.Option("--epsilon", metavar="E", help="Refused: copies are measured risk and have no ε.")
]


def copies(
    table: TableName,
    method: Annotated[
        str, typer.Option("--method", metavar="M", help="cart, normlogit, parametric, dami, selective or weighted.")
    ] = "cart",
    perturb: Annotated[
        str, typer.Option("--perturb", metavar="A,B", help="The columns to replace; default: all.")
    ] = "",
    number: Annotated[int, typer.Option("--copies", metavar="M", help="How many.")] = 20,
    rule: _Rules = None,
    order: _Order = "",
    improper: _Improper = False,
    mask: _Masks = None,
    noise: _Noise = None,
    fixed: _Fixed = False,
    by_risk: _ByRisk = "",
    within: _Within = None,
    sweeps: Sweeps = "",
    restart: _Restart = False,
    out: Into = None,
    form: Form = "csv",
    seed: _Seed = None,
    epsilon: _Epsilon = None,
    curator: CuratorFolder = None,
) -> None:
    """Make copies of a table in which columns are drawn anew. MEASURED RISK, NOT DIFFERENTIAL PRIVACY.

    They stay in the curator's folder. --out also writes the keeper's files, to look at before publish-copies. A long
    run by dami that is broken off is taken up again by the same command.
    """
    held = curator_of(curator)
    masking = Masking(
        masks=dict(_mask(one) for one in mask or ()),
        noise=noise,
        fixed=fixed,
        quasi=names_of(by_risk),
        within=numbers_of("--within", within),
        schedule=schedule_of(sweeps),
        restart=restart,
    )
    with progress(f"Copying {table}") as phase:
        made = held.copies(
            table,
            method=method,
            perturb=names_of(perturb) or None,
            copies=number,
            rules=rule or (),
            masks=None if masking == Masking() else masking,
            settings=Settings(order=names_of(order) or None, proper=not improper),
            seed=seed,
            epsilon=epsilon,
            progress=phase,
        )
    _tell(made, out, form)


def publish_copies(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="Copies that were made before.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder for the files.")],
    form: Form = "csv",
    curator: CuratorFolder = None,
) -> None:
    """Publish copies: the ledger notes it outside the guarantee, and every later receipt names it."""
    found = curator_of(curator).publish_copies(release, out, form=form)
    say(f"{GUARANTEE.upper()}. Noted in the ledger, outside the guarantee.")
    say(f"{len(found.files)} files are in {found.folder}.")


def _tell(made: HeldCopies, out: Path | None, form: str) -> None:
    for note in made.notes:
        say(f"Note: {plain(note)}.")
    if out is not None:
        made.export(out, form=form)
        say(f"Written to {out}: for your eyes until they are published.")
    say(
        f"{made.guarantee.upper()}. {len(made)} copies are kept. Next: discreet publish-copies {made.release} --out DIR"
    )
    show_text(made.release)


def schedule_of(sweeps: str) -> Schedule | None:
    """How long chains run, out of B,T; None for as long as is usual."""
    if not sweeps:
        return None
    counts = [int(exact("--sweeps", one)) for one in sweeps.split(",")]
    if len(counts) != 2:
        raise ArgumentError("--sweeps", found=f"{sweeps!r}", right="two whole numbers", step="give --sweeps 3000,200")
    return Schedule(burn=counts[0], thin=counts[1])


def _mask(text: str) -> tuple[str, float | tuple[float, ...]]:
    """A column and its mask out of COLUMN=X, or its masks by risk group out of COLUMN=X,Y,Z."""
    name, _, strength = text.rpartition("=")
    given = tuple(float(exact("--mask", one)) for one in strength.split(","))
    return name, given[0] if len(given) == 1 else given
