"""Keys of one person alone stay hidden but for δ: the exact δ of the worst split, and as generous as it may be."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.mechanisms.decay import Decay, Exponential, Powers
from discreet.mechanisms.partition import PartitionSelection, Reach, StabilityThreshold, laplace_threshold
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace
from discreet.randomness import SeededBits
from tests.mechanisms.chi_square import fits

FOUR = Powers(Fraction(4))
TINY = Fraction(1, 10**60)
Shown = tuple[int | None, ...]


def geometric_tail(at: int, weight: Fraction) -> Fraction:
    return weight**at / (1 + weight) if at >= 0 else 1 - weight ** (1 - at) / (1 + weight)


@pytest.mark.parametrize(
    ("epsilon", "delta", "continuous", "discrete"),
    [(1, 1e-6, 14.1, 15), (1, 1e-8, 18.7, 20), (0.1, 1e-6, 132.2, 133)],
)
def test_thresholds_of_one_key_a_person(epsilon: float, delta: float, continuous: float, discrete: int) -> None:
    """The closed form of continuous noise, and the least whole number that suits the noise really drawn."""
    assert laplace_threshold(epsilon, delta) == pytest.approx(continuous, abs=0.05)
    found = StabilityThreshold.laplace(epsilon, delta)
    assert found.threshold == discrete
    assert found.delta() <= Fraction(repr(delta))
    below = StabilityThreshold(noise=found.noise, threshold=discrete - 1, reach=Reach())
    assert below.delta() > Fraction(repr(delta))


@pytest.mark.mutates
def test_a_threshold_with_a_wrong_logarithm_turns_red() -> None:
    """Half the logarithm, or one without the first row, lets far more through than δ."""
    noise = DiscreteLaplace(Exponential(Fraction(1)))
    right = laplace_threshold(1, 1e-6)
    for wrong in (1 + (right - 1) / 2, right - 1.5):
        assert StabilityThreshold(noise=noise, threshold=round(wrong), reach=Reach()).delta() > 2 * Fraction(1, 10**6)


def splits(reach: Reach) -> Iterator[tuple[int, ...]]:
    """Every way one person's rows can lie over keys that nobody else has."""
    for rows in product(range(reach.most_in_a_key + 1), repeat=reach.keys):
        if sum(rows) <= reach.rows:
            yield tuple(row for row in rows if row)


reaches = st.builds(
    Reach,
    keys=st.integers(1, 4),
    rows=st.integers(1, 7),
    rows_per_key=st.one_of(st.none(), st.integers(1, 4)),
)


@given(reaches, st.fractions("1/20", "19/20", max_denominator=20), st.integers(1, 9))
@settings(max_examples=60)
def test_delta_is_that_of_the_worst_split(reach: Reach, weight: Fraction, above: int) -> None:
    threshold = reach.most_in_a_key + above
    found = StabilityThreshold(noise=DiscreteLaplace(Powers(1 / weight)), threshold=threshold, reach=reach).delta()
    worst = Fraction(0)
    for split in splits(reach):
        hidden = Fraction(1)
        for rows in split:
            hidden *= 1 - geometric_tail(threshold - rows, weight)
        worst = max(worst, 1 - hidden)
    assert worst <= found <= worst + TINY


@given(reaches, st.integers(1, 40), st.integers(1, 6))
@settings(max_examples=20)
def test_delta_of_gaussian_noise_is_that_of_the_worst_split(reach: Reach, sigma_squared: int, above: int) -> None:
    """Twin in decimals of twelve places, from the weights themselves."""
    threshold = reach.most_in_a_key + above
    noise = DiscreteGaussian(Fraction(sigma_squared))
    found = StabilityThreshold(noise=noise, threshold=threshold, reach=reach).delta()
    weights = {at: 2.718281828459045 ** (-at * at / (2 * sigma_squared)) for at in range(-120, 121)}
    total, worst = sum(weights.values()), 0.0
    for split in splits(reach):
        hidden = 1.0
        for rows in split:
            hidden *= 1 - sum(weight for at, weight in weights.items() if at >= threshold - rows) / total
        worst = max(worst, 1 - hidden)
    assert float(found) == pytest.approx(worst, rel=1e-6, abs=1e-14)


