"""Commands that attack: what an intruder would get out of a publication."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer

from discreet.attacking import Known
from discreet.attacks.finding import Finding, finding_page
from discreet.attacks.linear import Decoder
from discreet.attacks.noise_curve import NoiseKind, measure_noise
from discreet.attacks.possible import what_is_possible
from discreet.attacks.reconstruction.reading import read_publication
from discreet.attacks.reconstruction.result import reconstruct
from discreet.cli import intruders
from discreet.cli.options import AsJson, CuratorFolder, Html, TableOrFile, curator_of, names_of
from discreet.cli.render import progress, say, show_grids, show_json, show_text, write_page
from discreet.draw.lettering import plain
from discreet.randomness import keyed_generator

__all__ = ["app"]

app = typer.Typer(
    help="See what an intruder would get out of a publication.", no_args_is_help=True, rich_markup_mode=None
)

Table = Annotated[
    str | None,
    typer.Option("--table", metavar="TABLE", help="The table the release was made from; it judges the guesses."),
]
ControlFile = Annotated[
    Path | None,
    typer.Option("--control", metavar="FILE", help="People of the same kind whom the release was not made from."),
]
KnownColumns = Annotated[str, typer.Option("--known", metavar="A,B", help="The columns an intruder knows.")]
Secret = Annotated[str, typer.Option("--secret", metavar="COLUMN", help="The column an intruder wants to know.")]
Hierarchies = Annotated[
    Path | None,
    typer.Option("--hierarchies", metavar="DIR", help="What the names of groups in a file of records stand for."),
]
Guesses = Annotated[int, typer.Option("--guesses", metavar="N", help="How many guesses each attack makes.")]


@app.callback()
def _attack() -> None:
    """See what an intruder would get out of a publication."""


@app.command()
def reconstruction(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Published tables, as YAML or CSV.")],
    enough: Annotated[bool, typer.Option("--enough", help="Also find the smallest sets of rows that suffice.")] = False,
    most: Annotated[int, typer.Option("--most", metavar="N", help="List at most so many blocks.")] = 1000,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Time for each question to the solver.")
    ] = 60,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Find the records behind published counts, medians and means."""
    published = read_publication(file)
    with progress(f"Reconstructing {file.name}") as phase:
        found = reconstruct(published, find_enough=enough, most=most, seconds=seconds, progress=phase)
    _show(published.title, [("Reconstruction", found)], as_json, html)


