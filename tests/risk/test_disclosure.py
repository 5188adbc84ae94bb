"""Individual and population risk against integrals, enumeration, simulation and figures of other tools."""

from __future__ import annotations

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.curator import Curator
from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.risk.disclosure import measure_disclosure
from discreet.risk.frequencies import Frequencies, count_frequencies, count_outside, keys_of
from discreet.risk.household import household_risks, members
from discreet.risk.individual import benedetti_franconi, journalist, prosecutor
from discreet.risk.loglinear import fit_loglinear
from discreet.risk.population import pitman, zayatz
from discreet.risk.special import data_intrusion, find_special_uniques
from tests.risk.stored import DATA, stored, stored_file

QUASI = ("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "native_country")


@pytest.fixture(scope="module")
def adult() -> Frequencies:
    with stored_file(f"read_parquet('{DATA / 'adult.parquet'}')", QUASI) as (engine, table):
        return count_frequencies(engine, table, QUASI)


def frequencies(codes: np.ndarray, sizes: np.ndarray) -> Frequencies:
    quasi = tuple(f"k{at}" for at in range(codes.shape[1]))
    return Frequencies(quasi=quasi, codes=codes.astype(np.int64), sizes=sizes.astype(np.int64))


def sampled(population: np.ndarray, records: int, seed: int) -> tuple[Frequencies, np.ndarray]:
    """Classes of a simple random sample of rows of codes, and how many people each class has in the population."""
    kept = keyed_generator(seed).permutation(len(population))[:records]
    codes, sizes = np.unique(population[kept], axis=0, return_counts=True)
    kinds, people = np.unique(population, axis=0, return_counts=True)
    at = {tuple(kind): count for kind, count in zip(kinds.tolist(), people.tolist(), strict=True)}
    return frequencies(codes, sizes), np.array([at[tuple(code)] for code in codes.tolist()])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1999, 2000, 2001, 4000])
@pytest.mark.parametrize("p", [1e-3, 0.1, 0.4, 0.5, 0.500001, 0.9, 0.9999, 1.0])
def test_benedetti_franconi_is_the_integral(size: int, p: float) -> None:
    expected, _ = quad(lambda v: p / size / (p + (1 - p) * v ** (1 / size)), 0, 1, epsabs=0, epsrel=1e-11, limit=500)
    found = benedetti_franconi(np.array([size]), np.array([size / p]))[0]
    assert found == pytest.approx(expected, rel=1e-6)
    assert p / size * (1 - 1e-12) <= found <= 1 / size


def test_benedetti_franconi_is_the_mean_of_a_negative_binomial() -> None:
    """E[1/F] over F = f, f + 1, … with chance C(F − 1, f − 1)·p^f·(1 − p)^(F − f)."""
    for f, p in ((1, 0.3), (2, 0.3), (4, 0.7)):
        mean = sum(comb(F - 1, f - 1) * p**f * (1 - p) ** (F - f) / F for F in range(f, 400))
        assert benedetti_franconi(np.array([f]), np.array([f / p]))[0] == pytest.approx(mean, rel=1e-9)


def test_risks_of_adult_are_those_of_another_tool(adult: Frequencies) -> None:
    """sdcMicro 5.8.1: sum of individual risks 6219.045, mean .12733, every weight 10; 20,593 unique records."""
    assert (adult.records, len(adult.sizes), adult.unique) == (48_842, 27_118, 20_593)
    outside = adult.scaled(10 * adult.records)
    theirs = adult.sizes @ benedetti_franconi(adult.sizes, outside, approximate=True)
    assert theirs == pytest.approx(6219.045, abs=0.0005)
    assert theirs / adult.records == pytest.approx(0.12733, abs=5e-6)
    exact = adult.sizes @ benedetti_franconi(adult.sizes, outside)
    assert exact == pytest.approx(theirs, rel=2e-3)
    assert exact != pytest.approx(theirs, rel=1e-4), "the approximation above f = 2 is one"


