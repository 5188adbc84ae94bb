"""Commands that protect the classical way: protect, publish-protected, protect-table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.anonymize.cellkey import Chances
from discreet.check import known
from discreet.cli.options import (
    AsCsv,
    AsJson,
    CuratorFolder,
    Html,
    Quasi,
    TableName,
    curator_of,
    names_of,
    numbers_of,
    require_one_form,
)
from discreet.cli.render import progress, say, show_csv, show_grids, show_json, show_text, write_page
from discreet.curator import Curator
from discreet.draw.grid import Grid
from discreet.errors import ArgumentError

__all__ = ["protect", "protect_table", "publish_protected"]

_METHODS = ("optimal", "local", "mondrian", "suppress")

Hierarchies = Annotated[
    Path | None,
    typer.Option("--hierarchies", metavar="DIR", help="A folder with one hierarchy a column: age.csv, zip.yaml, ...."),
]


def protect(
    table: TableName,
    quasi: Quasi = "",
    k: Annotated[int, typer.Option("--k", metavar="K", help="Records that look alike, at least.")] = 5,
    l_: Annotated[
        int | None, typer.Option("--l", metavar="L", help="Distinct sensitive values in every class, at least.")
    ] = None,
    t: Annotated[
        float | None,
        typer.Option("--t", metavar="T", help="How far a class's sensitive values may lie from the table's."),
    ] = None,
    sensitive: Annotated[str, typer.Option("--sensitive", metavar="S", help="The column nobody should learn.")] = "",
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="optimal (default), local, mondrian or suppress.")
    ] = "optimal",
    limit: Annotated[
        float, typer.Option("--limit", metavar="SHARE", help="Records that optimal may leave out.")
    ] = 0.05,
    hierarchies: Hierarchies = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="Run the steps of a plan file instead.")
    ] = None,
    html: Html = None,
    as_json: AsJson = False,
    curator: CuratorFolder = None,
) -> None:
    """Generalise or suppress until records look alike, and keep the result. Measured risk, not a guarantee."""
    held = curator_of(curator)
    asked: Any = plan
    if plan is None:
        if method not in _METHODS:
            raise ArgumentError(
                "--method", found=f"{method}", right=f"it is one of {', '.join(_METHODS)}", step="choose one of these"
            )
        if not names_of(quasi):
            raise ArgumentError(
                "--quasi", found="nothing", right="it names the columns known outside", step="give --quasi age,sex,zip"
            )
        if method == "suppress" and (l_ is not None or t is not None):
            raise ArgumentError(
                "--method suppress", found="--l or --t", right="suppression knows k alone", step="choose another method"
            )
        asked = [_step(names_of(quasi), k, l_, t, sensitive, method, limit)]
    with progress(f"Protecting {table}"):
        made = held.protect(table, asked, hierarchies=hierarchies, quasi=names_of(quasi))
    if html is not None:
        write_page(made.effect.page(), html)
    if as_json:
        show_json({"release": made.release, **made.effect.as_json()})
    elif html is None:
        show_text("\n".join(made.effect.sentences()))
        show_grids(made.effect.grids())
    say(f"Kept as {made.release}, with its plan. Measured risk: no ε bounds what it gives away.")
    say(f"Next: discreet publish-protected {made.release} FILE")


def publish_protected(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release that discreet protect made.")],
    into: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file to write.")],
    curator: CuratorFolder = None,
) -> None:
    """Write a protected table to a file, after noting in the ledger that it leaves outside the guarantee."""
    written = curator_of(curator).publish_protected(release, into)
    say(f"Noted in the ledger as outside the guarantee, and written to {written}.")


def protect_table(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Contributions, one a line: CSV, Parquet, Excel, ....")],
    rule: Annotated[
        list[str] | None, typer.Option("--rule", metavar="RULE", help="p:10, nk:1,80 or threshold:5; repeatable.")
    ] = None,
    base: Annotated[
        float | None, typer.Option("--round", metavar="BASE", help="Instead: round every total to multiples of this.")
    ] = None,
    identity: Annotated[
        str,
        typer.Option(
            "--cell-keys",
            metavar="COLUMN",
            help="Instead: change counts a little, alike wherever the same records are counted; what names a record.",
        ),
    ] = "",
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--change", metavar="NAME=N", help="With --cell-keys: most=5, variance=2 or small=0 (default); repeatable."
        ),
    ] = None,
    value: Annotated[
        str, typer.Option("--value", metavar="COLUMN", help="What is added up; without it lines are counted.")
    ] = "",
    by: Annotated[str, typer.Option("--by", metavar="A,B", help="The columns of the table; default: all others.")] = "",
    holder: Annotated[str, typer.Option("--holder", metavar="COLUMN", help="Whose a contribution is.")] = "",
    hierarchies: Hierarchies = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    curator: CuratorFolder = None,
) -> None:
    """Publish a table of totals without the cells that give somebody away; or rounded; or with changed counts."""
    require_one_form(as_json, as_csv)
    spanned: dict[str, Any] = {"by": names_of(by), "hierarchies": hierarchies}
    _require_one_way(rule, base, identity, changes, value or holder)
    if rule:
        _suppress(file, rule, spanned | {"value": value or None, "holder": holder or None}, as_json, as_csv)
    elif base is not None:
        with progress(f"Rounding {file.name}"):
            rounded = Curator.round_table(file, base, value=value or None, **spanned)
        _show_table(rounded, as_json, as_csv)
        say("Rounded, and adding up. Measured risk: another base, or the table's next edition, narrows it down.")
    else:
        with progress(f"Counting {file.name}"):
            changed = curator_of(curator).change_table(file, identity, changes=_changes(changes), **spanned)
        _show_table(changed, as_json, as_csv)
        say("Changed by cell keys: asking again gives the same. Measured risk: many splits of a count average it out.")


def _suppress(file: Path, rules: list[str], asked: dict[str, Any], as_json: bool, as_csv: bool) -> None:
    with progress(f"Protecting {file.name}"):
        made = Curator.protect_table(file, rules, **asked)
    made.audit.require_safe()
    if not (as_json or as_csv):
        show_text(made.pattern.sentence)
    _show_table(made.pattern.grid(), as_json, as_csv)
    if not (as_json or as_csv):
        show_grids([made.pattern.summary()])
    say("Audited: no hidden cell can be computed within its rule. Measured risk: other tables of the same data count.")


def _require_one_way(
    rules: list[str] | None, base: float | None, identity: str, changes: list[str] | None, value: str
) -> None:
    given = [
        name
        for name, is_given in (("--rule", rules), ("--round", base is not None), ("--cell-keys", identity))
        if is_given
    ]
    if len(given) != 1:
        raise ArgumentError(
            "protect-table",
            found=" and ".join(given) or "neither --rule nor --round nor --cell-keys",
            right="cells are left out by rules, or rounded, or changed by keys",
            step="give one of them, such as --rule p:10",
        )
    if not identity and changes:
        raise ArgumentError(
            "--change", found="no --cell-keys", right="it says how cell keys change counts", step="give --cell-keys too"
        )
    if identity and value:
        raise ArgumentError(
            "--cell-keys", found="--value or --holder", right="keys change counts of records", step="leave these out"
        )


def _changes(given: list[str] | None) -> Chances:
    numbers = numbers_of("--change", given)
    for name in numbers:
        known("--change", name, ("most", "variance", "small"), step="give --change variance=3")
    whole: dict[str, Any] = {name: int(one) if one.is_integer() else one for name, one in numbers.items()}
    return Chances(**whole)


def _show_table(grid: Grid, as_json: bool, as_csv: bool) -> None:
    if as_json:
        show_json([dict(zip((column.name for column in grid.columns), row, strict=True)) for row in grid.rows])
    elif as_csv:
        show_csv(grid)
    else:
        show_grids([grid])


def _step(
    quasi: tuple[str, ...], k: int, l_: int | None, t: float | None, sensitive: str, method: str, limit: float
) -> dict[str, dict[str, Any]]:
    if method == "suppress":
        return {"suppress": {"quasi": list(quasi), "k": k}}
    step: dict[str, Any] = {"quasi": list(quasi), "k": k, "method": method}
    asked = {"l": l_, "t": t, "sensitive": sensitive or None, "limit": limit if method == "optimal" else None}
    return {"generalize": step | {name: given for name, given in asked.items() if given is not None}}
