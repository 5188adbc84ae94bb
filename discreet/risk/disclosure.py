"""Disclosure: how many people an intruder finds, and how surely, by what is known of the population.

Known of the population   each record's risk is
    nothing               1/f alone (prosecutor): the intruder knows who is in the file
    weights, or its size  E[1/F | f] (Benedetti and Franconi), with F estimated from the weights or from the size
    a table of it         1/F (journalist), F counted

The sum of the risks is the number of people found by an intruder who tries everybody, its mean is the marketer's risk,
and the baseline is an intruder who guesses anybody. Where the size of the population is known, models say how many of
the file's unique records are unique outside (`loglinear`) and how many unique people there are (`population`).

What it does not promise: privacy. All figures are confidential, hold for the columns named, and suppose that the
intruder's values are recorded as the file's are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from discreet.check import at_least, exact
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.draw import Axis, Bars, Cell, Chart, Grid, GridColumn, written
from discreet.errors import ArgumentError
from discreet.randomness import Generator, keyed_generator
from discreet.risk.frequencies import (
    Floats,
    Frequencies,
    Keys,
    Wholes,
    count_frequencies,
    count_outside,
    keys_of,
)
from discreet.risk.household import household_risks, members
from discreet.risk.individual import benedetti_franconi, journalist, prosecutor
from discreet.risk.loglinear import LogLinear, Model, can_fit_pairs, fit_loglinear
from discreet.risk.population import PopulationUniques, pitman, zayatz
from discreet.risk.special import SpecialUniques, data_intrusion, find_special_uniques

__all__ = ["Disclosure", "Scores", "measure_disclosure"]

_Z95 = 1.959964
_BANDS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The risks of all records by one view: the number of people found is expected to be `found`."""

    view: str
    highest: float
    found: float
    interval: tuple[float, float]
    baseline: float
    above: int
    bands: tuple[int, ...]
    records: int

    @property
    def mean(self) -> float:
        """The average risk of a record: the marketer's."""
        return self.found / self.records


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """What was found. Confidential: it is the keeper's."""

    quasi: tuple[str, ...]
    records: int
    unique: int
    people: int | None
    threshold: float
    scores: tuple[Scores, ...]
    special: SpecialUniques
    intrusion: float | None
    loglinear: tuple[LogLinear, ...]
    uniques: tuple[PopulationUniques, ...]

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "family": "keeper only",
            "quasi": list(self.quasi),
            "records": self.records,
            "unique": self.unique,
            "people": self.people,
            "threshold": self.threshold,
            "scores": [asdict(one) | {"mean": one.mean} for one in self.scores],
            "special": {
                "records": self.special.records,
                "largest": self.special.largest,
                "by_size": [list(pair) for pair in self.special.by_size],
                "by_column": dict(self.special.by_column),
            },
            "intrusion": self.intrusion,
            "loglinear": [asdict(one) for one in self.loglinear],
            "population_uniques": [asdict(one) | {"share": one.share} for one in self.uniques],
        }

    def grids(self) -> tuple[Grid, ...]:
        """Tables for people, the short answer first."""
        grids = [_scores_grid(self.scores, self.threshold), _special_grid(self.special)]
        return tuple(grids + ([_models_grid(self)] if self.people is not None else []))

    def charts(self) -> tuple[Chart, ...]:
        """How many records lie in each band of risk, by the last view, which knows most."""
        scores = self.scores[-1]
        names = tuple(f"{low:.0%} to {high:.0%}" for low, high in pairwise(_BANDS))
        return (
            Chart(
                title=f"Records by risk ({scores.view})",
                caption="Confidential: for the keeper.",
                marks=(Bars(names, scores.bands),),
                x=Axis("chance of being found", scale="band", categories=names),
                y=Axis("records"),
            ),
        )

    def sentences(self) -> tuple[str, ...]:
        """The same in plain words, each figure with one to compare it with."""
        told = [_sentence(one, self.threshold) for one in self.scores]
        if self.special.records:
            name, _ = max(self.special.by_column, key=lambda pair: pair[1])
            few = f"{self.special.records:,} of {self.records:,} records are singled out by {self.special.largest} or"
            told.append(f"{few} fewer of these columns; {name} takes part most.")
        if self.intrusion is not None and self.people:
            told.append(
                f"Somebody outside who matches a single record is that record's person with a chance of "
                f"{self.intrusion:.1%}; anybody at all is in the table with {self.records / self.people:.2%}."
            )
        for model in self.loglinear:
            (low, high), (least, most) = model.tau1_interval, model.tau2_interval
            told.append(
                f"Of {model.unique:,} records unique in the table, about {model.tau1:,.0f} ({low:,.0f} to {high:,.0f}) "
                f"are unique in the population by the model of {model.model}, if it is right; who links them all is "
                f"right for about {model.tau2:,.0f} ({least:,.0f} to {most:,.0f})."
            )
        for uniques in self.uniques:
            told.append(
                f"About {uniques.uniques:,.0f} people ({uniques.low:,.0f} to {uniques.high:,.0f}; "
                f"{written('share', uniques.share)} of all) are unique in the population by {uniques.model}'s model; "
                f"in the table {written('share', self.unique / self.records)} are."
            )
        return tuple(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of the population: its size, and how many people each class stands for."""

    people: int | None = None
    outside: Floats | None = None
    counted: bool = False


def measure_disclosure(
    engine: Engine,
    table: StoredTable,
    quasi: Sequence[str],
    *,
    weight: str | None = None,
    population: int | Keys | None = None,
    household: str | None = None,
    threshold: float = 0.1,
    largest: int | None = None,
    generator: Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> Disclosure:
    """The risks of a table by everything that is known of its population: `population` is its size or its classes.

    Every number is raw and confidential, for the keeper's eyes.
    """
    limit = float(exact("threshold", threshold))
    if not 0 < limit <= 1:
        raise ArgumentError("threshold", found=f"{threshold}", right="a chance above 0, up to 1", step="give 0.1")
    tell = progress or (lambda _: None)
    tell("classes")
    classes = count_frequencies(engine, table, quasi, weight=weight)
    if not classes.records:
        raise ArgumentError("table", found="no records", right="risk is that of records", step="name another table")
    known = _known(classes, population, keys_of(engine, table, quasi) if isinstance(population, list) else [])
    risks = _risks(classes, known)
    scores = [_scores(view, risk[_each(classes)], limit, classes, known) for view, risk in risks.items()]
    if household is not None:
        tell("households")
        view, risk = list(risks.items())[-1]
        tied, together = household_risks(risk, *members(engine, table, quasi, household))
        scores.append(_scores(f"household, by {view}", tied, limit, classes, known, together))
    tell("special uniques")
    special = find_special_uniques(classes, largest=largest)
    tell("population")
    drawn = generator or keyed_generator()
    estimated = known.people is not None and known.people > classes.records and not known.counted
    people = known.people if estimated and known.people is not None else 0
    return Disclosure(
        quasi=classes.quasi,
        records=classes.records,
        unique=classes.unique,
        people=known.people,
        threshold=limit,
        scores=tuple(scores),
        special=special,
        intrusion=data_intrusion(classes, classes.records / known.people) if known.people else None,
        loglinear=_models(classes, people) if people else (),
        uniques=(zayatz(classes.sizes, people, drawn), pitman(classes.sizes, people, drawn)) if people else (),
    )


def _known(classes: Frequencies, population: int | Keys | None, here: Keys) -> _Known:
    if isinstance(population, list):
        outside = count_outside(here, population)
        return _Known(people=sum(size for _, size in population), outside=outside, counted=True)
    if population is not None and at_least("population", population, 1) < classes.records:
        raise ArgumentError(
            "population",
            found=f"{population:,} people for {classes.records:,} records",
            right="it counts everybody whom the table was drawn from",
            step="give the size of the population",
        )
    if classes.outside is not None:
        people = round(float(classes.outside.sum())) if population is None else population
        return _Known(people=max(people, classes.records), outside=classes.outside)
    return _Known() if population is None else _Known(people=population, outside=classes.scaled(population))


def _models(classes: Frequencies, people: int) -> tuple[LogLinear, ...]:
    """Independence, and all pairs beside it where their cells are few enough: the truth often lies between."""
    models: tuple[Model, ...] = ("independence", "pairs") if can_fit_pairs(classes) else ("independence",)
    return tuple(fit_loglinear(classes, people, model=model) for model in models)


def _risks(classes: Frequencies, known: _Known) -> dict[str, Floats]:
    """The risk of each class by every view that can be taken, the one that knows most last."""
    risks = {"prosecutor": prosecutor(classes.sizes)}
    if known.outside is not None and known.counted:
        risks["journalist"] = journalist(classes.sizes, known.outside)
    elif known.outside is not None:
        risks["individual"] = benedetti_franconi(classes.sizes, np.maximum(known.outside, classes.sizes))
    return risks


def _each(classes: Frequencies) -> Wholes:
    """The class of each record."""
    return np.repeat(np.arange(len(classes.sizes)), classes.sizes)


def _scores(
    view: str, risks: Floats, threshold: float, classes: Frequencies, known: _Known, together: Wholes | None = None
) -> Scores:
    """`together` says with how many each record is found at once, which widens the interval."""
    found = float(risks.sum())
    half = _Z95 * float(np.sqrt((risks * (1 - risks) * (1 if together is None else together)).sum()))
    people = known.people if known.people is not None and "prosecutor" not in view else classes.records
    counted, _ = np.histogram(risks, bins=np.array(_BANDS))
    return Scores(
        view=view,
        highest=float(risks.max()),
        found=found,
        interval=(max(0.0, found - half), min(float(len(risks)), found + half)),
        baseline=classes.records / people,
        above=int((risks > threshold).sum()),
        bands=tuple(map(int, counted)),
        records=classes.records,
    )


def _sentence(scores: Scores, threshold: float) -> str:
    low, high = scores.interval
    who = {
        "prosecutor": "Somebody who knows who is in the table",
        "individual": "Somebody who does not know who was sampled",
        "journalist": "Somebody who has the population's register",
    }.get(scores.view, "Counting everybody who lives with somebody found, an intruder")
    return (
        f"{who} finds about {scores.found:,.0f} ({low:,.0f} to {high:,.0f}) of {scores.records:,} people by trying "
        f"all, {scores.mean:.1%} of them (the marketer's risk); guessing finds {scores.baseline:,.2g}. "
        f"{scores.above:,} records have a risk above {threshold:.0%}; the highest is {scores.highest:.1%}."
    )


def _scores_grid(scores: Sequence[Scores], threshold: float) -> Grid:
    columns = (
        GridColumn("intruder"),
        GridColumn("people found", "number"),
        GridColumn("from", "number"),
        GridColumn("to", "number"),
        GridColumn("by guessing", "number"),
        GridColumn("mean risk", "share"),
        GridColumn("highest risk", "share"),
        GridColumn(f"records above {threshold:.0%}", "count"),
    )
    rows = tuple((one.view, one.found, *one.interval, one.baseline, one.mean, one.highest, one.above) for one in scores)
    return Grid("Who finds how many people", columns, rows, note="Exact and confidential: for the keeper.")


def _special_grid(special: SpecialUniques) -> Grid:
    rows: list[tuple[Cell, ...]] = [(f"sets of {size}", count, None) for size, count in special.by_size]
    rows += [(f"{name} takes part", None, part) for name, part in special.by_column]
    columns = (GridColumn("what"), GridColumn("minimal sets", "count"), GridColumn("share of the score", "share"))
    return Grid("Special uniques", columns, tuple(rows))


def _models_grid(found: Disclosure) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    if found.intrusion is not None:
        rows.append(("chance that a unique match is right (DIS)", found.intrusion, None, None))
    for one in found.loglinear:
        rows.append((f"unique here and outside, {one.model}", one.tau1, *one.tau1_interval))
        rows.append((f"unique here and linked rightly, {one.model}", one.tau2, *one.tau2_interval))
    for model in found.uniques:
        rows.append((f"unique people outside, {model.model}", model.uniques, model.low, model.high))
    columns = (GridColumn("what"), *(GridColumn(name, "number") for name in ("estimate", "from", "to")))
    return Grid(f"A population of {found.people:,}", columns, tuple(rows))
