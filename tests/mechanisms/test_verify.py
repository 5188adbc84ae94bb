"""Certificates: exact figures, known values, and each planted bug turns one red."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import CheckFailedError, UnknownNameError
from discreet.guarantee import Adjacency
from discreet.mechanisms import aim, catalogue, counterexamples, neighbours, noise, partition, testing, utility_score
from discreet.mechanisms.certificate import Certificate, Claim, examine
from discreet.mechanisms.channel import CARD
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Table
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.tails import LaplaceLaw
from discreet.mechanisms.tallies import Tally
from discreet.mechanisms.testing import noisy_law
from discreet.mechanisms.verify import certify_all, failures, grid, grids_in_short, sentences


@pytest.fixture(scope="module")
def all_certificates() -> dict[str, Certificate]:
    return {certificate.claim.name: certificate for certificate in certify_all()}


def test_every_promise_holds_and_every_counterexample_is_caught(all_certificates: dict[str, Certificate]) -> None:
    assert failures(tuple(all_certificates.values())) == ()
    must_fail = [c for c in all_certificates.values() if c.claim.must_fail]
    assert len(must_fail) >= 10
    assert all(c.delta > c.claim.delta for c in must_fail)
    assert all(c.delta <= c.claim.delta for c in all_certificates.values() if not c.claim.must_fail)


def test_every_figure_is_as_listed(all_certificates: dict[str, Certificate]) -> None:
    """A law, a domain or a relation that changes shows here; the list changes with a reason only."""
    figures = [
        (
            one.claim.name,
            one.claim.mechanism,
            one.claim.relation,
            one.claim.domain,
            str(one.pairs),
            str(one.claim.odds),
            "infinite" if one.odds is None else str(one.odds),
            str(one.claim.delta),
            " ".join(f"{delta}@{odds}" for odds, delta in one.delta_at),
            one.verdict,
            f"{one.worst.one} against {one.worst.other}: {one.worst.output}",
        )
        for one in all_certificates.values()
    ]
    with (Path(__file__).parent / "certificates.csv").open(newline="") as listed:
        assert figures == [tuple(row) for row in csv.reader(listed)][1:]


@pytest.mark.parametrize(
    ("name", "odds", "verdict"),
    [
        ("coin", "3", "tight"),
        ("response-3", "3", "tight"),
        ("response-4", "3", "tight"),
        ("response-5", "3", "tight"),
        ("exponential", "65/17", "slack"),
        ("exponential-monotone", "33/17", "slack"),
        ("permute-and-flip", "4", "tight"),
        ("noisy-max", "4", "tight"),
        ("count-of-4-replace-one", "76/31", "slack"),
        ("median-of-5-replace-one", "5/2", "slack"),
    ],
)
def test_values_known_from_the_literature_and_by_hand(
    name: str, odds: str, verdict: str, all_certificates: dict[str, Certificate]
) -> None:
    assert all_certificates[name].odds == Fraction(odds)
    assert all_certificates[name].verdict == verdict


@pytest.mark.requirement("0.60", "2.35")
def test_coin_is_private_at_ln_3_exactly(all_certificates: dict[str, Certificate]) -> None:
    coin = all_certificates["coin"]
    assert coin.odds == 3
    assert coin.delta == 0
    assert coin.pairs == 2
    assert all(all_certificates[f"response-{k}"].odds == 3 for k in (3, 4, 5))


@pytest.mark.requirement("2.36", "2.37")
def test_card_is_private_for_no_epsilon(all_certificates: dict[str, Certificate]) -> None:
    card = all_certificates["card"]
    assert card.odds is None
    assert dict(card.delta_at) == {Fraction(odds): Fraction(1, 2) for odds in (1, 2, 3, 100)}
    assert card.worst.output == "no"
    yes, no = CARD.rows
    assert yes[0] / no[0] == 2  # on "yes" alone the ratio is ln 2's
    assert yes[1] == 0
    assert no[1] == Fraction(1, 2)


@pytest.mark.requirement("1.43", "1.44")
def test_everything_with_probability_delta_keeps_its_promise_and_nothing_else(
    all_certificates: dict[str, Certificate],
) -> None:
    everything = all_certificates["everything-with-1/100"]
    assert everything.odds is None
    assert dict(everything.delta_at) == {Fraction(odds): Fraction(1, 100) for odds in (1, 2, 3, 100)}
    assert everything.verdict == "tight"


@pytest.mark.requirement("1.28", "1.45")
def test_noise_scaled_to_the_local_sensitivity_needs_delta_near_one(all_certificates: dict[str, Certificate]) -> None:
    assert all_certificates["median-with-local-noise"].odds is None
    last = Fraction(0)
    for fine in (1, 10, 50):
        # The same ε up to the grid: e^ε = (1 + 1/fine)^fine < e. S = {f(x)} has chance 1 here and 1/(2·fine + 1) there.
        base = Powers(Fraction(fine + 1, fine) ** fine)
        here = counterexamples.locally_noisy_median((0, 0, 0), fine, base)
        there = counterexamples.locally_noisy_median((0, 0, fine), fine, base)
        assert here[0] == 1
        assert there[0] == Fraction(1, 2 * fine + 1)
        delta = here[0] - base.base * there[0]
        assert delta > last
        last = delta
    assert last > Fraction(97, 100)


def test_local_noise_on_a_mean_fails_too_but_not_with_delta_one(all_certificates: dict[str, Certificate]) -> None:
    mean = all_certificates["mean-with-local-noise"]
    assert mean.verdict == "violated"
    # Every output is possible under both tables, so no event has chance 1 here and 0 there.
    assert mean.odds is not None
    assert mean.delta < Fraction(1, 5)


def test_a_bound_read_off_the_data_is_no_bound(all_certificates: dict[str, Certificate]) -> None:
    certificate = all_certificates["mean-with-bound-read-off-the-data"]
    assert certificate.odds is None
    assert certificate.verdict == "violated"


@pytest.mark.requirement("1.46")
@pytest.mark.parametrize(
    ("name", "at_one", "at_two"),
    [
        ("printed-threshold-1e-3", "3/25", "159/12800"),
        ("1e-3", "3/400", "159/204800"),
        ("printed-threshold-1e-6", "3/1600", "159/819200"),
        ("1e-6", "3/409600", "159/209715200"),
    ],
)
def test_propose_test_release_in_exact_numbers(
    name: str, at_one: str, at_two: str, all_certificates: dict[str, Certificate]
) -> None:
    certificate = all_certificates[f"propose-test-release-{name}"]
    assert dict(certificate.delta_at) == {Fraction(16): Fraction(at_two), Fraction(4): Fraction(at_one)}
    assert certificate.claim.must_fail == name.startswith("printed")


# Debts of four persons, in euros and cents; nobody owes more than the cap.
OWED = {"A": Fraction("2800798"), "B": Fraction("7000"), "C": Fraction("1.56"), "X": Fraction(0)}
CAP = Fraction(10_000_000)


def loss(move: Fraction, scale: Fraction, outputs: range) -> Fraction:
    """The largest log-ratio of Laplace noise of scale/ε between sums that differ by `move`, as a multiple of ε."""
    return max((abs(y - move) - abs(Fraction(y))) / scale for y in outputs)


@pytest.mark.requirement("4.15", "4.16", "4.17", "4.18", "4.19", "4.20", "4.21")
def test_debts_need_noise_for_the_largest_possible_debt(all_certificates: dict[str, Certificate]) -> None:
    total = sum(OWED.values())
    assert total == Fraction("2807799.56")
    without = {name: total - owed for name, owed in OWED.items()}
    assert without["A"] == Fraction("7001.56")
    assert {name: total - rest for name, rest in without.items()} == OWED
    outputs = range(-10, 1)
    assert [loss(owed, Fraction(1), outputs) for owed in OWED.values()] == list(OWED.values())
    # Noise for Alice's debt hides hers exactly, and a debt at the cap 3.57 times worse than promised.
    assert loss(OWED["A"], OWED["A"], outputs) == 1
    assert round(float(loss(CAP, OWED["A"], outputs)), 2) == 3.57
    assert all(loss(owed, CAP, outputs) <= 1 for owed in (*OWED.values(), CAP))
    assert loss(CAP, CAP, outputs) == 1
    # The same on a grid of 100 000 euros, as exact laws over all outputs.
    assert all_certificates["debts-with-noise-1/ε"].odds == 2**28
    assert all_certificates["debts-scaled-to-the-largest"].odds == 2**100
    for_alice = counterexamples.noisy_debts((0, 0, 0, 28), 28, Powers(Fraction(2**28)))
    without_alice = counterexamples.noisy_debts((0, 0, 0), 28, Powers(Fraction(2**28)))
    assert max(for_alice[y] / without_alice[y] for y in for_alice) == 2**28
    fixed = all_certificates["debts-scaled-to-the-cap"]
    assert fixed.odds == 2**100
    assert fixed.verdict == "tight"


TALLIES = ("count", "sum", "sum-and-count", "histogram")


@pytest.mark.requirement("1.15", "1.19", "4.22", "4.23")
def test_noise_of_the_global_sensitivity_is_private_and_tight(all_certificates: dict[str, Certificate]) -> None:
    """Scale Δ/ε, with Δ = 2M/n for a mean of records between ±M, and the ℓ1 distance for a vector."""
    for name in (*EVERY_TOTAL, "mean-replace-one", "median-with-global-noise", "maximum-with-global-noise"):
        assert all_certificates[name].verdict == "tight", name
    assert Tally.sum(-2, 2).sensitivity(Adjacency.REPLACE_ONE) == 4
    assert Tally.sum_and_count(0, 2).sensitivity(Adjacency.ADD_REMOVE) == 3
    assert Tally.histogram(0, 5).sensitivity(Adjacency.ADD_REMOVE) == 1
    assert Tally.histogram(0, 5).sensitivity(Adjacency.REPLACE_ONE) == 2
    assert all_certificates["histogram-of-one-cell-a-person"].odds == 16
    for entry in catalogue.entries():
        if entry.claim.name.endswith("with-global-noise"):
            assert set(entry.law((-1, 0, 1))) == {-1, 0, 1}


@pytest.mark.requirement("4.02", "4.04", "4.09")
def test_a_count_with_and_without_one_person(all_certificates: dict[str, Certificate]) -> None:
    """51 against 50, for noise of scale b: the odds stay within e^(1/b) both ways and reach it."""
    certified = all_certificates["count-add-remove"]
    assert certified.odds == certified.claim.odds
    for scale in (1, 2, 3):
        added = LaplaceNoise.for_guarantee(sensitivity=scale, epsilon=Powers(Fraction(2**6)))
        with_her, without_her = noisy_law(51, added, 0, 100), noisy_law(50, added, 0, 100)
        ratios = [with_her[y] / without_her[y] for y in with_her]
        odds = Fraction(2) ** (6 // scale)
        assert (min(ratios), max(ratios)) == (1 / odds, odds)
        # Beyond both counts the loss is ±1/b and constant: between whole numbers there is nothing else.
        assert set(ratios[51:]) == {odds}
        assert set(ratios[:51]) == {1 / odds}
    pairs = set(neighbours.added_or_removed((0, 1), 3))
    assert pairs == {(other, one) for one, other in pairs}  # one inequality over ordered pairs says both


@pytest.mark.requirement("4.06")
def test_the_odds_range_from_one_to_infinite() -> None:
    same, half = {0: Fraction(1)}, {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert certificate_of(half, half).odds == 1
    assert certificate_of(half, same).odds is None
    for one, other in ((half, {0: Fraction(1, 4), 1: Fraction(3, 4)}),):
        odds = certificate_of(one, other).odds
        assert odds == 2
        assert all(1 / odds <= one[y] / other[y] <= odds for y in one)


def test_the_certified_noise_is_that_of_the_sampler() -> None:
    """The tails the sampler's table is made of enclose the masses the certificates add up."""
    assert noise.law(2, LaplaceNoise(Powers(Fraction(4))), reach=5) == noisy_law(
        2, LaplaceNoise(Powers(Fraction(4))), -5, 5
    )
    for base in (Fraction(4), Fraction(3, 2)):
        law, precision = LaplaceLaw(Powers(base)), 80
        masses = noisy_law(0, LaplaceNoise(Powers(base)), -400, 400)
        for number, (low, high) in enumerate(law.tails(precision, 30), start=1):
            tail = 1 - sum(masses[law.value(before)] for before in range(number))
            assert low <= tail * 2**precision <= high
            assert high - low <= 4


