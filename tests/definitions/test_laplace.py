"""The Laplace mechanism for vectors, means and numbers of any kind, as exact laws and as densities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantee import Adjacency
from discreet.mechanisms import neighbours
from discreet.mechanisms.certificate import Certificate, Claim, Law, examine
from discreet.mechanisms.continuous import laplace_density
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Pair, Table
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.tallies import Tally
from discreet.mechanisms.testing import noisy_law

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
vectors = st.integers(1, 5).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(-6, 6), min_size=size, max_size=size) for _ in range(3)))
)


def product_of(noise: LaplaceNoise, answer: list[int], output: list[int]) -> Fraction:
    """The chance of an output: independent noise on each number."""
    return math.prod((noise.chance(z - f)[0] for f, z in zip(answer, output, strict=True)), start=Fraction(1))


@pytest.mark.requirement("0.54", "3.27")
@given(vectors, st.integers(0, 3))
def test_the_vector_proof_line_by_line(three: tuple[list[int], list[int], list[int]], more: int) -> None:
    """In exact fractions, with e^ε = 2^Δ: each line of the proof is the equation or inequality it says."""
    here, there, output = three
    distance = sum(abs(a - b) for a, b in zip(here, there, strict=True))
    sensitivity = max(1, distance + more)
    odds = Fraction(2) ** sensitivity
    noise = LaplaceNoise.for_guarantee(sensitivity=sensitivity, epsilon=Powers(odds))
    step = Fraction(1, 2)  # what one step of noise weighs: e^(−ε/Δ)
    ratio = product_of(noise, here, output) / product_of(noise, there, output)
    by_factor = math.prod(
        (step ** (abs(a - z) - abs(b - z)) for a, b, z in zip(here, there, output, strict=True)), start=Fraction(1)
    )
    by_triangle = math.prod((step ** -abs(a - b) for a, b in zip(here, there, strict=True)), start=Fraction(1))
    assert ratio == by_factor  # the normalisers cancel
    assert by_factor <= by_triangle == step**-distance  # the triangle inequality, number by number
    assert step**-distance <= odds  # the definition of the sensitivity
    # Nothing is given away: the output `here` reaches the triangle's bound.
    assert product_of(noise, here, here) / product_of(noise, there, here) == by_triangle


@pytest.mark.requirement("0.54")
@given(
    st.lists(st.tuples(*(st.floats(-50, 50) for _ in range(3))), min_size=1, max_size=5),
    st.floats(0.05, 5),
)
def test_the_density_ratio_of_real_vectors(numbers: list[tuple[float, float, float]], epsilon: float) -> None:
    sensitivity = max(sum(abs(f - g) for f, g, _ in numbers), 1e-6)
    scale = max(sensitivity / epsilon, 1.0)  # densities that a float can hold
    loss = sum(
        math.log(laplace_density(z, location=f, scale=scale)) - math.log(laplace_density(z, location=g, scale=scale))
        for f, g, z in numbers
    )
    assert abs(loss) <= sensitivity / scale + 1e-9


@pytest.mark.requirement("3.27")
def test_vectors_of_totals_reach_the_bound_and_never_pass_it() -> None:
    for tally in (Tally.sum_and_count(-1, 2), Tally.histogram(0, 2)):
        for adjacency in (ADD, REPLACE):
            sensitivity = tally.sensitivity(adjacency)
            base = Fraction(2) ** sensitivity
            law = partial(tally.law, epsilon=Powers(base), adjacency=adjacency, largest=2)
            domain = (-4, -1, 0, 1, 2, 9)
            pairs = neighbours.added_or_removed(domain, 2) if adjacency is ADD else neighbours.replaced(domain, (1, 2))
            assert exact(law, pairs, base).verdict == "tight"


def exact(law: Callable[[Table], Law], pairs: Iterable[Pair], odds: Fraction) -> Certificate:
    claim = Claim(name="", mechanism="", relation="", domain="", odds=odds)
    return examine(claim, law, pairs)


RECORDS, GRID = 3, 10


def mean_law(table: Table, *, clip: bool, sensitivity: int) -> Law:
    """The mean of numbers in tenths, as n times the mean in tenths, with noise for that sensitivity and odds 1024."""
    records = [min(max(record, 0), GRID) for record in table] if clip else table
    noise = LaplaceNoise.for_guarantee(sensitivity=sensitivity, epsilon=Powers(Fraction(2**GRID)))
    return noisy_law(sum(records), noise, -50, 150)


@pytest.mark.requirement("0.55")
def test_a_mean_of_records_between_0_and_1() -> None:
    # One record moves the mean by at most 1/n, so ε costs noise of scale 1/(nε) on it.
    tenths = Tally.sum(0, GRID)
    assert Fraction(tenths.sensitivity(REPLACE), GRID * RECORDS) == Fraction(1, RECORDS)
    noise = LaplaceNoise.for_guarantee(sensitivity=GRID, epsilon="0.5")
    assert noise.scale / (GRID * RECORDS) == 1 / (RECORDS * Fraction(1, 2))
    inside = list(neighbours.replaced((0, 3, GRID), (RECORDS,)))
    beyond = list(neighbours.replaced((-20, 0, 7, GRID, 45), (RECORDS,)))
    base = Fraction(2**GRID)
    assert exact(partial(mean_law, clip=True, sensitivity=GRID), inside, base).verdict == "tight"
    # Records without bounds are clamped first; without that no scale fits.
    assert exact(partial(mean_law, clip=True, sensitivity=GRID), beyond, base).verdict == "tight"
    assert exact(partial(mean_law, clip=False, sensitivity=GRID), beyond, base).verdict == "violated"


@pytest.mark.requirement("4.14")
@pytest.mark.parametrize("most", [1, 2, 5])
def test_from_counts_to_numbers(most: int) -> None:
    """A count is a sum of zeros and ones. For larger values its noise is too little, by the size of the value."""
    base = Fraction(2**most)
    count = Tally.count(0, 1, of=1)
    numbers = Tally.sum(0, most)
    pairs = list(neighbours.added_or_removed((0, 1, most), 2))
    own = exact(partial(numbers.law, epsilon=Powers(base), adjacency=ADD, largest=2), pairs, base)
    assert own.verdict == "tight"

    def with_noise_of_a_count(table: Table) -> Law:
        noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=Powers(base))
        return noisy_law(sum(table), noise, 0, 2 * most)

    assert exact(with_noise_of_a_count, pairs, base).odds == base**most
    for table in neighbours.tables((0, 1), 3):
        laws = [tally.law(table, epsilon=Powers(base), adjacency=ADD, largest=3) for tally in (count, Tally.sum(0, 1))]
        assert laws[0] == laws[1]
