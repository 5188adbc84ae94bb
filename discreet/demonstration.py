"""The demonstration: the main job on bundled public data, in one call.

The data are the NIST excerpt of the American Community Survey 2019, a work of the United States Government in the
public domain: 27,253 people in 20 areas. They stand in for the confidential table of a statistical office, which is
asked a question in SQL under differential privacy. A teaching table of 24 people is then attacked in four ways, as it
is usually published and under differential privacy. The office's folder stays, so that whoever looks on can ask on.

A section of the report is a function of the curator that gives sentences and blocks; they stand in `_SECTIONS` in the
order in which they are shown.
"""

from __future__ import annotations

import contextlib
import csv
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from discreet.attacks.condition import parse_clause, read_value
from discreet.attacks.four_ways import FourWays, Survey, attack_four_ways
from discreet.curator import Curator
from discreet.data.load import ReadOptions
from discreet.draw import Block, Callout, Heading, Page, Paragraph
from discreet.draw.format import written
from discreet.errors import DiscreetError, FolderError
from discreet.evaluation.explanation import explain
from discreet.evaluation.report import exposure_page
from discreet.randomness import SeededBits

__all__ = ["QUASI", "Section", "Shown", "census_excerpt", "demonstrate", "four_ways", "student_survey"]

QUASI = ("PUMA", "AGEP", "SEX", "RAC1P", "HISP", "MSP", "EDU", "NPF", "OWN_RENT", "INDP")
_SENSITIVE = ("PINCP_DECILE",)
_OURS = "demonstration.txt"
_MADE = ("office", "report.html")
_QUESTION = "SELECT SEX, COUNT(*) AS people, AVG(AGEP) AS age FROM census GROUP BY SEX"
_EPSILON = "0.25"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the demonstration: what is said on the terminal, and what stands in the report."""

    sentences: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the demonstration found, and where its report is."""

    sentences: tuple[str, ...]
    report: Path


def census_excerpt() -> Path:
    """The bundled table, as a file."""
    with as_file(files("discreet.examples") / "census_excerpt.csv.gz") as path:
        return path


def demonstrate(folder: Path, *, progress: Callable[[str], None] | None = None) -> Shown:
    """Run the main job in a folder of its own, which is made anew each time."""
    try:
        _clear(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _OURS).write_text("Made by `discreet demo`; it is made anew each time.\n", encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or "it cannot be used").lower()
        raise FolderError(
            str(folder), found=reason, right="the demonstration needs a folder it may write", step="--folder DIR"
        ) from None
    curator = Curator(folder / "office")
    with as_file(files("discreet.examples")) as examples:
        curator.add(
            examples / "census_excerpt.csv.gz",
            name="census",
            contract=examples / "census.yaml",
            options=ReadOptions(nulls=("N",)),
            progress=progress,
        )
    sections = []
    for section in _SECTIONS:
        sections.append(section(curator, progress or (lambda _: None)))
    first, *others = sections
    page = Page(
        title="What a table of people gives away",
        lead=first.sentences[0],
        blocks=(*first.blocks, *(block for one in others for block in one.blocks)),
    )
    report = folder / "report.html"
    report.write_text(page.html(), encoding="utf-8")
    sentences = tuple(sentence for one in sections for sentence in one.sentences)
    return Shown(sentences=sentences, report=report.resolve())


def student_survey() -> Survey:
    """The bundled table of 24 students: known are age, sex, start and siblings, secret is whether a grade was a 5."""
    text = (files("discreet.examples") / "student_survey.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return Survey(
        records={name: [read_value(row[name]) for row in rows] for name in rows[0]},
        known={"age": range(18, 36), "sex": ("f", "m"), "start": ("SS2017", "WS2017"), "siblings": range(6)},
        secret=parse_clause("worst_grade = 5")[0],
    )


def four_ways() -> FourWays:
    """The same small table broken four ways, and not under ε = 1. Noise is seeded, as only teaching data allow."""
    return attack_four_ways(student_survey(), epsilon=1, bits=SeededBits(0), teaching=True)


def _exposure(curator: Curator, progress: Callable[[str], None]) -> Section:
    """How exposed the census excerpt is."""
    found = curator.assess("census", QUASI, sensitive=_SENSITIVE, progress=progress)
    page = exposure_page("census", found)
    return Section(sentences=found.sentences(), blocks=(Heading(page.title), Paragraph(page.lead), *page.blocks))


def _asked(curator: Curator, progress: Callable[[str], None]) -> Section:
    """A question in SQL, answered under differential privacy with noise of its own."""
    progress("asking in SQL")
    answer = curator.sql(_QUESTION, epsilon=_EPSILON).run()
    people = answer.columns[1]
    men, women = (written("count", value) for value in people.values if isinstance(value, int))
    low, high = people.errors[0].low, people.errors[0].high
    assert low is not None
    assert high is not None
    give = (high - low) / 2
    meaning = explain(_EPSILON)
    _, believed = meaning.belief
    sentences = (
        f"Asked in SQL, with ε = {_EPSILON}: {_QUESTION}",
        f"Answered: {men} men and {women} women, give or take {written('count', round(give))} in 95 of 100 answers.",
        *answer.payment(),
        f"ε (epsilon) is the price of an answer: it bounds what that tells about any one person. What was thought "
        f"{written('share', float(meaning.prior))} likely of somebody is thought at most {written('share', believed)} "
        "likely after it.",
    )
    chart = answer.chart()
    blocks: tuple[Block, ...] = (
        Heading("Asked in SQL, under differential privacy"),
        *map(Paragraph, sentences),
        *(() if chart is None else (chart,)),
        answer.grid(),
    )
    return Section(sentences=sentences, blocks=blocks)


def _attacked(_: Curator, progress: Callable[[str], None]) -> Section:
    """A small table, attacked."""
    progress("attacking a small table")
    found = four_ways()
    lead, private = found.sentences()
    blocks: tuple[Block, ...] = (
        Heading("The same small table, broken four ways"),
        Paragraph(lead),
        Paragraph(private),
        Callout("guarantee", "The noise is drawn with a fixed seed here, which only teaching data may have."),
        *found.charts(),
        *found.grids(),
    )
    return Section(sentences=(lead, private), blocks=blocks)


_SECTIONS: tuple[Callable[[Curator, Callable[[str], None]], Section], ...] = (_exposure, _asked, _attacked)


def _clear(folder: Path) -> None:
    """Take away what an earlier demonstration left, and nothing else."""
    if not folder.exists():
        return
    if not (folder / _OURS).is_file() and any(folder.iterdir()):
        raise FolderError(
            str(folder),
            found="it holds other files",
            right="the demonstration needs its own folder",
            step="--folder DIR",
        )
    _forget_head(folder / "office")
    for made in (folder / name for name in _MADE):
        if made.is_dir() and not made.is_symlink():
            shutil.rmtree(made)
        else:
            made.unlink(missing_ok=True)


def _forget_head(office: Path) -> None:
    """Take away the signed head of a ledger that goes away, which stands outside its folder."""
    with contextlib.suppress(DiscreetError):
        if office.is_dir() and not office.is_symlink():
            ledger = Curator.open(office).ledger
            ledger.head_file.unlink(missing_ok=True)
            ledger.close()
