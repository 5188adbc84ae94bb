"""Composition: what several anonymised tables of the same people tell together.

1. In each release the target's known values leave some records: the class she must be in. The sensitive values of that
   class are her candidates there. A class of one value gives her away at once, however large it is (homogeneity).
2. If she is in all releases, her value is among the candidates of every one of them: only the intersection is left.

Success over many targets is the share whose value is the only one left, or else guessed right among those left, beside
always guessing the commonest value. Generalised cells are understood as they are usually written (`cell`).

k-anonymity says how a table looks; it says nothing of what two such tables tell. Reference: Ganta, Kasiviswanathan and
Smith 2008.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.cell import covers
from discreet.attacks.condition import Value
from discreet.attacks.cover import Cover, Meanings
from discreet.attacks.keepers import Records
from discreet.attacks.rate import RATE_COLUMNS, Rate, rates_chart
from discreet.check import known
from discreet.draw.chart import Axis, Bars, Chart
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError

__all__ = [
    "Composition",
    "ManyTargets",
    "candidates",
    "compose",
    "compose_many",
    "homogeneous",
]


def candidates(release: Records, target: Mapping[str, Value], sensitive: str) -> Counter[str]:
    """The sensitive values of the records that may be the target's, with how many of them have each."""
    shared = _shared(release, target, sensitive)
    rows = range(len(release[sensitive]))
    held = (row for row in rows if all(covers(release[column][row], target[column]) for column in shared))
    return Counter(str(release[sensitive][row]) for row in held)


def _shared(release: Records, target: Mapping[str, Value], sensitive: str) -> list[str]:
    """The columns of the release of which something is known."""
    known("column", sensitive, tuple(release), step="name the sensitive column of the release")
    shared = [column for column in target if column in release]
    if not shared:
        raise ArgumentError(
            "target",
            found="no value of a column of the release",
            right="something known must be in it",
            step="name the columns as the release does",
        )
    return shared