@given(reaches)
def test_what_one_person_moves(reach: Reach) -> None:
    absolute = max(sum(split) for split in splits(reach))
    squared = max(sum(rows * rows for rows in split) for split in splits(reach))
    assert (reach.moved(Adjacency.ADD_REMOVE), reach.moved(Adjacency.REPLACE_ONE)) == (absolute, 2 * absolute)
    assert reach.moved_squared(Adjacency.ADD_REMOVE) == squared
    assert reach.moved_squared(Adjacency.REPLACE_ONE) == 2 * squared


def excess(here: dict[Shown, Fraction], there: dict[Shown, Fraction], odds: Fraction) -> Fraction:
    """The exact δ at e^ε = odds: the sum of what one has above odds times the other."""
    return sum((max(Fraction(0), p - odds * there.get(shown, Fraction(0))) for shown, p in here.items()), Fraction(0))


def joint(threshold: StabilityThreshold, counts: tuple[int, ...], beyond: int) -> dict[Shown, Fraction]:
    laws = [threshold.law(count, beyond) for count in counts]
    found: dict[Shown, Fraction] = {}
    for combination in product(*(law.items() for law in laws)):
        chance = Fraction(1)
        for _, part in combination:
            chance *= part
        found[tuple(shown for shown, _ in combination)] = chance
    return found


NEIGHBOURS = {
    # Rows of others and of the person, over three keys of which some are the person's alone.
    Adjacency.ADD_REMOVE: [
        ((3, 0, 0), (4, 1, 0)),
        ((3, 0, 0), (3, 1, 1)),
        ((5, 2, 0), (6, 3, 0)),
        ((3, 0, 0), (3, 2, 0)),
        ((0, 0, 0), (1, 0, 0)),
    ],
    Adjacency.REPLACE_ONE: [
        ((4, 1, 0), (4, 0, 1)),
        ((1, 1, 0), (0, 1, 1)),
        ((4, 3, 0), (3, 3, 1)),
        ((4, 2, 0), (4, 0, 2)),
        ((2, 2, 0), (0, 2, 2)),
    ],
}


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_claim_holds_exactly_between_neighbours(adjacency: Adjacency) -> None:
    """All shown keys together, both directions; keys are born and die; the δ at ε is that of the lonely keys."""
    reach = Reach(keys=2, rows=2)
    # ε = ln 256 in all: one row weighs 1/16 under add-remove and 1/4 under replace-one.
    threshold = StabilityThreshold.laplace(Powers(Fraction(256)), "1/200", reach=reach, adjacency=adjacency)
    claimed, found = threshold.delta(), Fraction(0)
    for one, other in NEIGHBOURS[adjacency]:
        laws = [joint(threshold, counts, 8) for counts in (one, other)]
        assert [sum(law.values()) for law in laws] == [1, 1]
        for here, there in (laws, laws[::-1]):
            assert excess(here, there, Fraction(256)) <= claimed <= Fraction(1, 200)
            found = max(found, excess(here, there, Fraction(256)))
    assert found > claimed * Fraction(99, 100), "two rows in one new key are the worst neighbour"


def test_delta_of_a_new_key_is_exact() -> None:
    """One key that appears with one row: the hockey-stick at ε is the chance to be shown, and nothing else."""
    threshold = StabilityThreshold.laplace(FOUR, "1/1000")
    absent, present = threshold.law(0, 12), threshold.law(1, 12)
    exact = sum((max(Fraction(0), p - 4 * absent.get(shown, Fraction(0))) for shown, p in present.items()), Fraction(0))
    assert exact == Fraction(1, 4) ** (threshold.threshold - 1) / Fraction(5, 4) == Fraction(1, 1280)
    assert exact <= threshold.delta() <= exact + TINY


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_known_key_costs_epsilon_alone(adjacency: Adjacency) -> None:
    threshold = StabilityThreshold.laplace(Powers(Fraction(16)), "1/1000", adjacency=adjacency)
    moved, laws = threshold.reach.moved(Adjacency.ADD_REMOVE), [threshold.law(count, 30) for count in (20, 21)]
    ratios = [max(laws[0][shown] / laws[1][shown], laws[1][shown] / laws[0][shown]) for shown in laws[0]]
    assert moved == 1
    assert max(ratios) == (16 if adjacency is Adjacency.ADD_REMOVE else 4)


