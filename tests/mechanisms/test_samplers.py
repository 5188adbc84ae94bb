"""Samplers are exact: small tables are enumerated word by word, ties draw on, large scales rebuild the same law."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError, EntropyError
from discreet.mechanisms.blocks import GaussianBlocks
from discreet.mechanisms.decay import Exponential, Powers
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.reservoir import Reservoir, shared_reservoir
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace, Geometric, Law, draw, draw_many
from discreet.mechanisms.tables import LARGEST, Table, append_digit, table_of
from discreet.mechanisms.tails import (
    Digit,
    GaussianLaw,
    GeometricLaw,
    HalfGaussianLaw,
    LaplaceLaw,
    SignLaw,
    TailLaw,
)
from discreet.mechanisms.uniform import integers_below
from discreet.randomness import SeededBits, SystemBits, system_bits
from tests.statistical.goodness import Cdf, fits, gaussian_cdf, geometric_cdf, laplace_cdf, p_value

HALF = Powers(Fraction(4, 3))
WIDTH = 10


class Tape:
    """The bits of one integer, most significant first; `spent` tells how many of them were read."""

    certifiable = False

    def __init__(self, number: int, width: int) -> None:
        self._number, self._width, self.spent = number, width, 0

    def bits(self, count: int) -> int:
        self.spent += count
        assert self.spent <= self._width, "more bits were drawn than the tape holds"
        return self._number >> (self._width - self.spent) & ((1 << count) - 1)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        return np.array([self.bits(64) for _ in range(count)], dtype=np.uint64)

    def below(self, bound: int) -> int:
        raise AssertionError("no bounded integer is drawn here")


def exact_laplace(k: int) -> Fraction:
    a = Fraction(3, 4)
    return (1 - a) / (1 + a) * a ** abs(k)


def exact_geometric(k: int) -> Fraction:
    return Fraction(1, 4) * Fraction(3, 4) ** k


def exact_digit(k: int) -> Fraction:
    return Fraction(3, 4) ** k / sum(Fraction(3, 4) ** j for j in range(5))


def exact_sign(k: int) -> Fraction:
    return exact_laplace(0) if k == 0 else (1 - exact_laplace(0)) / 2


EXACT = [
    (LaplaceLaw(HALF), exact_laplace, 400),
    (GeometricLaw(HALF), exact_geometric, 400),
    (Digit(HALF, 1, 5), exact_digit, 5),
    (SignLaw(HALF), exact_sign, 3),
]


@pytest.mark.parametrize(("law", "chance", "outcomes"), EXACT, ids=lambda value: type(value).__name__)
def test_every_word_of_a_small_table_falls_where_fractions_say(
    law: TailLaw, chance: object, outcomes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All 1024 words: a word inside one outcome's interval gives it without more bits, every other one is a tie."""
    assert callable(chance)
    tails, total = [Fraction(1)], Fraction(1)
    for number in range(outcomes):
        total -= chance(law.value(number))
        tails.append(total)
    table = Table(law, WIDTH)
    tied: dict[int, int] = {}
    monkeypatch.setattr(table, "_resolve", lambda word, number, bits: tied.setdefault(word, number))
    values = table.read(np.arange(1 << WIDTH, dtype=np.uint64), SeededBits(1))
    for word, value in enumerate(values.tolist()):
        low, high = Fraction(word, 1 << WIDTH), Fraction(word + 1, 1 << WIDTH)
        holder = next(number for number in range(outcomes) if tails[number + 1] < high)
        inside = tails[holder + 1] <= low
        # A word that starts on a boundary is a tie too: one that needs no more bits.
        assert (word in tied) == (not inside or low in tails)
        if word in tied:
            assert tails[tied[word]] >= high > tails[tied[word] + 1] >= low
        else:
            assert value == law.value(holder)


