"""Evaluations of copies: utility falls and risk rises along the trade-off, each score beside its baseline."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.draw import Chart, Intervals, Points
from discreet.draw.pdf import to_pdf
from discreet.errors import ArgumentError, InputError
from discreet.evaluation.copies import Evaluation, evaluate
from discreet.evaluation.copies_report import copies_page, evaluation_grids
from discreet.evaluation.tradeoff import trade_off
from discreet.randomness import keyed_generator
from discreet.stats.combine import Rule
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.copies import Copies

Table = dict[str, Any]


def clinic(n: int = 400) -> Table:
    generator = np.random.default_rng(1)
    age = np.round(generator.normal(50, 15, n))
    sex = generator.choice(["f", "m"], n)
    score = 0.03 * (age - 50) + 0.5 * (sex == "f") + generator.normal(size=n)
    return {"age": age, "sex": sex, "score": score, "sick": (score > 0).astype(int)}


def noisy(original: Table, spread: float, copies: int = 3) -> list[Table]:
    generator = np.random.default_rng(2)
    return [
        {**original, "age": original["age"] + generator.normal(0, spread, len(original["age"]))} for _ in range(copies)
    ]


def judged(spread: float) -> Evaluation:
    original = clinic()
    return evaluate(
        original,
        noisy(original, spread),
        model="score ~ age + sex",
        keys=["age", "sex"],
        tolerances={"age": 2},
        sensitive=["sick"],
        groups="sex",
        table="clinic",
        generator=keyed_generator(3),
    )


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return judged(3.0)


@pytest.mark.requirement("0.05")
def test_more_noise_is_less_risk_and_less_utility() -> None:
    sets = {f"noise {spread:g}": judged(spread) for spread in (0.5, 6.0, 60.0)}
    risks = [one.reidentification.released.mean for one in sets.values()]
    guesses = [one.attributes[0].with_own for one in sets.values()]
    overlaps = [one.models[0].overlap for one in sets.values()]
    ratios = [one.propensities[0].ratio for one in sets.values()]
    assert risks[0] > 2 * risks[1] > 4 * risks[2]  # identity disclosure
    assert guesses[0] > guesses[2]  # attribute disclosure
    assert overlaps[0] > overlaps[1] > overlaps[2]  # a specific measure of utility
    assert ratios[0] < ratios[1] < ratios[2]  # a general one
    chart = trade_off(sets)
    assert isinstance(chart, Chart)
    drawn = {mark.label: (mark.at[0], mark.mid[0]) for mark in chart.marks if isinstance(mark, Intervals)}
    assert drawn == dict(zip(sets, zip(overlaps, risks, strict=True), strict=True))
    (whole,) = [mark for mark in chart.marks if isinstance(mark, Points)]
    assert (whole.x, whole.y) == ((1.0,), (sets["noise 6"].reidentification.original.mean,))


def test_every_score_stands_beside_its_baseline(found: Evaluation) -> None:
    told = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert told["family"] == "measured risk"
    assert told["changed"] == ["age"]
    utility, risk = told["utility"], told["risk"]
    assert utility["models"][0]["another_study"]["interval_overlap"] == pytest.approx(0.712, abs=1e-3)
    assert all(one["expected_by_chance"] > 0 for one in utility["propensity"])
    assert utility["marginals"]["mean_two_way"]["resampled"] > 0
    assert utility["marginals"]["mean_two_way"]["independent"] > 0
    assert risk["reidentification"]["original"]["mean"] > risk["reidentification"]["released"]["mean"]
    assert risk["reidentification"]["chance"] == 1 / 400
    assert set(risk["reidentification"]["groups"]) == {"f", "m"}
    assert risk["attributes"][0]["right_without_own_row"] > 0
    assert risk["closest_records"]["baseline"] == "other records of the original"
    # Every sentence holds a figure and one to compare it with, or says so.
    assert all(sum(sign.isdigit() for sign in sentence) >= 2 for sentence in told["sentences"])


def test_the_page_says_that_it_is_no_guarantee_and_needs_no_network(found: Evaluation) -> None:
    page = copies_page(found)
    html = page.html()
    assert "NOT DIFFERENTIAL PRIVACY" in html
    assert html.replace("http://www.w3.org/2000/svg", "").count("http") <= html.count("http-equiv")
    assert "<script" not in html
    for part in ("What was done", "Utility: what the copies keep", "Risk: what", "Utility against risk", "How to read"):
        assert part in html
    assert html.count("<svg") >= 2 * 4
    for sentence in found.sentences():
        assert sentence.split(" (")[0][:40] in html.replace("&#39;", "'")
    assert to_pdf(page).startswith(b"%PDF-")
    titles = [grid.title for grid in evaluation_grids(found)]
    assert len(titles) == len(set(titles)) == 7


def test_a_page_of_many_columns_stays_below_a_megabyte() -> None:
    generator = np.random.default_rng(5)
    n, wide = 300, 40
    original = {f"column {at}": generator.normal(size=n) for at in range(wide)}
    copy = {name: values + generator.normal(size=n) for name, values in original.items()}
    formula = "`column 0` ~ " + " + ".join(f"`column {at}`" for at in range(1, 30))
    found = evaluate(original, [copy, copy], model=formula, keys=["column 1"], tolerances={"column 1": 0.1})
    assert len(copies_page(found).html()) < 1_000_000


def test_copies_know_their_rule_and_frames_are_told_it() -> None:
    original = clinic()
    frames = noisy(original, 3.0)
    made = Copies(frames=tuple(frames), method="cart", perturbed=("age",), rule=Rule.SAMPLE, notes=("made for a test",))
    own = evaluate(original, made, model="score ~ age", keys=["age"], tolerances={"age": 2})
    assert (own.method, own.rule, own.models[0].rule) == ("cart", Rule.SAMPLE, Rule.SAMPLE)
    assert own.notes == ("made for a test",)
    told = evaluate(original, frames, model="score ~ age", keys=["age"], tolerances={"age": 2}, rule="sample")
    assert told.models[0].as_json() == own.models[0].as_json()


def test_frames_of_other_kinds_and_defaults() -> None:
    original = clinic()
    frames = [pl.DataFrame(one) for one in noisy(original, 3.0)]
    found = evaluate(pd.DataFrame(original), frames, holdout=pd.DataFrame(clinic(100)))
    assert found.reidentification.keys == ("age",)
    assert found.models == ()
    assert "the intruder is taken to know the columns that changed: age" in found.notes
    assert any("match only where they are equal" in note for note in found.notes)
    assert found.closeness.against_holdout
    assert trade_off({"these": found}) is None
    assert "Utility against risk" not in [getattr(block, "text", "") for block in copies_page(found).blocks]


def test_what_cannot_be_evaluated_is_refused() -> None:
    original = clinic()
    with pytest.raises(ArgumentError, match="nothing but the original's values"):
        evaluate(original, [original])
    with pytest.raises(ArgumentError, match="give copies"):
        evaluate(original, [])
    with pytest.raises(ArgumentError, match="rule"):
        evaluate(original, noisy(original, 1.0), rule="nested")
    with pytest.raises(InputError, match="two or more"):
        evaluate(original, noisy(original, 1.0, copies=1), model="score ~ age")
    with pytest.raises(InputError, match="no such name"):
        evaluate(original, noisy(original, 1.0), keys=["years"])


def test_models_count_the_weights_of_a_survey_and_its_clusters() -> None:
    """Heavy records have another slope: the reference and the copies are those of the weighted fit, or neither is."""
    original = clinic()
    old = original["age"] > 50
    original |= {"score": original["score"] + 0.05 * old * (original["age"] - 50), "w": np.where(old, 9.0, 1.0)}
    frames = noisy(original, 1.0)
    design = Sampling(weight="w")
    plain, heavy = (evaluate(original, frames, model="score ~ age", sampling=one) for one in (None, design))
    slope = np.polyfit(original["age"], original["score"], 1, w=np.sqrt(original["w"]))[0]
    assert heavy.models[0].coefficients[1].original[1] == pytest.approx(slope)
    assert abs(plain.models[0].coefficients[1].original[1] - slope) > 0.005
    made = Copies(frames=tuple(frames), method="cart", perturbed=("age",), sampling=design)
    own = evaluate(original, made, model="score ~ age")
    assert own.models[0].as_json() == heavy.models[0].as_json()
    assert own.as_json()["design"] == {"weight": "w"}
    assert "weight: w" in copies_page(own).html()
    with pytest.raises(InputError, match="design"):
        evaluate(original, frames, sampling=Sampling(cluster="nowhere"))


def test_cells_that_copies_fill_are_no_loss_and_hide_nobody() -> None:
    """Filled cells have no counterpart: with them taken out, nothing but the ages that were moved is told apart."""
    original = clinic()
    gone = np.random.default_rng(4).random(400) < 0.4
    holed = {**original, "score": [None if out else v for out, v in zip(gone, original["score"].tolist(), strict=True)]}
    found = evaluate(holed, noisy(original, 1.0), keys=["age", "score"], tolerances={"age": 2, "score": 0.01})
    assert found.changed == ("age",)
    assert any("fill cells" in note and "score" in note for note in found.notes)
    assert found.propensities[0].score < 0.01  # 0.2 and more, were whether a score is there held against the copies
    assert found.marginals.one[0].columns == ("age",)
    assert found.reidentification.released.true_match[gone].min() >= 0
    assert found.reidentification.released.true_match[gone].mean() > 0.01  # 0, were filled cells held against the table


@pytest.mark.requirement("0.48")
def test_risk_hangs_on_what_the_intruder_is_taken_to_know_and_the_report_says_so() -> None:
    """The same copies: who knows one column more finds more. No figure covers all intruders, as a guarantee would."""
    original, copies = clinic(), noisy(clinic(), 3.0)
    risks = []
    for keys in (["sex"], ["age", "sex"], ["age", "sex", "score"]):
        near = {name: reach for name, reach in {"age": 2.0, "score": 0.001}.items() if name in keys}
        found = evaluate(original, copies, keys=keys, tolerances=near)
        risks.append(found.reidentification.released.mean)
        html = copies_page(found).html()
        assert f"An intruder who knows {', '.join(keys)} of everybody" in html
        assert "NOT DIFFERENTIAL PRIVACY" in html
        assert "Somebody who knows more finds more." in html
    assert risks[0] < 0.2 * risks[1] < 0.2 * risks[2]