def test_special_uniques_of_adult_are_those_of_another_tool() -> None:
    """sdcMicro 5.8.1: 3,687 of the first 5,000 records have a special unique."""
    with stored_file(f"(SELECT * FROM read_parquet('{DATA / 'adult.parquet'}') LIMIT 5000)", QUASI) as (engine, table):
        found = find_special_uniques(count_frequencies(engine, table, QUASI))
    assert found.records == 3_687
    assert sum(share for _, share in found.by_column) > 1


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=14), st.integers(1, 4))
def test_special_uniques_have_a_plain_twin(rows: list[tuple[int, ...]], largest: int) -> None:
    codes, sizes = np.unique(np.array(rows), axis=0, return_counts=True)
    found = find_special_uniques(frequencies(codes, sizes), largest=largest)
    for at, code in enumerate(codes.tolist()):
        minimal = [
            chosen
            for size in range(1, largest + 1)
            for chosen in combinations(range(4), size)
            if alone(rows, code, chosen) and not any(alone(rows, code, part) for part in combinations(chosen, size - 1))
        ]
        counted = [sum(len(chosen) == size for chosen in minimal) for size in range(1, largest + 1)]
        assert found.minimal[at].tolist() == counted
        weights = [float(np.prod([max(4 - i, 1) for i in range(len(one), largest + 1)])) for one in minimal]
        assert found.scores[at] == pytest.approx(sum(weights))


def alone(rows: list[tuple[int, ...]], code: list[int], chosen: tuple[int, ...]) -> bool:
    return sum(all(row[c] == code[c] for c in chosen) for row in rows) == 1


def test_data_intrusion_is_its_closed_form(adult: Frequencies) -> None:
    pairs = int((adult.sizes == 2).sum())
    expected = 20_593 * 0.1 / (20_593 * 0.1 + pairs * 0.9)
    assert data_intrusion(adult, 0.1) == pytest.approx(expected)
    assert data_intrusion(adult, 1.0) == 1.0


def test_journalist_and_prosecutor() -> None:
    sizes, outside = np.array([1, 2, 3]), np.array([10.0, 2.0, 1.0])
    assert prosecutor(sizes).tolist() == [1, 1 / 2, 1 / 3]
    assert journalist(sizes, outside).tolist() == [1 / 10, 1 / 2, 1 / 3]
    with pytest.raises(ArgumentError):
        benedetti_franconi(sizes, np.array([1.0, 0.0, 2.0]))


def population_of_keys(seed: int, *, tied: bool) -> np.ndarray:
    """40,000 people with four keys; with `tied`, the second key leans on the first and the fourth on the third."""
    draw = keyed_generator(seed)
    shape = [np.minimum(draw.geometric(0.3 if tied else 0.15, 40_000) - 1, 7 if tied else 29) for _ in range(4)]
    if tied:
        shape[1] = np.where(draw.random(40_000) < 0.7, shape[0], shape[1])
        shape[3] = np.where(draw.random(40_000) < 0.7, shape[2], shape[3])
    return np.stack(shape, axis=1)


@pytest.mark.parametrize(("tied", "model"), [(False, "independence"), (True, "pairs")])
def test_loglinear_models_find_what_is_unique_outside(tied: bool, model: str) -> None:
    sample, people = sampled(population_of_keys(3, tied=tied), 4_000, 4)
    alone_here = sample.sizes == 1
    found = fit_loglinear(sample, 40_000, model=model)  # type: ignore[arg-type]
    unique_outside, right = int((people[alone_here] == 1).sum()), float((1 / people[alone_here]).sum())
    assert found.tau1 == pytest.approx(unique_outside, rel=0.15)
    assert found.tau2 == pytest.approx(right, rel=0.1)
    assert found.tau1_interval[0] < found.tau1 < found.tau1_interval[1] <= found.unique
    if tied:
        blind = fit_loglinear(sample, 40_000)
        assert abs(blind.tau1 - unique_outside) > 2 * abs(found.tau1 - unique_outside), "columns belong together"