@pytest.mark.parametrize(("law", "chance", "outcomes"), EXACT[:2], ids=lambda value: type(value).__name__)
def test_a_tie_draws_on_and_lands_where_its_whole_uniform_lies(law: TailLaw, chance: object, outcomes: int) -> None:
    """4-bit words tie nearly always; uniforms of 32 bits must then land on the outcome that fractions give."""
    assert callable(chance)
    table, width, extra = Table(law, 4), 4, 28
    landed: dict[int, int] = {}
    for word in range(1 << width):
        for more in range(1, 1 << extra, (1 << 18) + 1):
            tape = Tape(more << 4000, extra + 4000)
            value = int(table.read(np.array([word], dtype=np.uint64), tape)[0])
            uniform = Fraction((word << extra) | more, 1 << (width + extra))
            tail, number = Fraction(1), 0
            while uniform < tail - chance(law.value(number)):
                tail -= chance(law.value(number))
                number += 1
            assert value == law.value(number)
            landed[value] = landed.get(value, 0) + 1
    assert len(landed) > 20


def test_a_boundary_that_is_a_binary_fraction_is_on_the_right_side() -> None:
    """With a = 1/3 the first tail is exactly one half: below it is not zero, at it is zero."""
    table = Table(LaplaceLaw(Powers(Fraction(3))), WIDTH)
    half = 1 << (WIDTH - 1)
    tape = Tape(1 << 8000, 8001)
    assert table.read(np.array([half - 1], dtype=np.uint64), Tape(0, 8000))[0] == 1
    assert table.read(np.array([half], dtype=np.uint64), tape)[0] == 0


def test_the_guide_agrees_with_the_table_in_every_cell() -> None:
    for law in (LaplaceLaw(Exponential(Fraction(1, 10))), GaussianLaw(Fraction(100)), Digit(HALF, 1, 256)):
        table = Table(law, 20)
        words = np.arange(1 << 20, dtype=np.uint64)
        values = table.read(words, SeededBits(3)).reshape(1 << 16, 16)
        guide = table._guide
        sure = guide != np.iinfo(np.int16).min
        assert (values[sure] == guide[sure, None]).all()
        assert sure.mean() > 0.98
        mixed = (values != values[:, :1]).any(axis=1)
        assert not sure[mixed].any()


@given(st.integers(1, 40), st.sampled_from([64, 128, 300]))
def test_tails_hold_the_exact_value_at_any_precision(scale: int, precision: int) -> None:
    """Against powers of a in exact fractions, for the rational twin of each law."""
    base = Fraction(scale + 1, scale)
    a = 1 / base
    laplace = LaplaceLaw(Powers(base)).tails(precision, 32)
    for number, (low, high) in enumerate(laplace[:40], start=1):
        k = (number + 1) // 2
        tail = 2 * a**k / (1 + a) if number % 2 else a**k
        assert low <= tail * 2**precision <= high <= low + 4
    digit = Digit(Powers(base), 1, 9).tails(precision, 32)
    for number, (low, high) in enumerate(digit, start=1):
        assert low <= (a**number - a**9) / (1 - a**9) * 2**precision <= high <= low + 4


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_no_output_is_likelier_by_more_than_e_to_a_public_epsilon(epsilon: Fraction) -> None:
    """All 41 counts of −20 to 20 and all 41 outputs clamped to them, from the very tails that tables are made of."""
    precision, reach = 700, 20
    law = LaplaceLaw(Exponential(epsilon))
    tails = {0: (Fraction(1), Fraction(1))}
    for number, (low, high) in enumerate(law.tails(precision, 300), start=1):
        tails[number] = Fraction(low, 1 << precision), Fraction(high, 1 << precision)

    def tail(k: int) -> tuple[Fraction, Fraction]:
        """P(N ≥ k)."""
        if k <= 0:
            low, high = tail(1 - k)
            return 1 - high, 1 - low
        low, high = tails[2 * k - 1]
        return low / 2, high / 2

    def chances(count: int) -> list[tuple[Fraction, Fraction]]:
        ends = [
            (Fraction(1), Fraction(1)),
            *(tail(at - count) for at in range(1 - reach, reach + 1)),
            (Fraction(0),) * 2,
        ]
        return [(one[0] - other[1], one[1] - other[0]) for one, other in pairwise(ends)]

    laws = {count: chances(count) for count in range(-reach, reach + 1)}
    least, most = exp_fraction(epsilon, 120)
    slack = 1 + Fraction(1, 10**80)
    for one, other in ((a, b) for a in laws for b in (a - 1, a + 1) if b in laws):
        ratios = [(p[0] / q[1], p[1] / q[0]) for p, q in zip(laws[one], laws[other], strict=True)]
        assert max(high for _, high in ratios) <= slack / least
        assert max(low for low, _ in ratios) >= 1 / (most * slack)
        assert all(sum(p[side] for p in laws[one]) <= slack for side in (0, 1))
        assert sum(p[1] for p in laws[one]) >= 1