laws = (
    st.lists(st.integers(0, 5), min_size=1, max_size=5)
    .filter(any)
    .map(lambda weights: {at: Fraction(weight, sum(weights)) for at, weight in enumerate(weights)})
)
LawOf = Mapping[int, Fraction]


def certificate_of(one: LawOf, other: LawOf, odds: Fraction = Fraction(2)) -> Certificate:
    claim = Claim(name="case", mechanism="test", relation="any", domain="two tables", odds=odds)
    return examine(claim, lambda table: one if table == (0,) else other, [((0,), (1,)), ((1,), (0,))])


@pytest.mark.requirement("1.14", "1.43")
@given(laws, laws, st.fractions(1, 5, max_denominator=4))
def test_figures_are_those_of_all_sets_of_outputs(one: LawOf, other: LawOf, odds: Fraction) -> None:
    """Pointwise bounds suffice: the brute force over all sets of outputs finds the same odds and δ."""
    certificate = certificate_of(one, other, odds)
    outputs = sorted({*one, *other})
    events = list(chain.from_iterable(combinations(outputs, size) for size in range(1, len(outputs) + 1)))
    chances = [
        (sum(a.get(o, Fraction(0)) for o in event), sum(b.get(o, Fraction(0)) for o in event))
        for event in events
        for a, b in ((one, other), (other, one))
    ]
    assert certificate.delta == max(max(p - odds * q for p, q in chances), 0)
    infinite = any(p > 0 == q for p, q in chances)
    assert certificate.odds == (None if infinite else max(p / q for p, q in chances if q))