def test_pairs_fit_the_tables_of_pairs() -> None:
    """With two columns the model of pairs is saturated: τ1 follows from the sizes themselves."""
    sample = frequencies(np.array([[0, 0], [0, 1], [1, 1]]), np.array([1, 4, 5]))
    found = fit_loglinear(sample, 100, model="pairs")
    assert found.tau1 == pytest.approx(np.exp(-1 * (1 - 0.1) / 0.1))
    with pytest.raises(ArgumentError, match="cells"):
        fit_loglinear(frequencies(np.arange(12_000).reshape(-1, 4) * 7, np.ones(3000)), 10_000, model="pairs")


def test_zayatz_is_its_sum_of_chances() -> None:
    sizes, people = np.array([1] * 6 + [2] * 3 + [5]), 40
    records = int(sizes.sum())

    def chance(i: int) -> float:
        return i * comb(people - i, records - 1) / comb(people, records)

    expected = 6 * people / records * 6 * chance(1) / (6 * chance(1) + 3 * chance(2) + chance(5))
    assert zayatz(sizes, people, keyed_generator(1)).uniques == pytest.approx(expected)


def test_pitman_finds_the_law_it_assumes() -> None:
    """People come in one by one and join a kind of size s with weight s − a, or a new one with t + a·kinds."""
    draw, a, t, people = keyed_generator(8), 0.6, 30.0, 20_000
    chances, kinds, sizes, of = draw.random(people).tolist(), 0, [0] * people, [0] * people
    for person in range(people):
        if chances[person] * (person + t) < t + a * kinds:
            of[person], kinds = kinds, kinds + 1
        else:
            like = of[int(draw.integers(person))]
            while draw.random() >= (sizes[like] - a) / sizes[like]:
                like = of[int(draw.integers(person))]
            of[person] = like
        sizes[of[person]] += 1
    truth = sizes[:kinds].count(1)
    kept = np.bincount(np.array(of)[draw.permutation(people)[:2_000]])
    found = pitman(kept[kept > 0], people, keyed_generator(9))
    assert found.low < truth < found.high
    assert found.share == found.uniques / people


def test_all_alike_and_all_unlike_are_the_limits() -> None:
    assert pitman(np.ones(50, dtype=np.int64), 1_000, keyed_generator(1)).uniques == 1_000
    assert pitman(np.full(5, 10), 1_000, keyed_generator(1)).uniques == 0
    assert zayatz(np.full(5, 10), 1_000, keyed_generator(1)).uniques == 0
    with pytest.raises(ArgumentError, match="population"):
        zayatz(np.full(5, 10), 49, keyed_generator(1))


def test_household_risk_is_that_of_finding_any_member() -> None:
    columns: dict[str, list[object]] = {"age": [1, 1, 2, 3, None, 3], "home": ["x", None, "x", "y", "y", None]}
    with stored(columns) as (engine, table):
        counted = count_frequencies(engine, table, ["age"])
        classes, homes = members(engine, table, ["age"], "home")
        risks = prosecutor(counted.sizes)
        found, together = household_risks(risks, classes, homes)
    of_class: dict[tuple[object], float] = {(1,): 1 / 2, (2,): 1.0, (3,): 1 / 2, (None,): 1.0}
    homes_of = {"x": [0, 2], "y": [3, 4]}
    expected = []
    for home, age in zip(columns["home"], columns["age"], strict=True):
        group = homes_of[str(home)] if home is not None else None
        own = of_class[(age,)]
        expected.append(1 - np.prod([1 - of_class[(columns["age"][m],)] for m in group]) if group else own)
    assert sorted(found) == pytest.approx(sorted(expected))
    assert sorted(together) == [1, 1, 2, 2, 2, 2]