def test_tails_hold_the_exact_value_where_they_vanish() -> None:
    """Beyond the precision a tail is not yet zero: its upper end must say so."""
    for number, (low, high) in enumerate(Digit(Powers(Fraction(2)), 1, 300).tails(64, 64), start=1):
        tail = Fraction(1, 2**number) - Fraction(1, 2**300) if number < 300 else 0
        assert low <= tail / (1 - Fraction(1, 2**300)) * 2**64 <= high


@given(st.fractions(Fraction(1, 50), 200, max_denominator=99), st.sampled_from([80, 200]))
def test_gaussian_tails_hold_the_exact_value(sigma_squared: Fraction, precision: int) -> None:
    loose = GaussianLaw(sigma_squared).tails(40, 40)
    close = GaussianLaw(sigma_squared).tails(precision, 40)
    sigma = math.sqrt(sigma_squared)
    weights = [math.exp(-k * k / (2 * sigma_squared)) for k in range(math.ceil(12 * sigma) + 3)]
    whole = 2 * sum(weights) - 1
    for number, ((low, high), (least, most)) in enumerate(zip(loose, close, strict=False), start=1):
        assert low <= least >> (precision - 40) <= high
        assert 0 <= most - least <= 4
        k = (number + 1) // 2
        tail = (2 * math.fsum(weights[k:]) - (0 if number % 2 else weights[k])) / whole
        assert least / 2**precision == pytest.approx(tail, rel=1e-9, abs=1e-11)


LAWS: list[tuple[Law, Cdf]] = [
    *((DiscreteLaplace.of_scale(scale), laplace_cdf(float(scale))) for scale in (Fraction(2, 5), 1, 10, 16, 10**6)),
    (DiscreteLaplace.of_scale(Fraction(1234567, 89)), laplace_cdf(1234567 / 89)),
    (DiscreteLaplace.of_scale(10**15), laplace_cdf(1e15)),
    (DiscreteLaplace(Powers(Fraction(3, 2))), laplace_cdf(1 / math.log(1.5))),
    (DiscreteLaplace(Powers(Fraction(1001, 1000))), laplace_cdf(1 / math.log(1.001))),
    *((DiscreteGaussian(Fraction(s) ** 2), gaussian_cdf(s)) for s in (0.5, 1, 10, 32, 33, 1e6, 1e15)),
    (DiscreteGaussian(Fraction(22, 7)), gaussian_cdf(math.sqrt(22 / 7))),
    *((Geometric.of_scale(scale), geometric_cdf(float(scale))) for scale in (Fraction(1, 2), 10, 300, 10**9)),
]


@pytest.mark.parametrize(("law", "cdf"), LAWS, ids=[f"{type(law).__name__}{i}" for i, (law, _) in enumerate(LAWS)])
def test_draws_follow_the_exact_law(law: Law, cdf: Cdf) -> None:
    """Guided vectors, short vectors and single draws alike."""
    bits = system_bits()
    assert fits(lambda: draw_many(law, 100_000, bits), cdf)
    assert fits(lambda: np.concatenate([law.fresh(1000, bits) for _ in range(20)]), cdf)
    assert fits(lambda: np.array([draw(law, bits) for _ in range(20_000)]), cdf)