@pytest.mark.requirement("1.16")
@given(laws, laws, st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_no_function_of_the_output_tells_more(one: LawOf, other: LawOf, image: list[int]) -> None:
    def after(law: LawOf) -> LawOf:
        return {y: sum((p for o, p in law.items() if image[o] == y), Fraction(0)) for y in range(3)}

    before, later = certificate_of(one, other), certificate_of(after(one), after(other))
    assert later.delta <= before.delta
    assert before.odds is None or (later.odds is not None and later.odds <= before.odds)


@pytest.mark.requirement("1.13")
def test_distribution_functions_stay_within_the_odds() -> None:
    certified = certify_all(["median-of-5-replace-one"])[0]
    entry = next(entry for entry in catalogue.entries() if entry.claim == certified.claim)
    assert certified.odds is not None
    for one, other in entry.neighbours():
        p, q = entry.law(one), entry.law(other)
        for t in range(4):
            below, against = (sum(law[z] for z in range(t + 1)) for law in (p, q))
            assert 1 / certified.odds <= below / against <= certified.odds


@pytest.mark.requirement("1.12")
def test_neighbours_are_exactly_the_tables_at_distance_one() -> None:
    domain = (0, 1, 3)
    every = [table for size in range(4) for table in neighbours.tables(domain, size)]

    def differing(one: Table, other: Table) -> bool:
        if len(one) != len(other):
            return False
        return min(sum(a != b for a, b in zip(one, order, strict=True)) for order in permuted(other)) == 1

    def permuted(table: Table) -> list[Table]:
        return [
            tuple(table[at] for at in order)
            for order in product(range(len(table)), repeat=len(table))
            if len(set(order)) == len(table)
        ]

    replaced = set(neighbours.replaced(domain, range(4)))
    assert replaced == {(one, other) for one in every for other in every if differing(one, other)}
    joined = set(neighbours.added_or_removed(domain, 3))
    assert joined == {
        (one, other)
        for one in every
        for other in every
        if abs(len(one) - len(other)) == 1 and lacks_one(min(one, other, key=len), max(one, other, key=len))
    }


def lacks_one(short: Table, long: Table) -> bool:
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def test_totals_may_all_lie_on_one_side_of_zero() -> None:
    """No record totals 0, which is no value of a record here and must not be clamped to one."""
    for low, high in ((-3, -1), (1, 3)):
        law = Tally.sum(low, high).law((), epsilon=Powers(Fraction(8)), adjacency=Adjacency.ADD_REMOVE, largest=2)
        assert {total for (total,) in law} == set(range(2 * min(low, 0), 2 * max(high, 0) + 1))


@pytest.mark.parametrize(("name", "low", "high"), [("mean-replace-one", -2, 2), ("sum-add-remove", -1, 2)])
def test_domains_hold_records_beyond_both_bounds(name: str, low: int, high: int) -> None:
    (entry,) = (entry for entry in catalogue.entries() if entry.claim.name == name)
    records = {record for one, other in entry.neighbours() for record in (*one, *other)}
    assert min(records) < low < high < max(records)


def test_a_law_that_is_none_is_refused() -> None:
    half, negative = {0: Fraction(1, 2)}, {0: Fraction(3, 2), 1: Fraction(-1, 2)}
    for wrong in (half, negative):
        with pytest.raises(CheckFailedError):
            certificate_of(wrong, wrong)
    with pytest.raises(UnknownNameError):
        certify_all(["no-such-certificate"])


def test_certificates_speak_exact_json_and_a_grid(all_certificates: dict[str, Certificate]) -> None:
    told = json.loads(json.dumps([c.as_json() for c in all_certificates.values()]))
    by_name = {entry["name"]: entry for entry in told}
    median = by_name["median-of-5-replace-one"]
    assert median["exact"] == {"odds": "5/2", "delta": "0", "delta_at": {"4": "0"}}
    assert (median["claimed"], median["pairs"]) == ({"odds": "4", "delta": "0"}, 420)
    assert (median["verdict"], median["expected"]) == ("slack", "holds")
    assert by_name["card"]["exact"]["odds"] is None
    table = grid(tuple(all_certificates.values()))
    assert len(table.rows) == len(told)
    assert "65/17" in table.text()
    assert "NO" not in {row[-1] for row in table.rows}


def test_certificates_are_told_to_people_in_eighty_columns(all_certificates: dict[str, Certificate]) -> None:
    every = tuple(all_certificates.values())
    promises, designs = grids_in_short(every)
    assert sentences(every)[0].startswith(
        f"As it should be: {len(promises.rows)} promises hold, and {len(designs.rows)} designs"
    )
    assert {row[-1] for row in designs.rows} == {"violated"}
    assert "violated" not in {row[-1] for row in promises.rows}
    assert [row[0] for part in (promises, designs) for row in part.rows] == [
        c.claim.name for c in every if not c.claim.must_fail
    ] + [c.claim.name for c in every if c.claim.must_fail]
    shown = {row[0]: row[1:] for part in (promises, designs) for row in part.rows}
    assert shown["exponential"] == ("4", "65/17", "slack")
    assert shown["card"] == ("3", "infinite", "violated")
    assert shown["propose-test-release-1e-6"] == ("16, δ 1e-6", "δ ≈ 7.58e-07", "slack")
    # Beside the names, which may break, the figures leave them two thirds of a terminal.
    assert max(sum(len(str(figure)) for figure in figures) for figures in shown.values()) <= 34
    card, coin = (all_certificates[name] for name in ("card", "coin"))
    assert sentences([card])[0] == "As it should be: 1 design that only looks private is caught."
    assert sentences([coin])[0] == "As it should be: 1 promise holds."
    assert [part.title for part in grids_in_short([coin])] == ["Promises"]
    failed = examine(
        replace(card.claim, must_fail=False),
        lambda truth: dict(enumerate(CARD.rows[truth[0]])),
        [((0,), (1,)), ((1,), (0,))],
    )
    assert sentences([coin, failed])[0] == "Not as it should be: card."


def verdict(name: str) -> str:
    """The certificate's verdict, with the code as it is now."""
    return certify_all([name])[0].verdict


@pytest.mark.mutates
@pytest.mark.parametrize("name", ["median-of-5-replace-one", "median-add-remove", "quartile-add-remove"])
def test_a_halved_sensitivity_of_a_quantile_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = aim.Quantile.limits

    def halved(self: aim.Quantile, records: int, adjacency: Adjacency) -> aim.Limits:
        # Twice the distance at the same declared sensitivity.
        right = limits(self, records, adjacency)
        return aim.Limits(2 * right.unit, 2 * right.below, 2 * right.above, right.sensitivity)

    assert verdict(name) != "violated"
    monkeypatch.setattr(aim.Quantile, "limits", halved)
    assert verdict(name) == "violated"


@pytest.mark.mutates
@pytest.mark.parametrize("name", ["exponential", "permute-and-flip", "noisy-max"])
def test_a_choice_at_twice_its_price_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utility_score, "share_of_epsilon", lambda *, monotone: Fraction(1))
    assert verdict(name) == "violated"


