"""The same tables with noise on every printed number, and the reconstruction that is left.

1. The keeper prints for each row the count, the sum and twice the median of the measured column, each with Laplace
   noise; one ε is split evenly over all these numbers. Neighbours replace one person; the number of people is public.
2. The intruder knows the scales and looks for a block whose numbers are all within a few scales of the printed ones, as
   few as possible.
3. Success is the share of true records in that block, beside what blind drawing reaches.

Given: columns with public bounds. Promise: the printed numbers together are ε-differentially private.
Because: one person moves a count by 1, a sum by at most the widest bound or span, twice a median by twice the span.
Tested: test_noise_of_each_number_fits_its_sensitivity, test_noisy_tables_are_not_reconstructed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.attacks.condition import select
from discreet.attacks.rate import RATE_COLUMNS, Rate
from discreet.attacks.reconstruction.model import BlockModel, solver_library
from discreet.attacks.reconstruction.published import Attribute, Person, Publication
from discreet.attacks.reconstruction.result import blind_share, overlap, true_block
from discreet.attacks.reconstruction.solve import Block
from discreet.check import Number, positive
from discreet.draw.chart import Axis, Chart, Line, Rule
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError, NoResultError
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.randomness import Bits

__all__ = ["NoisyBlock", "NoisyReconstruction", "Printed", "nearest_block", "print_noisy", "reconstruct_noisy"]

_KINDS = ("count", "total", "middle")
_REACHES = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(5), Fraction(8), Fraction(20))


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One noisy number of a row, and how far one person could have moved the true one."""

    row: str
    kind: str
    value: int
    sensitivity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyBlock:
    """What is printed of a block under differential privacy."""

    publication: Publication
    epsilon: Fraction
    numbers: tuple[Printed, ...]


def print_noisy(
    publication: Publication, truth: Sequence[Person], *, epsilon: Number | str, bits: Bits, teaching: bool = False
) -> NoisyBlock:
    """The rows of a publication over the true records, with noise worth ε in all."""
    exact, block = positive("epsilon", epsilon), true_block(publication, truth)
    column = _measured(publication)
    place = publication.columns.index(column)
    records = {one.name: [person[at] for person in block] for at, one in enumerate(publication.columns)}
    rows = [row for row in publication.table if row.count or row.median or row.mean]
    share = exact / (len(_KINDS) * len(rows))
    numbers = []
    for row in rows:
        group = sorted(int(block[at][place]) for at in select(records, row.where).nonzero()[0])
        half = len(group) // 2
        middle = group[(len(group) - 1) // 2] + group[half] if group else 0
        moves = _moves(column)
        for kind, value in zip(_KINDS, (len(group), sum(group), middle), strict=True):
            noise = LaplaceNoise.for_guarantee(sensitivity=moves[kind], epsilon=share)
            noisy = release(value, noise, bits, teaching=teaching).value
            numbers.append(Printed(row=row.name, kind=kind, value=noisy, sensitivity=moves[kind]))
    return NoisyBlock(publication=publication, epsilon=exact, numbers=tuple(numbers))


def nearest_block(noisy: NoisyBlock, *, seconds: float = 10.0) -> Block:
    """A block whose numbers are all as near to the noisy ones as can be, measured in their scales."""
    share = noisy.epsilon / len(noisy.numbers)
    for reach in _REACHES:
        library, asked = solver_library(), BlockModel(noisy.publication)
        groups = {row.name: asked.members(row.where) for row in noisy.publication.table}
        for one in noisy.numbers:
            width = int(reach * one.sensitivity / share)
            asked.near(_true_number(asked, groups[one.row], one.kind), one.value, width)
        solver = library.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = seconds / 4
        if solver.solve(asked.model) in (library.OPTIMAL, library.FEASIBLE):
            return asked.read(solver.value)
    raise NoResultError(
        noisy.publication.title,
        found=f"no block within {seconds:g} seconds",
        right="large blocks take longer",
        step="allow more seconds",
    )


def _true_number(asked: BlockModel, members: list[Any], kind: str) -> Any:
    if kind == "middle":
        lower, upper = asked.middle_of_any(members)
        return lower + upper
    return sum(members) if kind == "count" else asked.total(members)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyReconstruction:
    """How much of the block is found again for each ε, over several printings."""

    title: str
    epsilons: tuple[Fraction, ...]
    rates: tuple[Rate, ...]

    def sentences(self) -> tuple[str, ...]:
        """What came out, from the least ε on."""
        return tuple(
            f"Printed with ε = {float(epsilon):g} over all numbers: {rate}."
            for epsilon, rate in zip(self.epsilons, self.rates, strict=True)
        )

    def charts(self) -> tuple[Chart, ...]:
        """The share of records found, against ε."""
        epsilons = tuple(map(float, self.epsilons))
        return (
            Chart(
                "Reconstruction of noisy tables",
                Axis("ε over all printed numbers", scale="log"),
                Axis("share of records found", format="share", domain=(0.0, 1.0)),
                (
                    Line(epsilons, tuple(rate.share for rate in self.rates), "found"),
                    Rule(self.rates[0].baseline, axis="y", label="by chance"),
                ),
                "The nearest block to tables with noise. Proper values of ε are those around 1 and below.",
                family="guarantee",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """One row for each ε."""
        rows = tuple((float(e), *rate.cells) for e, rate in zip(self.epsilons, self.rates, strict=True))
        return (Grid("Records found again", (GridColumn("ε", "number"), *RATE_COLUMNS), rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "reconstruction of noisy tables",
            "title": self.title,
            "rates": [
                {"epsilon": str(epsilon), **rate.as_json()}
                for epsilon, rate in zip(self.epsilons, self.rates, strict=True)
            ],
        }


def reconstruct_noisy(
    publication: Publication,
    truth: Sequence[Person],
    *,
    epsilons: Sequence[Number | str],
    bits: Bits,
    printings: int = 3,
    seconds: float = 10.0,
    teaching: bool = False,
) -> NoisyReconstruction:
    """Print the block several times for each ε, and attack each printing."""
    block = true_block(publication, truth)
    baseline = blind_share(publication, block)
    exact, rates = tuple(sorted(positive("epsilon", one) for one in epsilons)), []
    for epsilon in exact:
        hits = 0
        for _ in range(printings):
            noisy = print_noisy(publication, truth, epsilon=epsilon, bits=bits, teaching=teaching)
            hits += overlap(nearest_block(noisy, seconds=seconds), block)
        rates.append(Rate(hits=hits, tries=printings * len(block), baseline=baseline))
    return NoisyReconstruction(title=publication.title, epsilons=exact, rates=tuple(rates))


def _measured(publication: Publication) -> Attribute:
    if publication.measure is None:
        raise ArgumentError(
            publication.title,
            found="no column of whole numbers",
            right="sums and medians need one",
            step="name it under measure",
        )
    return publication.column(publication.measure)


def _moves(column: Attribute) -> dict[str, int]:
    """How far replacing one person moves each number; a person may also leave or enter the group."""
    low, high = min(0, column.low), max(0, column.high)
    return {"count": 1, "total": high - low, "middle": 2 * (high - low)}