def test_digits_of_a_geometric_are_independent_and_rebuild_its_law() -> None:
    """P(⌊G/m⌋ = h)·P(G mod m = l) = P(G = hm + l), in fractions; and append_digit undoes divmod."""
    a, m = Fraction(9, 10), 7
    for high in range(5):
        for low in range(m):
            product = (1 - a**m) * a ** (m * high) * (a**low * (1 - a) / (1 - a**m))
            assert product == (1 - a) * a ** (m * high + low)
    values = np.arange(1000)
    assert (append_digit(values // m, m, values % m) == values).all()


def test_what_is_too_large_stays_at_the_end_and_never_wraps() -> None:
    high = np.array([LARGEST >> 8, (LARGEST >> 8) + 1, LARGEST])
    assert append_digit(high, 256, np.array([255, 0, 0])).tolist() == [LARGEST, LARGEST, LARGEST]
    assert append_digit(high[:1], 256, np.array([254])).tolist() == [LARGEST - 1]
    for law in (DiscreteLaplace.of_scale(2**60), DiscreteGaussian(Fraction(2) ** 120)):
        draws = law.fresh(200_000, system_bits())
        assert draws.max() <= LARGEST
        assert draws.min() >= -LARGEST
        assert abs(float((draws > 0).mean()) - 0.5) < 0.01
    ends = np.abs(DiscreteLaplace.of_scale(2**60).fresh(600_000, system_bits())) == LARGEST
    assert ends.mean() == pytest.approx(math.exp(-8), rel=0.5)


@pytest.mark.parametrize("scale", ["1e-6", "1e-12", "1e-300", 5e-324, Fraction(1, 10**30)])
def test_noise_narrower_than_the_grid_is_zero(scale: str | float | Fraction) -> None:
    assert not DiscreteLaplace.of_scale(scale).fresh(20_000, system_bits()).any()
    assert not DiscreteGaussian(Fraction(scale)).fresh(20_000, system_bits()).any()


@pytest.mark.parametrize("scale", [0, -1, "nan", math.inf, "1e400", 2**60 + 1, -0.0, None, True])
def test_a_scale_that_is_none_is_refused(scale: float) -> None:
    with pytest.raises(ArgumentError):
        DiscreteLaplace.of_scale(scale)
    with pytest.raises(ArgumentError):
        DiscreteGaussian(scale if scale != 2**60 + 1 else scale**2)  # type: ignore[arg-type]  # what it refuses
    with pytest.raises(ArgumentError):
        Geometric.of_scale(scale)


@pytest.mark.parametrize("sigma_squared", [Fraction(1100), Fraction(10**7, 3), Fraction(2) ** 100])
def test_blocks_accept_as_the_exact_exponential_says(sigma_squared: Fraction) -> None:
    """Uniforms at, just below and just above 2^30·e^(−γ), which Decimal gives to 40 digits."""
    from decimal import Decimal, localcontext

    sampler = GaussianBlocks(sigma_squared)
    width = 1 << sampler._shift
    generator = np.random.default_rng(5)
    block = generator.integers(0, sampler._table.outcomes, 300)
    place = generator.integers(0, width, 300)
    boundary = []
    with localcontext(prec=40):
        for b, at in zip(block.tolist(), place.tolist(), strict=True):
            gamma = ((b * width + at) ** 2 - (b * width) ** 2) / (2 * sigma_squared)
            boundary.append(int((Decimal(-gamma.numerator) / gamma.denominator).exp() * 2**30))
    limit = np.array(boundary)
    below, above = np.maximum(limit - 1, 0), np.minimum(limit + 1, 2**30 - 1)
    bits = SeededBits(1)
    assert (sampler.accept(block, place, below, bits) == (limit > 0)).all()
    assert (sampler.accept(block, place, above, bits) == (above < limit)).all()
    lower, upper = sampler._around(block, place)
    assert (lower <= limit).all()
    assert (limit <= upper).all()
    for uniform in (lower, upper - 1, upper):
        clear = (uniform >= 0) & (uniform < 2**30) & (uniform != limit)
        kept = sampler.accept(block[clear], place[clear], uniform[clear], bits)
        assert (kept == (uniform < limit)[clear]).all()


def test_blocks_beyond_the_table_are_decided_exactly() -> None:
    sampler = GaussianBlocks(Fraction(10**6))
    far, place = np.full(3, 10**7), np.array([0, 1, 5])
    uniform = np.array([2**30 - 1, 0, 2**29])
    assert sampler.accept(far, place, uniform, SeededBits(2)).tolist() == [True, False, False]


def test_bounded_integers_are_uniform() -> None:
    for bound in (1, 2, 3, 1000, 10**9 + 7, 1 << 63):
        draws = integers_below(bound, 60_000, system_bits())
        assert draws.min() >= 0
        assert int(draws.max()) < bound
        cells = (draws.astype(object) * 8 // bound).astype(np.int64)
        if bound >= 1000:
            assert p_value(cells, lambda k: min(1.0, max(0.0, (k + 1) / 8))) > 1e-6
    assert len(integers_below(5, 0, system_bits())) == 0
    for bound in (0, (1 << 63) + 1):
        with pytest.raises(ValueError, match="must lie in"):
            integers_below(bound, 1, system_bits())


@pytest.mark.fresh
@pytest.mark.parametrize("broken", [b"\0", b"\xff", None], ids=["zeros", "ones", "short"])
def test_broken_entropy_gives_no_draw(broken: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: b"" if broken is None else broken * count)
    for law in (DiscreteLaplace.of_scale(10), DiscreteGaussian(Fraction(10**8)), Geometric.of_scale(10**5)):
        for count in (1, 100_000):
            with pytest.raises(EntropyError):
                draw_many(law, count, SystemBits())


@pytest.mark.fresh
def test_forked_children_draw_differently() -> None:
    """Parent and children all hold a batch drawn before the fork; none of them hands out the same values."""
    law, bits = DiscreteLaplace.of_scale(10**9), system_bits()
    draw(law, bits)
    streams = []
    for _ in range(4):
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(into, draw_many(law, 100, bits).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        streams.append(os.read(out, 800))
        os.close(out)
        os.close(into)
    streams.append(draw_many(law, 100, bits).tobytes())
    assert len({*streams}) == 5
    values = np.concatenate([np.frombuffer(stream, dtype=np.int64) for stream in streams])
    assert len(np.unique(values)) > 480


def test_threads_draw_differently() -> None:
    """64 workers share one batch and one pool of bytes; of values spread over 10¹⁷ no two are alike."""
    law, bits = DiscreteLaplace.of_scale(10**17), system_bits()
    with ThreadPoolExecutor(64) as pool:
        parts = list(pool.map(lambda count: draw_many(law, count, bits).tolist(), [1, 3, 128, 40] * 64))
    values = [value for part in parts for value in part]
    assert [len(part) for part in parts] == [1, 3, 128, 40] * 64
    assert len(set(values)) == len(values)


def test_a_batch_value_is_handed_out_once() -> None:
    counter: Iterator[int] = iter(range(10**6))
    reservoir = Reservoir()
    taken = [reservoir.take("law", size, lambda n: [next(counter) for _ in range(n)]) for size in (1, 100, 128) * 20]
    flat = [value for part in taken for value in part]
    assert [len(part) for part in taken] == [1, 100, 128] * 20
    assert len(set(flat)) == len(flat)


def test_another_process_id_drops_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    reservoir = Reservoir()
    reservoir.take("law", 1, lambda n: [1] * n)
    assert reservoir.take("law", 1, lambda n: [2] * n) == [1]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert reservoir.take("law", 1, lambda n: [2] * n) == [2]


def test_only_so_many_laws_keep_a_batch() -> None:
    reservoir = Reservoir()
    for law in range(1000):
        reservoir.take(law, 1, lambda n: [0] * n)
    assert len(reservoir._batches) <= 256


def test_the_same_seed_gives_the_same_draws_and_leaves_the_batches_alone() -> None:
    law = DiscreteGaussian(Fraction(10**6))
    one, two = (draw_many(law, 5, SeededBits(9)).tolist() for _ in range(2))
    assert one == two
    assert draw_many(law, 5, SeededBits(10)).tolist() != one
    assert shared_reservoir().take(law, 1, lambda n: [10**17] * n) != [one[-1]]


def test_tables_are_computed_once_for_equal_laws() -> None:
    assert table_of(HalfGaussianLaw(Fraction(300), 2)) is table_of(HalfGaussianLaw(Fraction(600, 2), 2))
    assert table_of(HalfGaussianLaw(Fraction(300), 2)) is not table_of(HalfGaussianLaw(Fraction(300), 4))


def test_numbers_run_from_the_likeliest_outwards() -> None:
    law = LaplaceLaw(HALF)
    values = [law.value(number) for number in range(9)]
    assert values == [0, 1, -1, 2, -2, 3, -3, 4, -4]
    chances = [exact_laplace(value) for value in values]
    assert all(one >= other for one, other in pairwise(chances))