@app.command()
def linear(
    people: Annotated[int, typer.Option("--people", metavar="N", help="How many people are invented.")] = 300,
    ratio: Annotated[int, typer.Option("--ratio", metavar="R", help="How many counts for each person.")] = 4,
    kind: Annotated[str, typer.Option("--noise", metavar="KIND", help="uniform or gaussian.")] = "uniform",
    decoder: Annotated[str, typer.Option("--decoder", metavar="NAME", help="squares or deviations.")] = "squares",
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Find secret bits from many noisy subset counts of invented people, for more and more noise."""
    with progress("Asking subset counts") as phase:
        curve = measure_noise(
            people=people,
            ratio=ratio,
            kind=cast(NoiseKind, kind),
            decoder=cast(Decoder, decoder),
            generator=keyed_generator(),
            progress=phase,
        )
    table = what_is_possible(max(people, 10))
    _show("Linear reconstruction", [("Noise curve", curve), ("What can still be done", table)], as_json, html)


@app.command()
def differencing(
    table: TableOrFile,
    secret: Annotated[str, typer.Option("--secret", metavar="CONDITION", help="Such as 'drugs = yes'.")] = "",
    known: KnownColumns = "",
    least: Annotated[int, typer.Option("--least", metavar="N", help="Counts below this are suppressed.")] = 1,
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="E", help="Noise worth ε on each count instead.")] = "",
    budget: Annotated[str, typer.Option("--budget", metavar="B", help="With --epsilon: ε over all counts.")] = "1",
    log: Annotated[
        Path | None,
        typer.Option(
            "--log", metavar="FILE", help="Instead: which questions of a log, one a line, tell of few people."
        ),
    ] = None,
    threshold: Annotated[int, typer.Option("--threshold", metavar="N", help="With --log: few is below this.")] = 5,
    as_json: AsJson = False,
    html: Html = None,
    curator: CuratorFolder = None,
) -> None:
    """Guess a secret from two counts about each person, or look for such pairs in a log of questions."""
    records = intruders.records(table, curator)
    if log is not None:
        found: Finding = intruders.detected(records, log, threshold)
    else:
        found = intruders.differenced(records, secret, names_of(known), least, epsilon, budget)
    _show(f"Differencing on {table}", [("Differencing", found)], as_json, html)


@app.command()
def averaging(
    table: TableOrFile,
    where: Annotated[str, typer.Option("--where", metavar="CONDITION", help="Whom to count.")] = "everyone",
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="E", help="What each answer costs.")] = "1",
    times: Annotated[int, typer.Option("--times", metavar="M", help="How often the count is asked.")] = 1000,
    as_json: AsJson = False,
    html: Html = None,
    curator: CuratorFolder = None,
) -> None:
    """Ask the same noisy count again and again, as if no budget stopped it. Nothing is charged: it stays here."""
    found = intruders.averaged(intruders.records(table, curator), where, epsilon, times)
    _show(f"Averaging on {table}", [("Averaging", found)], as_json, html)


@app.command()
def composition(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Anonymised tables of the same people.")],
    target: Annotated[str, typer.Option("--target", metavar="A=1,B=2", help="What is known of one person.")],
    secret: Secret,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Find what several anonymised tables together leave of one person's secret."""
    found = intruders.composed(files, target, secret)
    _show("Composition", [("Composition", found)], as_json, html)


@app.command()
def linkage(
    release: Annotated[
        str | None, typer.Argument(metavar="[RELEASE]", help="Copies or a file of records; without: invented ratings.")
    ] = None,
    table: Table = None,
    known: KnownColumns = "",
    hierarchies: Hierarchies = None,
    as_json: AsJson = False,
    html: Html = None,
    curator: CuratorFolder = None,
) -> None:
    """Link people of a table to released records by what is known of them; or people to ratings, by a few of them."""
    with progress("Linking") as phase:
        if release is None:
            findings: list[tuple[str, Finding]] = [("Linkage by ratings", intruders.linked_ratings(phase))]
        else:
            asked = Known(columns=names_of(known), hierarchies=hierarchies)
            attacked = curator_of(curator).attack(release, table=table, known=asked)
            findings = list(attacked.findings)
    _show("Linkage", findings, as_json, html)


@app.command()
def membership(
    release: Annotated[
        str | None,
        typer.Argument(metavar="[RELEASE]", help="Copies or a file of records; without: means of invented people."),
    ] = None,
    table: Table = None,
    control: ControlFile = None,
    secret: Secret = "",
    guesses: Guesses = 500,
    rho: Annotated[str, typer.Option("--rho", metavar="R", help="Without RELEASE: noise worth ρ on the means.")] = "",
    as_json: AsJson = False,
    html: Html = None,
    curator: CuratorFolder = None,
) -> None:
    """Find who is in the data, singled out, linked or inferred from a release; or who is in published means."""
    with progress("Tracing") as phase:
        if release is None:
            findings: list[tuple[str, Finding]] = [("Tracing in means", intruders.traced(rho))]
        else:
            asked = Known(secret=secret or None, guesses=guesses)
            attacked = curator_of(curator).attack(release, table=table, control=control, known=asked, progress=phase)
            findings = list(attacked.findings)
            _say_left_out(attacked.left_out)
    _show("Membership", findings, as_json, html)


@app.command(name="all")
def everything(
    releases: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASE...", help="Copies, protected tables, files of records, or published tables in YAML."
        ),
    ],
    table: Table = None,
    control: ControlFile = None,
    known: KnownColumns = "",
    secret: Secret = "",
    hierarchies: Hierarchies = None,
    guesses: Guesses = 500,
    as_json: AsJson = False,
    html: Html = None,
    curator: CuratorFolder = None,
) -> None:
    """Run every attack that fits on what is to be published."""
    asked = Known(columns=names_of(known), secret=secret or None, guesses=guesses, hierarchies=hierarchies)
    with progress("Attacking") as phase:
        attacked = curator_of(curator).attack(*releases, table=table, control=control, known=asked, progress=phase)
    _say_left_out(attacked.left_out)
    _show(f"What an intruder gets from {', '.join(releases)}", attacked.findings, as_json, html)


def _say_left_out(reasons: Sequence[str]) -> None:
    for reason in reasons:
        say(f"Not attacked: {plain(reason)}.")


def _show(title: str, findings: Sequence[tuple[str, Finding]], as_json: bool, html: Path | None) -> None:
    """Findings as JSON, as a page, or as sentences and tables."""
    if html is not None and findings:
        write_page(finding_page(title, findings), html, note="It shows what an intruder finds: keep it to yourself.")
    if as_json:
        values = [{"name": name, **finding.as_json()} for name, finding in findings]
        show_json(values[0] if len(values) == 1 else values)
    elif html is None:
        for name, finding in findings:
            heading = [f"{plain(name[0].upper() + name[1:])}:"] if len(findings) > 1 else []
            show_text("\n".join([*heading, *finding.sentences()]))
            show_grids(finding.grids())