@pytest.mark.parametrize("noise", [DiscreteLaplace(Exponential(Fraction(1, 2))), DiscreteGaussian(Fraction(9))])
def test_releases_follow_their_chance(noise: DiscreteLaplace | DiscreteGaussian) -> None:
    threshold, bits = StabilityThreshold(noise=noise, threshold=5, reach=Reach()), SeededBits(6)
    assert threshold.release(0, bits, teaching=True) is None
    assert threshold.probability(0)[1] == 0
    for count in (1, 2, 5, 9):
        lower, upper = threshold.probability(count)
        assert upper - lower < TINY
        kept = [threshold.keep(count, bits, teaching=True) for _ in range(4000)]
        assert fits(kept, {True: lower, False: 1 - lower})
    shown = [value for _ in range(200) if (value := threshold.release(6, bits, teaching=True)) is not None]
    assert min(shown) == 5
    assert threshold.probability(5)[0] > Fraction(1, 2)
    assert abs(threshold.probability(1)[1] - threshold.delta()) < TINY


def test_shown_counts_follow_the_law() -> None:
    threshold, bits = StabilityThreshold.laplace(FOUR, "1/50"), SeededBits(10)
    law = threshold.law(threshold.threshold, 40)
    assert fits([threshold.release(threshold.threshold, bits, teaching=True) for _ in range(4000)], law)


def test_gaussian_threshold_is_the_least() -> None:
    reach = Reach(keys=3, rows=5)
    for adjacency, variance in ((Adjacency.ADD_REMOVE, 250), (Adjacency.REPLACE_ONE, 500)):
        found = StabilityThreshold.gaussian("1/20", 1e-9, reach=reach, adjacency=adjacency)
        assert found.noise == DiscreteGaussian(Fraction(variance))
        below = StabilityThreshold(noise=found.noise, threshold=found.threshold - 1, reach=reach)
        assert found.delta() <= Fraction(1, 10**9) < below.delta()
    # Beyond what the tails list, the chance is rounded up, and not to nothing.
    assert 0 < StabilityThreshold(noise=DiscreteGaussian(Fraction(9)), threshold=101, reach=Reach()).delta() < TINY


def ideal(odds: Fraction, delta: Fraction, count: int) -> Fraction:
    """The largest chance that (ε, δ) allows, as its authors define it."""
    chance = Fraction(0)
    for _ in range(count):
        chance = min(odds * chance + delta, 1 - (1 - chance - delta) / odds, Fraction(1))
    return chance


@pytest.mark.parametrize("decay", [FOUR, Powers(Fraction(3)), Exponential(Fraction(1, 10)), Exponential(Fraction(2))])
@pytest.mark.parametrize("delta", ["1/7", "1/1000", "1e-9"])
def test_selection_is_private_and_as_generous_as_it_may_be(decay: Decay, delta: str) -> None:
    """Of the chances really drawn: both inequalities at each step, exactly; and the optimum, to sixty places."""
    selection = PartitionSelection.of(decay, delta)
    least_odds = 1 / decay.bounds(1, 120)[1]
    chances = [selection.probability(count) for count in range(700)]
    assert chances[0] == 0
    for chance, more in pairwise(chances):
        assert chance <= more <= least_odds * chance + Fraction(delta)
        assert 1 - chance <= least_odds * (1 - more) + Fraction(delta)
    for count in (1, 2, 5, 9, 13):
        best = ideal(least_odds, Fraction(delta), count)
        assert best - TINY <= chances[count] <= best
        assert isinstance(decay, Exponential) or chances[count] == best
    assert chances[-1] == 1