def test_a_register_counts_who_is_like_whom() -> None:
    here: dict[str, list[object]] = {"a": [1, 1, 2, None], "b": ["x", "x", "y", "x"]}
    there: dict[str, list[object]] = {"a": [1, 2, 2, None, 9], "b": ["x", "y", "y", "x", "x"]}
    with stored(there) as (engine, table):
        register = keys_of(engine, table, ["a", "b"])
    with stored(here) as (engine, table):
        outside = count_outside(keys_of(engine, table, ["a", "b"]), register)
        counted = count_frequencies(engine, table, ["a", "b"])
        found = measure_disclosure(engine, table, ["a", "b"], population=register)
    assert dict(zip(map(tuple, counted.codes.tolist()), outside, strict=True)) == {(0, 0): 1, (1, 1): 2, (2, 0): 1}
    assert [one.view for one in found.scores] == ["prosecutor", "journalist"]
    assert found.scores[-1].found == pytest.approx(1 / 2 + 1 / 2 + 1 / 2 + 1)
    assert not found.loglinear


def test_weights_add_up_in_millionths() -> None:
    columns: dict[str, list[object]] = {"a": [1, 1, 2], "w": [2.5, 0.25, 7.000001]}
    with stored(columns) as (engine, table):
        counted = count_frequencies(engine, table, ["a"], weight="w")
        found = measure_disclosure(engine, table, ["a"], weight="w", generator=keyed_generator(1))
    assert counted.outside is not None
    assert counted.outside.tolist() == [2.75, 7.000001]
    assert (found.people, found.unique, found.records) == (10, 1, 3)
    wrongs: list[list[object]] = [[1.0, 0.0, 1.0], [1.0, None, 1.0], [1.0, float("nan"), 1.0], ["a", "b", "c"]]
    for wrong in wrongs:
        with stored({"a": [1, 1, 2], "w": wrong}) as (engine, table), pytest.raises(ArgumentError) as told:
            count_frequencies(engine, table, ["a"], weight="w")
        assert "'w'" in str(told.value)


@pytest.mark.slow
def test_intervals_of_people_found_hold_them() -> None:
    """An intruder who picks one of the F look-alikes of every record finds a number within the interval, 95 in 100."""
    population = population_of_keys(11, tied=False)
    inside, runs = 0, 200
    draw = keyed_generator(12)
    for run in range(runs):
        sample, people = sampled(population, 4_000, 100 + run)
        risks = np.repeat(1 / people, sample.sizes)
        half = 1.959964 * float(np.sqrt((risks * (1 - risks)).sum()))
        found = int((draw.random(len(risks)) < risks).sum())
        inside += abs(found - float(risks.sum())) <= half
    assert inside / runs >= 0.9


def test_curator_tells_in_words_grids_and_charts(tmp_path: Path) -> None:
    draw = keyed_generator(5)
    frame = pl.DataFrame(
        {"age": draw.integers(18, 80, 400), "zip": draw.integers(0, 20, 400), "w": draw.integers(5, 15, 400)}
    )
    curator = Curator(tmp_path)
    curator.add(frame, name="survey")
    curator.add(pl.concat([frame, frame, frame]), name="register")
    found = curator.disclosure("survey", ["age", "zip"], population="register")
    assert found.scores[-1].found == pytest.approx(found.scores[0].found / 3)
    weighed = curator.disclosure("survey", ["age", "zip"], weight="w")
    assert [one.view for one in weighed.scores] == ["prosecutor", "individual"]
    assert 0 < weighed.scores[1].found < weighed.scores[0].found
    assert weighed.intrusion is not None
    assert len(weighed.grids()) == 3
    assert weighed.charts()
    assert all(sentence.endswith(".") for sentence in weighed.sentences())
    assert weighed.as_json()["records"] == 400
    told = " ".join(weighed.sentences())
    for model in weighed.loglinear:
        assert f"right for about {model.tau2:,.0f} (" in told
    assert f"a chance of {weighed.intrusion:.1%}" in told
    assert f"{weighed.scores[0].mean:.1%} of them (the marketer's risk)" in told
    # One sentence for each view, for special uniques where there are some, for a single match, and for each model.
    some = bool(weighed.special.records)
    assert len(weighed.sentences()) == 2 + some + 1 + len(weighed.loglinear) + len(weighed.uniques)
    with pytest.raises(ArgumentError, match="population"):
        curator.disclosure("survey", ["age"], population=10)