def homogeneous(release: Records, quasi: Sequence[str], sensitive: str) -> dict[tuple[str, ...], str]:
    """The classes of look-alike records that share one sensitive value, with that value."""
    classes: dict[tuple[str, ...], set[str]] = {}
    for row in range(len(release[sensitive])):
        key = tuple(str(release[column][row]) for column in quasi)
        classes.setdefault(key, set()).add(str(release[sensitive][row]))
    return {key: next(iter(values)) for key, values in classes.items() if len(values) == 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The candidates of one target in each release, and those left in all of them."""

    target: dict[str, Value]
    each: tuple[dict[str, int], ...]
    left: tuple[str, ...]

    @property
    def disclosed(self) -> bool:
        """Whether a single value is left."""
        return len(self.left) == 1

    def sentences(self) -> tuple[str, ...]:
        """What came out, in words."""
        alone = ", ".join(str(len(one)) for one in self.each)
        known_ = " and ".join(f"{column} = {value}" for column, value in self.target.items())
        if not self.left:
            verdict = "no value is left: the target is not in all of them, or what is known is wrong."
        elif self.disclosed:
            verdict = f"one value is left: {self.left[0]}."
        else:
            verdict = f"{len(self.left)} values are left: {', '.join(self.left)}."
        return (f"Of {known_} the releases leave {alone} possible values, one by one.", f"Together, {verdict}")

    def charts(self) -> tuple[Chart, ...]:
        """How many candidate values are left, release by release and together."""
        names = (*(f"release {place}" for place in range(1, len(self.each) + 1)), "together")
        counts = (*(len(one) for one in self.each), len(self.left))
        return (
            Chart(
                "Possible values of the sensitive column",
                Axis("what the intruder has", scale="band", categories=names),
                Axis("values left", format="count"),
                (Bars(names, counts),),
                "Each release alone keeps its promise; what they leave together is the values common to all.",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """The candidates of each release."""
        values = sorted(set().union(*self.each))
        columns = (
            GridColumn("value"),
            *(GridColumn(f"records in release {place}", "count") for place in range(1, len(self.each) + 1)),
            GridColumn("left"),
        )
        rows = tuple(
            (value, *(one.get(value, 0) for one in self.each), "yes" if value in self.left else "") for value in values
        )
        return (Grid("Candidates", columns, rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "composition",
            "target": dict(self.target),
            "candidates": [dict(one) for one in self.each],
            "left": list(self.left),
            "disclosed": self.disclosed,
        }


def compose(releases: Sequence[Records], target: Mapping[str, Value], sensitive: str) -> Composition:
    """What is left of one target's sensitive value when all releases are laid over each other."""
    if not releases:
        raise ArgumentError("releases", found="none", right="there is at least one", step="give anonymised tables")
    each = tuple(dict(sorted(candidates(release, target, sensitive).items())) for release in releases)
    left = tuple(value for value in each[0] if all(value in one for one in each))
    return Composition(target=dict(target), each=each, left=left)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyTargets:
    """Success over many targets, with the releases one by one and together."""

    rates: dict[str, Rate]
    disclosed: int

    def sentences(self) -> tuple[str, ...]:
        """What came out, most telling first."""
        together = self.rates["together"]
        return (
            f"All releases together leave {self.disclosed} of {together.tries} targets a single possible value.",
            *(f"Guessing the sensitive value from {name}: {rate}." for name, rate in self.rates.items()),
        )

    def charts(self) -> tuple[Chart, ...]:
        """Rates beside chance."""
        caption = "The sensitive value guessed as the commonest candidate, for each target."
        return (rates_chart("Sensitive values guessed", self.rates, caption),)

    def grids(self) -> tuple[Grid, ...]:
        """One row for each set of releases."""
        rows = tuple((name, *rate.cells) for name, rate in self.rates.items())
        return (Grid("Sensitive values guessed", (GridColumn("what the intruder has"), *RATE_COLUMNS), rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "composition",
            "disclosed": self.disclosed,
            "rates": {name: rate.as_json() for name, rate in self.rates.items()},
        }


def compose_many(
    releases: Sequence[Records],
    targets: Sequence[Mapping[str, Value]],
    sensitive: str,
    *,
    truth: Sequence[str],
    meanings: Sequence[Meanings] | None = None,
) -> ManyTargets:
    """Guess each target's value from each release alone and from all together. The truth only judges."""
    if len(targets) != len(truth) or not targets:
        raise ArgumentError(
            "targets", found="not one truth for each", right="some targets with their truths", step="give both"
        )
    names = (*(f"release {place}" for place in range(1, len(releases) + 1)), "together")
    hits, disclosed = dict.fromkeys(names, 0), 0
    commonest = Counter(truth).most_common(1)[0]
    spoken = meanings or [{} for _ in releases]
    in_each = [_all_candidates(one, targets, sensitive, words) for one, words in zip(releases, spoken, strict=True)]
    for true, *each in zip(truth, *in_each, strict=True):
        left = {value: min(one[value] for one in each) for value in each[0] if all(value in one for one in each)}
        for name, one in zip(names, (*each, left), strict=True):
            guess = max(one, key=lambda value: (one[value], value)) if one else commonest[0]
            hits[name] += guess == true
        disclosed += len(left) == 1
    baseline = commonest[1] / len(truth)
    rates = {name: Rate(hits=count, tries=len(truth), baseline=baseline) for name, count in hits.items()}
    return ManyTargets(rates=rates, disclosed=disclosed)


def _all_candidates(
    release: Records, targets: Sequence[Mapping[str, Value]], sensitive: str, meanings: Meanings
) -> Sequence[Mapping[str, int]]:
    """`candidates` of every target, class by class of the release: all of them have the same columns."""
    shared = _shared(release, targets[0], sensitive)
    if any(set(target) != set(targets[0]) for target in targets):
        raise ArgumentError(
            "targets", found="different columns", right="the same is known of each", step="give the same columns"
        )
    cover = Cover.of(release, shared, meanings)
    values, codes = np.unique(np.array(list(map(str, release[sensitive]))), return_inverse=True)
    counts = np.zeros((len(cover.classes), len(values)), np.float64)
    np.add.at(counts, (cover.place, codes.ravel()), 1)
    named = {name: [target[name] for target in targets] for name in shared}
    held = [inside.astype(np.float64) @ counts for _, inside in cover.inside(named, np.arange(len(targets)))]
    listed = [str(value) for value in values]
    return [{listed[at]: int(row[at]) for at in np.flatnonzero(row)} for row in np.concatenate(held)]