@pytest.mark.mutates
def test_a_selection_that_forgets_delta_or_the_other_side_turns_red() -> None:
    """Growing by e^ε alone to the end breaks 1 − π(n) ≤ e^ε(1 − π(n + 1)) + δ."""
    chances = [Fraction(0)]
    while chances[-1] < 1:
        chances.append(min(4 * chances[-1] + Fraction(1, 1000), Fraction(1)))
    broken = [1 - a > 4 * (1 - b) + Fraction(1, 1000) for a, b in pairwise(chances)]
    assert any(broken)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_selection_over_several_keys_shares_its_budget(adjacency: Adjacency) -> None:
    """Two keys a person: the joint choice of shown keys differs by (ε, δ) exactly, births and deaths included."""
    selection = PartitionSelection.of(Powers(Fraction(256)), "1/50", keys=2, adjacency=adjacency)

    def law(counts: tuple[int, ...]) -> dict[Shown, Fraction]:
        found: dict[Shown, Fraction] = {}
        for shown in product((False, True), repeat=len(counts)):
            chance = Fraction(1)
            for count, here in zip(counts, shown, strict=True):
                chance *= selection.law(count)[here]
            found[shown] = chance
        return found

    pairs = (
        [((2, 0), (3, 1)), ((0, 0), (1, 1)), ((1, 2), (2, 3))]
        if adjacency is Adjacency.ADD_REMOVE
        else [((2, 1, 0, 0), (1, 0, 1, 1)), ((1, 1, 0, 0), (0, 0, 1, 1)), ((1, 2, 1, 0), (1, 2, 0, 1))]
    )
    worst = max(excess(law(a), law(b), Fraction(256)) for one, other in pairs for a, b in ((one, other), (other, one)))
    assert Fraction(1, 250) < worst <= Fraction(1, 50)


def test_keys_are_kept_with_their_chance() -> None:
    bits = SeededBits(14)
    for epsilon in (1, FOUR):
        selection = PartitionSelection.of(epsilon, "1/10")
        for count in (0, 1, 3):
            assert fits([selection.keep(count, bits, teaching=True) for _ in range(3000)], selection.law(count))


def test_optimal_selection_shows_more_than_a_threshold() -> None:
    """At the same ε and δ, for every number of persons; strictly more somewhere."""
    threshold, selection = StabilityThreshold.laplace(1, 1e-6), PartitionSelection.of(1, 1e-6)
    gains = [selection.probability(count) - threshold.probability(count)[0] for count in range(40)]
    assert min(gains) >= -TINY
    assert max(gains) > Fraction(1, 4)


@pytest.mark.parametrize("delta", [0, 1, -1, "1e-61", "x"])
def test_a_delta_that_shows_nothing_or_all_is_refused(delta: float | str) -> None:
    with pytest.raises(ArgumentError):
        StabilityThreshold.laplace(1, delta)
    with pytest.raises(ArgumentError):
        PartitionSelection.of(1, delta)


def test_a_threshold_that_one_person_reaches_is_refused() -> None:
    with pytest.raises(ArgumentError, match="one person alone can bring 3 rows"):
        StabilityThreshold(noise=DiscreteLaplace(FOUR), threshold=3, reach=Reach(rows=3))
    with pytest.raises(ArgumentError, match="powers"):
        StabilityThreshold.laplace(1, 1e-6).law(3, 20)
    for epsilon in ("1e-9", "1e-200"):
        with pytest.raises(ArgumentError, match="fewer keys"):
            PartitionSelection.of(epsilon, 1e-6).probability(1)
    for fault in ({"keys": 0}, {"rows": 0}, {"rows_per_key": 0}):
        with pytest.raises(ArgumentError):
            Reach(**fault)


def test_noise_too_wide_to_be_compared_is_refused() -> None:
    with pytest.raises(ArgumentError, match="cut it off"):
        StabilityThreshold(noise=DiscreteLaplace.of_scale(2**58), threshold=2**62, reach=Reach())


def test_gaussian_noise_too_wide_to_list_is_refused() -> None:
    with pytest.raises(ArgumentError, match="noise so wide"):
        StabilityThreshold.gaussian("1e-12", "1e-9")
