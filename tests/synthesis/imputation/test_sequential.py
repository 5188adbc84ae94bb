"""Sequential copies: what stays, what goes, what is refused, and whether draws follow the models they state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import ArgumentError, CheckFailedError, InputError
from discreet.randomness import keyed_generator
from discreet.stats.combine import Rule
from discreet.stats.linear import fit_linear
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.models import Method, fit_column
from discreet.synthesis.imputation.sequential import Settings, synthesize

RANDOM = np.random.default_rng(7)
N = 600
METHODS = ("cart", "normlogit", "parametric")


def survey(n: int = N) -> dict[str, list[Any]]:
    """Mixed kinds, with gaps, a heap at 0 and an outlier."""
    age = RANDOM.integers(0, 95, n)
    married = np.where((age >= 16) & (RANDOM.random(n) < 0.6), "yes", "no")
    region = RANDOM.choice(["north", "south", "east", "west"], n, p=[0.5, 0.3, 0.15, 0.05])
    income = np.where(RANDOM.random(n) < 0.3, 0.0, np.round(RANDOM.lognormal(7, 1, n) + 10 * age, 2))
    income[0] = 1e6
    health = np.clip(np.round(RANDOM.normal(3 - age / 80, 1, n)), 1, 5).astype(int)
    table: dict[str, list[Any]] = {
        "age": age.tolist(),
        "married": married.tolist(),
        "region": region.tolist(),
        "income": income.tolist(),
        "health": health.tolist(),
        "kids": RANDOM.poisson(1.2, n).tolist(),
    }
    for name, every in (("income", 9), ("region", 13), ("health", 11)):
        table[name] = [None if row % every == 4 else value for row, value in enumerate(table[name])]
    return table


TABLE = survey()


@pytest.mark.requirement("0.09")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "plain"])
def test_columns_that_stay_are_bit_identical(method: str, kind: str) -> None:
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "plain": dict}[kind](TABLE)
    copies = synthesize(frame, Settings(perturb=["age", "region", "income"], method=method, copies=2))
    assert copies.rule is Rule.PARTIAL
    for made in copies:
        assert type(made) is type(frame)
        for name in ("married", "health", "kids"):
            if kind == "pandas":
                pd.testing.assert_series_equal(made[name], frame[name], check_exact=True)
            elif kind == "polars":
                assert made[name].equals(frame[name])
                assert made.schema == frame.schema
            elif kind == "pyarrow":
                assert made[name].equals(frame[name])
            else:
                assert made[name] is frame[name]
    first, second = (read_columns(made) for made in copies)
    for name in ("age", "region", "income"):
        original = read_columns(frame).column(name)
        assert (first.column(name).codes != second.column(name).codes).any()
        assert (np.nan_to_num(first.column(name).values) != np.nan_to_num(original.values)).mean() > 0.2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("proper", [False, True])
def test_no_cell_goes_missing(method: str, proper: bool) -> None:
    for perturb in (["region", "income", "health"], None):
        settings = Settings(perturb=perturb, method=method, copies=2, proper=proper, missing="keep")
        for made in synthesize(TABLE, settings):
            for name, values in made.items():
                assert [value is None for value in values] == [value is None for value in TABLE[name]]


@pytest.mark.parametrize("method", METHODS)
def test_gaps_can_be_drawn_like_a_level(method: str) -> None:
    table = {**TABLE, "income": [None if age > 60 else 100.0 + age for age in TABLE["age"]]}
    made = synthesize(table, Settings(perturb=["income"], method=method, copies=1, missing="model")).frames[0]
    gone = np.array([value is None for value in made["income"]])
    old = np.array(table["age"]) > 60
    assert gone[old].mean() > 0.8
    assert gone[~old].mean() < 0.2
    assert not gone.all()


def test_everything_is_replaced_and_pooled_by_its_own_rule() -> None:
    copies = synthesize(TABLE, Settings(copies=2))
    assert copies.perturbed == tuple(TABLE)
    assert (copies.rule, copies.sizes) == (Rule.SAMPLE_PROPER, (N, N))
    assert synthesize(TABLE, Settings(copies=1, proper=False)).rule is Rule.SAMPLE
    assert synthesize(TABLE, Settings(perturb=["age"], copies=1)).rule is Rule.PARTIAL


def test_a_seed_repeats_and_forbids_publishing() -> None:
    settings = Settings(perturb=["age", "income"], copies=2)
    one, two, free, other = (synthesize(TABLE, settings, seed=seed) for seed in (5, 5, None, None))
    assert list(one) == list(two)
    assert not one.publishable
    assert free.publishable
    assert list(free) != list(other)


def test_columns_are_visited_in_the_order_asked_for_with_a_method_each() -> None:
    settings = Settings(
        perturb=["age", "income"], order=["income", "age"], methods={"age": "normlogit"}, copies=1, method="cart"
    )
    copies = synthesize(TABLE, settings)
    assert copies.perturbed == ("income", "age")
    assert copies.method == "mixed"
    with pytest.raises(ArgumentError, match="order"):
        synthesize(TABLE, Settings(perturb=["age", "income"], order=["age"]))


@pytest.mark.parametrize("method", METHODS)
def test_rules_hold_in_every_copy(method: str) -> None:
    rules = ["married requires age >= 16", "income is missing or income >= 0"]
    copies = synthesize(TABLE, Settings(perturb=["age", "income"], method=method, rules=rules, copies=3))
    for made in copies:
        assert all(age >= 16 for age, married in zip(made["age"], made["married"], strict=True) if married == "yes")
        assert all(income is None or income >= 0 for income in made["income"])
    bare = synthesize(TABLE, Settings(perturb=["age"], method="normlogit", copies=1)).frames[0]
    assert any(age < 16 for age, married in zip(bare["age"], bare["married"], strict=True) if married == "yes")


def test_rows_no_draw_can_mend_borrow_from_one_record() -> None:
    """A normal law never draws the one value that the rule wants; other records have it."""
    side = [row % 2 for row in range(200)]
    table: dict[str, list[Any]] = {"side": side, "x": [1.25 if one else row / 7 for row, one in enumerate(side)]}
    settings = Settings(perturb=["x"], method="normlogit", rules=["side == 1 requires x == 1.25"], copies=1)
    made = np.array(synthesize(table, settings).frames[0]["x"])
    assert (made[1::2] == 1.25).all()
    assert len(set(made[::2])) > 90
    with pytest.raises(ArgumentError, match="break it"):
        synthesize({**table, "x": [*table["x"][:-1], 2.0]}, settings)


def test_a_rule_that_cannot_be_kept_is_refused() -> None:
    """The one record that could keep it is the one that must not be copied."""
    x = RANDOM.normal(0, 1, 90).tolist()
    table = {"x": [*x, 1e6], "floor": [*[-5.0] * 90, 1e6]}
    with pytest.raises(CheckFailedError, match="no draw keeps all rules"):
        synthesize(table, Settings(perturb=["x"], rules=["x >= floor"], copies=1))


@pytest.mark.parametrize(
    ("name", "values", "word"),
    [
        ("card", [f"p{row}" for row in range(N)], "more than half"),
        ("few", [1.5, 2.5, *[None] * (N - 2)], "fewer than 5"),
        ("twin", [f"{age:03d}" for age in TABLE["age"]], "'age', which stays"),
        ("copy", [2 * age for age in TABLE["age"]], "'age', which stays"),
    ],
)
def test_columns_that_cannot_be_hidden_are_refused(name: str, values: list[Any], word: str) -> None:
    with pytest.raises(ArgumentError, match=word):
        synthesize({**TABLE, name: values}, Settings(perturb=[name], copies=1))


def test_a_mirrored_column_is_found_and_two_unlike_ones_are_not() -> None:
    first, second = RANDOM.normal(0, 1, N), RANDOM.normal(0, 1, N)
    table = {"a": first.tolist(), "b": (-first).tolist(), "c": second.tolist()}
    with pytest.raises(ArgumentError, match="'b', which stays"):
        synthesize(table, Settings(perturb=["a"], copies=1))
    assert not synthesize({"a": table["a"], "c": table["c"]}, Settings(perturb=["a"], copies=1)).notes
    half = {**TABLE, "old": [age > 50 for age in TABLE["age"]]}
    assert "age, which stays, tells it" in synthesize(half, Settings(perturb=["old"], copies=1)).notes[0]


@pytest.mark.parametrize("method", METHODS)
def test_odd_columns_have_a_stated_fallback(method: str) -> None:
    age = np.array(TABLE["age"])
    odd: dict[str, list[Any]] = {
        **TABLE,
        "constant": [3.0] * N,
        "empty": [None] * N,
        "separated": (age > 50).tolist(),
        "sum": (age + np.array(TABLE["kids"])).tolist(),
        "rare": ["once", *["often"] * 300, *["more"] * (N - 301)],
        "double": [2.0 * value for value in TABLE["kids"]],
    }
    copies = synthesize(odd, Settings(method=method, copies=1, missing="keep"))
    notes = " | ".join(copies.notes)
    assert "constant: it holds one value only; it stays as it is" in notes
    assert "empty: all its cells are missing; it stays as it is" in notes
    made = copies.frames[0]
    assert made["constant"] == odd["constant"]
    assert made["empty"] == odd["empty"]
    for name, values in made.items():
        assert [value is None for value in values] == [value is None for value in odd[name]]
    if method != "cart":
        assert "separated" in notes


def test_five_thousand_levels_are_drawn_or_refused() -> None:
    levels = [f"k{code}" for code in RANDOM.integers(0, 5000, 20_000)]
    table = {"x": RANDOM.normal(0, 1, 20_000).tolist(), "many": levels}
    for method in ("cart", "normlogit"):
        copies = synthesize(table, Settings(perturb=["many"], method=method, copies=1))
        assert any("takes the rest as one" in note for note in copies.notes)
        assert set(copies.frames[0]["many"]) <= set(levels)
    beside = synthesize(table, Settings(perturb=["x"], method="normlogit", copies=1))
    assert np.isfinite(beside.frames[0]["x"]).all()
    with pytest.raises(ArgumentError, match="more than half"):
        synthesize({"many": [f"k{row % 900}" for row in range(1000)], "x": table["x"][:1000]}, Settings(copies=1))


def test_households_share_what_they_shared_and_design_columns_stay() -> None:
    house = np.repeat(np.arange(N // 3), 3)
    rent = RANDOM.normal(500, 50, N // 3).round(1)[house]
    table = {
        **TABLE,
        "house": [f"h{one}" for one in house],
        "rent": rent.tolist(),
        "w": RANDOM.uniform(1, 3, N).tolist(),
    }
    sampling = Sampling(household="house", weight="w")
    copies = synthesize(table, Settings(copies=2, sampling=sampling, rules=["rent > 400 or age >= 0"]))
    assert copies.rule is Rule.PARTIAL
    for made in copies:
        assert made["house"] is table["house"]
        assert made["w"] is table["w"]
        rents = np.array(made["rent"])
        assert np.array_equal(rents, rents[::3][house])
        assert (rents != rent).mean() > 0.5
        ages = np.array(made["age"]).reshape(-1, 3)
        assert (ages[:, 0] != ages[:, 1]).mean() > 0.5
    with pytest.raises(ArgumentError, match="design"):
        synthesize(table, Settings(perturb=["house"], sampling=sampling))


@pytest.mark.parametrize("method", METHODS)
def test_weights_count_in_every_fit(method: str) -> None:
    """Heavy records are those of high x: draws follow the weighted law of x given z, not that of the sample."""
    n = 4000
    z, x = RANDOM.integers(0, 2, n), RANDOM.integers(0, 2, n)
    heavy = np.where(x == 1, 9.0, 1.0)
    table = {"z": z.tolist(), "x": x.tolist()}
    columns = read_columns(table)
    model = fit_column(
        columns.column("x"), [columns.column("z")], np.arange(n), method=Method(method), weights=heavy / heavy.mean()
    )
    generator = keyed_generator(3)
    values = {column.name: column.values for column in columns.columns}
    drawn = model.drawn(generator, proper=True).simulate(values, np.arange(n), generator)
    for group in (0, 1):
        mine = z == group
        expected = heavy[mine & (x == 1)].sum() / heavy[mine].sum()
        assert drawn[mine].mean() == pytest.approx(expected, abs=0.03)
    weighted = synthesize(
        {**table, "w": heavy.tolist()}, Settings(perturb=["z"], sampling=Sampling(weight="w"), copies=1)
    )
    assert weighted.frames[0]["w"] == heavy.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_weighted_mean_of_copies_is_that_of_the_population(method: str) -> None:
    """Rows were drawn with chances that grow with x, so the plain mean of the sample is far off."""
    x = RANDOM.normal(0, 1, 20_000)
    chance = np.where(x + RANDOM.normal(0, 0.5, len(x)) > 0, 0.3, 0.06)
    drawn = RANDOM.random(len(x)) < chance
    table = {"x": x[drawn].tolist(), "w": (1 / chance[drawn]).tolist(), "z": RANDOM.normal(0, 1, drawn.sum()).tolist()}
    copies = synthesize(table, Settings(perturb=["x"], method=method, sampling=Sampling(weight="w"), copies=4))
    pooled = copies.fit("x ~ 1")
    assert abs(pooled.estimate[0] - np.average(x[drawn], weights=1 / chance[drawn])) < 3 * pooled.standard_error[0]
    assert abs(pooled.estimate[0]) < 0.15
    assert abs(x[drawn].mean()) > 0.4


def test_a_design_widens_pooled_intervals_as_it_widens_those_of_the_table() -> None:
    house = np.repeat(np.arange(60), 10)
    y = RANDOM.normal(0, 1, 60)[house] + RANDOM.normal(0, 0.3, N)
    table = {"y": y.tolist(), "x": RANDOM.normal(0, 1, N).tolist(), "house": [f"h{one}" for one in house]}
    plain, clustered = (
        synthesize(table, Settings(perturb=["x"], sampling=sampling, copies=3)).fit("y ~ 1").standard_error[0]
        for sampling in (Sampling(), Sampling(cluster="house"))
    )
    means = y.reshape(60, 10).mean(axis=1)
    assert clustered == pytest.approx(means.std(ddof=1) / np.sqrt(60))
    assert clustered > 2 * plain


@pytest.mark.parametrize("weights", [[-1.0] * N, [None] * N, ["a", "b"] * (N // 2), [0.0] * N])
def test_weights_that_weigh_nothing_are_refused(weights: list[Any]) -> None:
    with pytest.raises(ArgumentError, match="weight"):
        synthesize({**TABLE, "w": weights}, Settings(perturb=["age"], sampling=Sampling(weight="w")))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(perturb=["nobody"]),
        Settings(perturb=[]),
        Settings(perturb=["age", "age"]),
        Settings(method="magic"),
        Settings(copies=0),
        Settings(least=1),
        Settings(bounds={"nobody": (0, 1)}),
        Settings(rules=["nobody > 3"]),
    ],
)
def test_what_cannot_be_asked_is_refused(settings: Settings) -> None:
    with pytest.raises(InputError):
        synthesize(TABLE, settings)


def test_bounds_and_digits_of_the_source_hold() -> None:
    settings = Settings(perturb=["age", "income"], method="normlogit", bounds={"income": (0, 5000)}, copies=1)
    made = synthesize(TABLE, settings).frames[0]
    assert all(isinstance(age, int) for age in made["age"])
    there = np.array([value for value in made["income"] if value is not None])
    assert there.min() == 0
    assert there.max() == 5000
    assert np.array_equal(np.round(there, 2), there)


def test_outliers_are_not_copied_unless_asked_for() -> None:
    makers = (Settings(perturb=["income"], copies=5, smooth=smooth, proper=False) for smooth in (True, False))
    smooth, exact = (np.array([made["income"] for made in synthesize(TABLE, one)], dtype=float) for one in makers)
    fifth = np.sort([value for value in TABLE["income"] if value is not None])[-5]
    assert np.nanmax(smooth) <= fifth
    original = [value for value in TABLE["income"] if value is not None]
    assert np.isin(exact[~np.isnan(exact)], original).all()


@pytest.mark.requirement("0.10")
def test_draws_are_posterior_predictive() -> None:
    """Normal x given z: over copies, the slope of x on z has the posterior's spread and the draw's on top of it."""
    n, copies = 60, 400
    z = RANDOM.normal(0, 1, n)
    x = 2 * z + RANDOM.normal(0, 1, n)
    design = np.column_stack([np.ones(n), z])
    fit = fit_linear(design, x)
    for proper, parts in ((True, 2), (False, 1)):
        settings = Settings(perturb=["x"], method="normlogit", copies=copies, proper=proper)
        made = [fit_linear(design, frame["x"]) for frame in synthesize({"z": z.tolist(), "x": x.tolist()}, settings)]
        slopes = np.array([one.coefficients[1] for one in made])
        expected = fit.covariance[1, 1] * parts * (fit.df / (fit.df - 2) if proper else 1)
        assert slopes.mean() == pytest.approx(fit.coefficients[1], abs=5 * np.sqrt(expected / copies))
        assert slopes.var() / expected == pytest.approx(1, abs=0.3)


@pytest.mark.requirement("0.07")
@pytest.mark.requirement("0.36")
@pytest.mark.slow
@pytest.mark.parametrize("method", ["cart", "normlogit"])
def test_intervals_cover_also_for_an_outcome_joined_later(method: str) -> None:
    """x is replaced given z and y; `later` was never seen by the model but is part of z's neighbourhood through y."""
    n, copies, rounds = 300, 5, 240
    truth = np.array([0.5, 1.0, -0.5])
    hits = {"y": np.zeros(3), "later": np.zeros(3)}
    for _ in range(rounds):
        z = RANDOM.normal(0, 1, n)
        x = 0.7 * z + RANDOM.normal(0, 1, n)
        y = truth[0] + truth[1] * z + truth[2] * x + RANDOM.normal(0, 1, n)
        later = y + RANDOM.normal(0, 1, n)
        table = {"z": z.tolist(), "x": x.tolist(), "y": y.tolist()}
        made = synthesize(table, Settings(perturb=["x"], method=method, copies=copies))
        for name, outcome in (("y", y), ("later", later)):
            fits = [fit_linear(np.column_stack([np.ones(n), z, frame["x"]]), outcome) for frame in made]
            pooled = made.pool([fit.coefficients for fit in fits], [fit.covariance.diagonal() for fit in fits])
            low, high = pooled.interval().T
            hits[name] += (low <= truth) & (truth <= high)
    for name, hit in hits.items():
        cover = hit / rounds
        assert cover.min() > (0.9 if method == "normlogit" else 0.8), name
        assert cover.mean() > (0.93 if method == "normlogit" else 0.88), name
