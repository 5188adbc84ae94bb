"""Models on copies: pooled by hand from another library's fits, safe formulas, and copies that went astray."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from discreet.errors import ArgumentError, CheckFailedError, InputError
from discreet.utility.formula import matrices
from discreet.utility.intervals import overlap
from discreet.utility.models import Family, compare_models, fit_tables, forest

Table = dict[str, Any]


def survey(generator: np.random.Generator, n: int = 400) -> Table:
    x, z = generator.normal(size=n), generator.choice(["a", "b", "c"], n)
    line = 0.3 + 0.8 * x - 0.5 * (z == "b") + 0.2 * (z == "c")
    return {
        "x": x,
        "z": z,
        "y": line + generator.normal(size=n),
        "sick": (line + generator.normal(size=n) > 0).astype(int),
        "visits": generator.poisson(np.exp(line / 2)),
    }


def perturbed(generator: np.random.Generator, original: Table) -> Table:
    return {**original, "x": original["x"] + generator.normal(0, 0.2, len(original["x"]))}


OUTCOMES = {"ols": "y", "logit": "sick", "probit": "sick", "poisson": "visits"}


def by_another_library(table: Table, family: str) -> tuple[np.ndarray, np.ndarray]:
    design = np.column_stack([np.ones(len(table["x"])), table["z"] == "b", table["z"] == "c", table["x"]]).astype(float)
    kinds = {"ols": sm.OLS, "logit": sm.Logit, "probit": sm.Probit, "poisson": sm.Poisson}
    fit = kinds[family](table[OUTCOMES[family]], design)
    done = fit.fit() if family == "ols" else fit.fit(disp=0, tol=1e-12)
    return np.asarray(done.params), np.square(np.asarray(done.bse))


@pytest.mark.parametrize("family", get_args(Family))
def test_pooled_estimates_and_reference_equal_those_by_hand(family: Family) -> None:
    generator = np.random.default_rng(1)
    original = survey(generator)
    copies = [perturbed(generator, original) for _ in range(4)]
    found = compare_models(original, copies, formula=f"{OUTCOMES[family]} ~ z + x", family=family)
    assert [one.name for one in found.coefficients] == ["Intercept", "z[T.b]", "z[T.c]", "x"]
    estimate, variance = by_another_library(original, family)
    fits = [by_another_library(copy, family) for copy in copies]
    q, v = np.array([one[0] for one in fits]), np.array([one[1] for one in fits])
    b, within = q.var(axis=0, ddof=1), v.mean(axis=0)
    total = within + b / 4
    df = 3 * (1 + within / (b / 4)) ** 2
    reach = stats.t.ppf(0.975, df) * np.sqrt(total)
    base = (stats.t.ppf(0.975, 396) if family == "ols" else stats.norm.ppf(0.975)) * np.sqrt(variance)
    ends = np.column_stack([estimate - base, estimate + base])
    pooled = np.column_stack([q.mean(axis=0) - reach, q.mean(axis=0) + reach])
    for at, one in enumerate(found.coefficients):
        assert one.original == pytest.approx((ends[at, 0], estimate[at], ends[at, 1]), rel=2e-4, abs=2e-4)
        assert one.copies == pytest.approx((pooled[at, 0], q[:, at].mean(), pooled[at, 1]), rel=2e-4, abs=2e-4)
        assert one.df == pytest.approx(df[at], rel=1e-2)
        assert one.difference == pytest.approx(abs(q[:, at].mean() - estimate[at]) / np.sqrt(variance[at]), abs=2e-3)
    assert found.overlap == pytest.approx(overlap(ends, pooled).mean(), abs=2e-3)
    assert found.records == 400


@pytest.mark.requirement("0.35")
def test_a_copy_that_separates_is_named_and_never_pooled_in_silence() -> None:
    generator = np.random.default_rng(2)
    n = 300
    original = {"race": generator.random(n) < 0.15, "sick": generator.random(n) < 0.4}
    fine = [{**original, "race": generator.permutation(original["race"])} for _ in range(4)]
    # In the last copy nobody of the group is sick: the coefficient runs off, as the ±61 of the source's table.
    lost = {**original, "race": ~original["sick"] & (generator.random(n) < 0.05)}
    with pytest.raises(CheckFailedError, match=r"a fit went astray in copy 5 \(race"):
        compare_models(original, [*fine, lost], formula="sick ~ race", family="logit", astray="refuse")
    kept = compare_models(original, [*fine, lost], formula="sick ~ race", family="logit", astray="keep")
    assert kept.astray == (5,)
    assert any("copy 5" in sentence and "astray" in sentence for sentence in kept.sentences())
    assert any("separated" in note for note in kept.notes)


@pytest.mark.requirement("0.37")
def test_completions_of_the_original_are_the_reference_by_rubins_rule() -> None:
    generator = np.random.default_rng(3)
    original = survey(generator)
    completions = [perturbed(generator, original) for _ in range(5)]
    found = compare_models(original, completions, formula="y ~ x", completions=completions)
    q, v = [], []
    for table in completions:
        fit = sm.OLS(table["y"], sm.add_constant(table["x"])).fit()
        q.append(fit.params[1])
        v.append(fit.bse[1] ** 2)
    slope = found.coefficients[1]
    assert slope.standard_error == pytest.approx(np.sqrt(np.mean(v) + 1.2 * np.var(q, ddof=1)))
    assert slope.pooled_error < slope.standard_error  # the same fits pooled as partial synthesis


def test_a_later_outcome_is_joined_by_row() -> None:
    generator = np.random.default_rng(4)
    original = survey(generator)
    later = 2 * original["x"] + generator.normal(size=400)
    found = compare_models(original, [original, original], formula="later ~ x", joined={"later": later})
    assert found.coefficients[1].original[1] == pytest.approx(2, abs=0.2)
    assert found.overlap == pytest.approx(1, abs=0.01)
    with pytest.raises(ArgumentError, match="another number of rows"):
        compare_models(original, [original, original], formula="later ~ x", joined={"later": later[:9]})


def test_categories_truths_and_missing_cells() -> None:
    table = {
        "income": [">50K", "<=50K", ">50K", "<=50K", ">50K", "<=50K", None, "<=50K"],
        "age": [50, 30, 45, 28, 33, 39, 41, None],
        "paid": [True, False, True, True, False, True, True, False],
        "kind": ["u", "v", "u", "v", "u", "v", "u", "v"],
    }
    copy = {**table, "kind": ["u", "v", "w", "v", "u", "v", "u", "v"]}
    laid = matrices("income ~ age + paid + kind", [table, copy])
    assert laid.names == ("Intercept", "age", "paid[T.True]", "kind[T.v]", "kind[T.w]")
    (_, outcome), (_, other) = laid.tables
    assert outcome.tolist() == other.tolist() == [1, 0, 1, 0, 1, 0]
    assert laid.notes == (
        "1 stands for income = >50K",
        "records with missing cells are left out: 2 of the original, up to 2 of a copy",
    )
    found = compare_models(table, [table, copy], formula="age ~ kind")
    assert [one.name for one in found.coefficients] == ["Intercept", "kind[T.v]"]
    assert any("not every table tells them: kind[T.w]" in note for note in found.notes)


def test_transforms_learn_from_the_original_alone() -> None:
    table, other = {"y": [1.0, 2.0, 4.0], "x": [1.0, 2.0, 3.0]}, {"y": [1.0, 2.0, 4.0], "x": [11.0, 12.0, 13.0]}
    laid = matrices("y ~ center(x) + I(x ** 2)", [table, other])
    assert laid.tables[1][0].tolist() == [[1, 9, 121], [1, 10, 144], [1, 11, 169]]


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ {__import__('os').system('true')}",
        "y ~ __import__('os').getcwd()",
        "y ~ x.__class__",
        "y ~ x[0]",
        "y ~ eval(x)",
        "y ~ I(open(x))",
        'y ~ C(x, "a")',
        "y ~ x; 1",
        "y ~ `x` | z",
        "y ~ unknown",
        "y",
        "~ x",
        "y ~",
        "y ~ x ~ z",
        "y ~ x +* z",
        "y ~ log(",
        "z ~ x",
        "",
    ],
)
def test_what_is_no_formula_on_columns_is_refused(formula: str) -> None:
    table = {"y": [1.0, 2.0, 4.0, 3.0], "x": [1.0, 2.0, 3.0, 5.0], "z": ["a", "b", "c", "a"]}
    with pytest.raises(InputError):
        compare_models(table, [table, table], formula=formula)


def test_an_outcome_that_does_not_fit_its_family_is_refused() -> None:
    table = {"y": [1.0, 2.0, 4.0, 3.0], "x": [1.0, 2.0, 3.0, 5.0]}
    with pytest.raises(InputError):
        compare_models(table, [table, table], formula="y ~ x", family="probit")
    with pytest.raises(ArgumentError, match="must be one of ols"):
        fit_tables("y ~ x", [table], family="gamma")  # type: ignore[arg-type]


def test_grid_chart_and_sentences_say_what_to_compare_with() -> None:
    generator = np.random.default_rng(5)
    original = pd.DataFrame(survey(generator))
    copies = [perturbed(generator, dict(original.items())) for _ in range(3)]
    found = compare_models(original, copies, formula="y ~ x + z")
    assert found.grid().rows[-1][0] == "to compare: another study"
    assert "(another study of the same size: 71.2" in found.sentences()[0]
    chart = forest("two ways", {"original": found, "one": found, "other": found})
    assert chart.y.categories == ("Intercept", "x", "z[T.b]", "z[T.c]")
    assert [mark.label for mark in chart.marks] == ["original", "one", "other", ""]
    drawn = found.as_json()
    assert drawn["mean_interval_overlap"] == found.overlap
