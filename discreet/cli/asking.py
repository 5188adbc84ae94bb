"""The commands ask, bounds and replay: questions in SQL, and a shell of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.asking import Batch
from discreet.cli.options import (
    Analyst,
    AsCsv,
    AsJson,
    CuratorFolder,
    Delta,
    Epsilon,
    Project,
    Rho,
    curator_of,
    require_one_form,
)
from discreet.cli.render import progress, say, show_csv, show_grids, show_json, show_text
from discreet.cli.statements import statements
from discreet.errors import ArgumentError
from discreet.query.answer import Answer
from discreet.query.export import FORMS, require_saveable

__all__ = ["ask", "bounds", "replay", "show_answers", "show_estimate"]

_WHOLE = (".yaml", ".py")  # hold all questions that were asked together
Above = Annotated[
    str | None,
    typer.Option("--above", metavar="E", help="An ε beside: for the share of persons with more rows than count."),
]
Wanted = Annotated[
    str | None,
    typer.Option("--error", metavar="W", help="Instead of a budget: the least that makes every ± at most W."),
]
Supposed = Annotated[
    str | None, typer.Option("--rows", metavar="N", help="With --error: how many rows to suppose in a cell, for means.")
]
Clip = Annotated[
    str | None,
    typer.Option("--clip", metavar="HOW", help="quantile: cut values off at a released one, for wide bounds."),
]
Save = Annotated[
    list[Path] | None,
    typer.Option("--save", metavar="FILE", help=f"Write the answer too, as {', '.join(FORMS)}; repeatable."),
]
EstimateOnly = Annotated[bool, typer.Option("--estimate", help="Cost, what stays, and the errors to expect; free.")]


def ask(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SQL]...",
            help="A SELECT, or several that are charged together; without one a shell opens on a terminal.",
        ),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    analyst: Analyst = None,
    project: Project = None,
    above: Above = None,
    error: Wanted = None,
    rows: Supposed = None,
    clip: Clip = None,
    dummy: Annotated[bool, typer.Option("--dummy", help="Invented numbers of the same shape; free.")] = False,
    estimate: EstimateOnly = False,
    explain: Annotated[bool, typer.Option("--explain", help="Every way to measure it, with its error; free.")] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    files: Save = None,
    curator: CuratorFolder = None,
) -> None:
    """Ask a table in SQL: charged, then answered under differential privacy with the error of every number.

    The shell keeps what was typed in ~/.local/state/discreet/history, for your eyes only; DISCREET_HISTORY=off stops
    it.
    """
    require_one_form(as_json, as_csv)
    mode = _mode(dummy=dummy, estimate=estimate, explain=explain)
    held = curator_of(curator)
    form = "json" if as_json else "csv" if as_csv else ""
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho, "above": above}
    budget |= {"error": error, "rows": rows, "clip": clip, "analyst": analyst, "project": project}
    if not texts and sys.stdin.isatty() and sys.stdout.isatty():
        from discreet.cli.shell import Settings, open_shell  # a shell's library is not for every command

        open_shell(held, Settings(mode=mode, form=form, **budget))
        return
    asked = _asked(texts or [sys.stdin.read()])
    _require_places(files or [], several=len(asked) > 1, free=mode in ("estimate", "explain"))
    batch = held.ask(*asked, **budget)
    if mode in ("estimate", "explain"):
        show_estimate(batch, every=explain, form=form)
        return
    with progress("Asking"):
        answers = batch.dummies() if dummy else batch.run()
    show_answers(answers, form=form)
    _save(answers, files or [])


def bounds(
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A column of numbers, or TABLE.COLUMN.")],
    epsilon: Epsilon = None,
    rho: Rho = None,
    analyst: Analyst = None,
    project: Project = None,
    estimate: EstimateOnly = False,
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="FILE", help="Write the contract with these bounds there, to be declared."),
    ] = None,
    as_json: AsJson = False,
    curator: CuratorFolder = None,
) -> None:
    """Find bounds of a column privately: charged, and says how to put them in the contract."""
    held = curator_of(curator)
    table, name = held.column_of(column)
    if into is not None and into.exists():
        raise ArgumentError(
            "--into", found="a file that is there already", right="it is a new file", step="name another"
        )
    if estimate:
        asked = held.bounds_question(table, name, epsilon=epsilon, rho=rho, analyst=analyst, project=project)
        show_estimate(asked, form="json" if as_json else "")
        return
    with progress("Looking for bounds"):
        found = held.bounds(table, name, epsilon=epsilon, rho=rho, analyst=analyst, project=project)
    if as_json:
        show_json(found.as_json())
    else:
        show_text("\n".join(found.sentences()))
    if into is not None and found.found:
        into.write_text(found.contract().to_yaml(), encoding="utf-8")
        say(f"Next: discreet contract declare {into}")


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `discreet ask … --save FILE.yaml` wrote.")],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    files: Save = None,
    curator: CuratorFolder = None,
) -> None:
    """Give the answers of a saved script again, from the ledger; never spends anything."""
    require_one_form(as_json, as_csv)
    _require_places(files or [], several=False, free=False)
    answers = curator_of(curator).replay(file)
    show_answers(answers, form="json" if as_json else "csv" if as_csv else "")
    _save(answers, files or [])


def show_answers(answers: Sequence[Answer], *, form: str = "") -> None:
    """Answers as tables for people, as JSON or as CSV; what a reader must know goes beside them."""
    if form == "json":
        every: list[Any] = [answer.as_json() for answer in answers]
        show_json(every if len(every) > 1 else every[0])
    elif form == "csv":
        for at, answer in enumerate(answers):
            show_text("") if at else None
            show_csv(answer.full_grid())
    else:
        show_grids([answer.grid() for answer in answers])
    for sentence in dict.fromkeys(line for answer in answers for line in answer.sentences()):
        say(sentence)
    if answers[0].receipt is not None and not form:
        say("Its signed receipt is in --json; --save FILE.receipt writes it, discreet verify receipt FILE checks it.")


def show_estimate(batch: Batch, *, every: bool = False, form: str = "") -> None:
    """What it would cost, and the errors to expect."""
    found = batch.estimate()
    if form == "json":
        show_json(found.as_json())
    elif form == "csv":
        show_csv(found.grid(every=every))
    elif every:
        show_grids([found.grid(every=True)])
        show_text("\n".join(found.costs()))
    else:
        show_text("\n".join(found.sentences()))


def _asked(texts: Sequence[str]) -> tuple[str, ...]:
    asked = tuple(one for text in texts for one in statements(text))
    if not asked:
        raise ArgumentError(
            "query", found="nothing", right="a question is one SELECT", step='discreet ask "SELECT …" --epsilon 0.5'
        )
    return asked


def _mode(*, dummy: bool, estimate: bool, explain: bool) -> str:
    chosen = [name for name, given in (("dummy", dummy), ("estimate", estimate), ("explain", explain)) if given]
    if len(chosen) > 1:
        raise ArgumentError(
            "--dummy, --estimate, --explain", found="several", right="one at a time", step="leave the others out"
        )
    return chosen[0] if chosen else "run"


def _require_places(files: Sequence[Path], *, several: bool, free: bool) -> None:
    """Refuse what could not be written before anything is spent."""
    if free and files:
        raise ArgumentError("--save", found="an estimate", right="it saves answers", step="leave it out, or use --json")
    for file in files:
        require_saveable(file)
        if several and file.suffix not in _WHOLE:
            raise ArgumentError(
                "--save",
                found=f"one file {file.suffix} for several answers",
                right=f"{' and '.join(_WHOLE)} hold all of them, the other forms one each",
                step="ask one after the other, or print all with --json",
            )


def _save(answers: Sequence[Answer], files: Sequence[Path]) -> None:
    for file in files:
        say(f"Saved: {answers[0].save(file)}")