@pytest.mark.mutates
@pytest.mark.parametrize("name", ["propose-test-release-1e-3", "propose-test-release-1e-6"])
def test_a_threshold_one_too_low_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = testing.least_threshold
    monkeypatch.setattr(testing, "least_threshold", lambda test, delta: right(test, delta) - 1)
    assert verdict(name) == "violated"


def halved(sensitivity: int) -> Fraction:
    """The factor on the decay: right is 1/sensitivity."""
    return Fraction(2, sensitivity)


def swapped(sensitivity: int) -> Fraction:
    """A scale taken for a rate."""
    return Fraction(sensitivity)


EVERY_TOTAL = [f"{tally}-{adjacency}" for tally in TALLIES for adjacency in Adjacency]
# A scale and a rate of 1 are one.
OF_ONE_STEP = ("count-add-remove", "count-replace-one", "histogram-add-remove")


@pytest.mark.mutates
@pytest.mark.parametrize(
    ("name", "factor"),
    [(name, halved) for name in EVERY_TOTAL] + [(name, swapped) for name in EVERY_TOTAL if name not in OF_ONE_STEP],
)
def test_a_halved_sensitivity_and_a_scale_for_a_rate_are_caught(
    name: str, factor: Callable[[int], Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*, sensitivity: int, epsilon: Powers) -> LaplaceNoise:
        return LaplaceNoise(epsilon.scaled(factor(sensitivity)))

    assert verdict(name) == "tight"
    monkeypatch.setattr(LaplaceNoise, "for_guarantee", wrong)
    assert verdict(name) == "violated"


@pytest.mark.mutates
@pytest.mark.parametrize("name", ["sum-add-remove", "sum-replace-one", "sum-and-count-add-remove", "mean-replace-one"])
def test_a_dropped_clamp_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tally, "clamped", lambda _, table: table)
    assert verdict(name) == "violated"


@pytest.mark.mutates
@pytest.mark.parametrize("name", ["sum-replace-one", "histogram-replace-one"])
def test_the_sensitivity_of_the_other_relation_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Tally.sensitivity
    monkeypatch.setattr(Tally, "sensitivity", lambda self, _: right(self, Adjacency.ADD_REMOVE))
    assert verdict(name) == "violated"


@pytest.mark.mutates
def test_noise_for_half_the_keys_a_person_lights_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition.Reach, "moved", lambda *_: 1)
    assert verdict("stability-threshold-two-keys") == "violated"
    assert verdict("stability-threshold-replace-one") == "violated"
