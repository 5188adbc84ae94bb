"""Data-augmented imputation: what is replaced and what is not, what masks let through, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from discreet.errors import ArgumentError, UnknownNameError
from discreet.randomness import keyed_generator
from discreet.stats.combine import Rule
from discreet.stats.copula import Gibbs
from discreet.synthesis.imputation.augmentation import AugmentedFit, fit_augmented, synthesize_augmented
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.masks import KeepMask, LevelMask, Mask, NoiseMask, NoMask
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.subgroups import RiskGroup, risk_groups, synthesize_by_risk
from tests.synthesis.imputation.survey import HIDDEN, holed, survey

QUICK = Schedule(chains=2, burn=150, thin=10)
KINDS = {"education": [0.0, 1.0, 2.0]}


def masks(spread: float, keep: float) -> dict[str, Mask]:
    return {name: NoiseMask(spread) if name in ("age", "duration") else LevelMask(keep=keep) for name in HIDDEN}


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    return survey(1000, np.random.default_rng(2))


@pytest.fixture(scope="module")
def fit(data: dict[str, np.ndarray]) -> AugmentedFit:
    columns = read_columns({name: values.tolist() for name, values in data.items()}, kinds=KINDS)
    return fit_augmented(columns, draws=20, schedule=QUICK, edge=1)


def correlations(frame: Any) -> np.ndarray:
    return np.asarray(np.corrcoef(np.array([np.asarray(frame[name], float) for name in frame])))


@pytest.mark.requirement("0.17", "0.40")
def test_masks_that_say_everything_give_the_cells_back(fit: AugmentedFit, data: dict[str, np.ndarray]) -> None:
    """Noise of a thousandth: all cells. Of a hundredth: all but durations, whose steps are fine. Then ever less."""
    shares = []
    for spread, keep in ((1e-3, 1.0), (1e-2, 1.0), (0.25, 0.9), (1.0, 0.7)):
        (frame,) = fit.copies(perturb=HIDDEN, copies=1, masks=masks(spread, keep)).frames
        shares.append({name: float(np.mean(np.asarray(frame[name]) == data[name])) for name in HIDDEN})
    assert set(shares[0].values()) == {1.0}
    assert {shares[1][name] for name in ("sex", "race", "education")} == {1.0}
    assert shares[1]["age"] > 0.99  # in its tails ages are missing, and what lies between two may be drawn
    for name in ("age", "duration", "race", "education"):
        assert shares[3][name] < shares[2][name] < 1
    assert shares[2]["duration"] < shares[1]["duration"]


@pytest.mark.requirement("0.09", "0.13")
def test_masks_that_say_nothing_are_rubins_imputation(fit: AugmentedFit, data: dict[str, np.ndarray]) -> None:
    """Noise of 10,000 deviations and levels by a fair coin against no mask at all, as averages over 20 copies."""
    empty: dict[str, Mask] = {**masks(1e4, 0.5), "education": LevelMask(keep=1 / 3)}
    none: dict[str, Mask] = dict.fromkeys(HIDDEN, NoMask())
    means = []
    for chosen in (empty, none):
        copies = fit.copies(perturb=HIDDEN, copies=20, masks=chosen)
        means.append(np.mean([correlations(frame) for frame in copies], axis=0))
        for frame in copies:
            for name in ("index", "disabled", "score"):
                assert frame[name] == data[name].tolist()
    assert np.abs(means[0] - means[1]).max() < 0.06
    assert np.abs(means[1] - correlations(data)).max() < 0.09


@pytest.mark.requirement("0.16")
def test_only_the_noise_of_the_mean_matters(fit: AugmentedFit, data: dict[str, np.ndarray]) -> None:
    """Four repeats of twice the noise are one: the same seed gives the same copies, and the mean of four drawn masks
    has the stated deviation."""
    once = fit.copies(perturb=["age"], copies=1, masks={"age": NoiseMask(0.5)}, seed=3)
    four = fit.copies(perturb=["age"], copies=1, masks={"age": NoiseMask(1.0, repeats=4)}, seed=3)
    assert once.frames == four.frames
    drawn = data["age"] + np.random.default_rng(1).normal(0, data["age"].std(), (4, 1000)).mean(axis=0)
    assert np.std(drawn - data["age"]) == pytest.approx(
        NoiseMask(1.0, repeats=4).deviation * data["age"].std(), rel=0.1
    )


@pytest.mark.requirement("0.11", "0.12")
def test_the_replicate_has_latents_of_its_own() -> None:
    """One hidden number and six open coins, correlated by .72, without a mask: within a cell of the coins a copy must
    not follow the original. With the latents of the fit it would, and the mean of twenty copies far more."""
    random, rows = np.random.default_rng(8), 2000
    normal = np.sqrt(0.72) * random.standard_normal(rows) + np.sqrt(0.28) * random.standard_normal((7, rows))
    table = {"age": normal[0].tolist(), **{f"z{at}": (normal[at] > 0).astype(int).tolist() for at in range(1, 7)}}
    fitted = fit_augmented(read_columns(table), draws=20, schedule=QUICK)
    copies = fitted.copies(perturb=["age"], copies=20, masks={"age": NoMask()})
    cell = (normal[1:] > 0).T @ (1 << np.arange(6))

    def within(values: np.ndarray) -> np.ndarray:
        counts = np.bincount(cell, minlength=64)
        return np.asarray(values - (np.bincount(cell, values, minlength=64) / np.maximum(counts, 1))[cell])

    def leak(drawn: np.ndarray) -> float:
        return float(np.corrcoef(within(drawn), within(normal[0]))[0, 1])

    drawn = np.array([frame["age"] for frame in copies])
    assert np.mean([leak(one) for one in drawn]) == pytest.approx(0, abs=0.03)
    assert max(abs(leak(one)) for one in drawn) < 4 / np.sqrt(rows)
    assert abs(leak(drawn.mean(axis=0))) < 3 / np.sqrt(rows)
    # The obvious way, which leaks: the conditional law of age given the latents the fit holds for the coins.
    gibbs = Gibbs([coding.latent for coding in fitted.codings], keyed_generator(1))
    shared = []
    for sweep in range(400):
        gibbs.sweep()
        if sweep >= 200 and sweep % 10 == 0:
            inner = np.linalg.inv(gibbs.correlation)
            scaled = gibbs.latents / gibbs.scales[:, None]
            mean = -(inner[0, 1:] / inner[0, 0]) @ scaled[1:]
            shared.append(mean + random.standard_normal(rows) * inner[0, 0] ** -0.5)
    assert np.mean([leak(one) for one in shared]) > 0.2
    assert leak(np.mean(shared, axis=0)) > 0.6


@pytest.mark.requirement("0.38")
def test_missing_cells_are_filled_and_observed_ones_stay(data: dict[str, np.ndarray]) -> None:
    random = np.random.default_rng(5)
    lists = holed({name: values[:300] for name, values in data.items()}, 0.2, random)
    columns = read_columns(pl.DataFrame(lists), kinds=KINDS)
    copies = synthesize_augmented(columns, perturb=["age", "sex"], copies=6, schedule=QUICK, masks={"age": NoMask()})
    assert (copies.rule, copies.nests, len(copies)) == (Rule.NESTED, 3, 6)
    for at, frame in enumerate(copies):
        assert isinstance(frame, pl.DataFrame)
        assert frame.schema == columns.source.schema
        assert frame.null_count().sum_horizontal()[0] == 0
        assert not any(frame[name].is_nan().any() for name in frame.columns)
        for name in ("duration", "race", "education", "index", "disabled", "score"):
            there = columns.source[name].is_not_null()
            assert frame[name].filter(there).equals(columns.source[name].filter(there))
            assert frame[name].equals(copies.frames[at // 2 * 2][name])  # the completion is shared by its two copies
    assert not copies.frames[0]["index"].equals(copies.frames[2]["index"])
    assert not copies.frames[0]["age"].equals(copies.frames[1]["age"])


def test_filled_cells_follow_what_is_known_of_them() -> None:
    """Half the outcomes are missing, more often for high predictors: filled ones follow the predictor, and so the mean
    of all is that of the complete data, which the mean of the observed is far from."""
    random = np.random.default_rng(3)
    x = random.standard_normal(800)
    y = 0.9 * x + np.sqrt(0.19) * random.standard_normal(800)
    gone = random.random(800) < 1 / (1 + np.exp(-3 * x))
    table = {"x": x.tolist(), "y": [None if out else value for value, out in zip(y.tolist(), gone, strict=True)]}
    fitted = fit_augmented(read_columns(table), draws=10, schedule=Schedule(burn=400, thin=40))
    means, slopes = [], []
    for draw in fitted.posterior.draws:
        whole = np.where(gone, 0, y)
        whole[gone] = draw.filled["y"]
        means.append(whole.mean())
        slopes.append(np.corrcoef(x[gone], whole[gone])[0, 1])
    assert y[~gone].mean() < -0.3
    assert np.mean(means) == pytest.approx(y.mean(), abs=0.1)
    assert np.mean(slopes) == pytest.approx(np.corrcoef(x[gone], y[gone])[0, 1], abs=0.12)


def test_nominal_levels_keep_their_shares_and_their_dependence() -> None:
    """Four unordered levels, each with its own mean of a number that is published as it is."""
    random, rows = np.random.default_rng(6), 3000
    level = random.choice(4, rows, p=[0.1, 0.5, 0.15, 0.25])
    number = np.array([-1.0, 0.3, 1.0, -0.5])[level] + 0.6 * random.standard_normal(rows)
    table = {"kind": np.array(["a", "b", "c", "d"])[level].tolist(), "number": number.tolist()}
    copies = synthesize_augmented(
        read_columns(table), perturb=["kind"], copies=4, schedule=QUICK, masks={"kind": NoMask()}
    )
    shares = np.mean([[np.mean(np.array(frame["kind"]) == one) for one in "abcd"] for frame in copies], axis=0)
    assert shares == pytest.approx([0.1, 0.5, 0.15, 0.25], abs=0.03)
    means = np.mean([[number[np.array(frame["kind"]) == one].mean() for one in "abcd"] for frame in copies], axis=0)
    assert means == pytest.approx([-1.0, 0.3, 1.0, -0.5], abs=0.25)
    likely = synthesize_augmented(
        read_columns(table), perturb=["kind"], copies=1, schedule=QUICK, masks={"kind": LevelMask(keep=0.999)}
    )
    assert np.mean(np.array(likely.frames[0]["kind"]) == table["kind"]) > 0.98


def test_extremes_are_not_repeated(data: dict[str, np.ndarray]) -> None:
    columns = read_columns({name: data[name].tolist() for name in ("duration", "index")})
    (frame,) = synthesize_augmented(columns, perturb=["duration"], copies=1, schedule=QUICK, edge=5).frames
    ordered = np.sort(data["duration"])
    assert max(frame["duration"]) <= ordered[-5]
    assert min(frame["duration"]) >= ordered[4]
    assert set(np.round(np.array(frame["duration"]) * 10, 6) % 1) == {0.0}


def test_masks_by_group_and_values_that_stay(fit: AugmentedFit, data: dict[str, np.ndarray]) -> None:
    groups = (np.arange(1000) % 3 == 0).astype(int)
    chosen = {name: (KeepMask(), mask) for name, mask in masks(1.0, 0.5).items()}
    copies = fit.copies(perturb=HIDDEN, copies=2, masks=chosen, groups=groups)
    for frame in copies:
        for name in HIDDEN:
            same = np.asarray(frame[name]) == data[name]
            assert same[groups == 0].all()
            assert not same[groups == 1].all()
    assert "age: some records keep their value" in copies.notes


def test_fixed_masks_are_drawn_once_and_said(fit: AugmentedFit) -> None:
    """Averages of copies come closer to the originals when each copy has its own mask."""
    away = {}
    for fixed in (False, True):
        copies = fit.copies(perturb=["age"], copies=20, masks={"age": NoiseMask(1.0)}, fixed=fixed)
        mean = np.mean([frame["age"] for frame in copies], axis=0)
        away[fixed] = np.std(mean - fit.columns.column("age").values)
        assert any("drawn once" in note for note in copies.notes) is fixed
        left = 1.0 if fixed else 0.224
        assert any(f"faces {left:.3g}" in note for note in copies.notes)
    assert away[False] < 0.9 * away[True]


def test_copies_say_whether_they_may_be_published(fit: AugmentedFit) -> None:
    free, again, same = (fit.copies(perturb=["sex"], copies=1, seed=seed) for seed in (None, 7, 7))
    assert (free.publishable, again.publishable) == (True, False)
    assert again.frames == same.frames
    assert free.frames != fit.copies(perturb=["sex"], copies=1).frames
    assert free.guarantee == "measured risk, not differential privacy"
    table = read_columns({"a": [1.5, 2.5, 7.0, 3.5] * 5, "b": [0, 1] * 10})
    seeded = synthesize_augmented(table, perturb=["a"], copies=2, schedule=QUICK, seed=1)
    assert seeded.frames == synthesize_augmented(table, perturb=["a"], copies=2, schedule=QUICK, seed=1).frames
    assert not seeded.publishable


def test_columns_that_cannot_be_modelled_are_left_or_refused() -> None:
    random = np.random.default_rng(1)
    number = random.normal(size=80).round(2)
    table: dict[str, list[Any]] = {
        "number": number.tolist(),
        "twice": (2 * number).tolist(),
        "constant": [7] * 80,
        "holed": [None if at % 5 == 0 else "only" for at in range(80)],
        "id": [f"person {at}" for at in range(80)],
        "sharp": (number > 0.3).astype(int).tolist(),
    }
    copies = synthesize_augmented(read_columns(table), perturb=["number", "constant"], copies=2, schedule=QUICK)
    for frame in copies:
        assert frame["constant"] == table["constant"]
        assert frame["id"] == table["id"]
        assert set(frame["holed"]) == {"only"}
        assert np.isfinite(frame["number"]).all()
    said = " ".join(copies.notes)
    for words in ("constant does not vary", "id has too many levels", "twice tells number record by record"):
        assert words in said
    refused: tuple[dict[str, Any], ...] = (
        {"perturb": ["id"]},
        {"perturb": []},
        {"perturb": ["number"], "masks": {"number": LevelMask(keep=0.5)}},
        {"perturb": ["sharp"], "masks": {"sharp": NoiseMask(1.0)}},
        {"perturb": ["number"], "masks": {"number": (NoiseMask(1.0),)}, "groups": [0, 1] * 40},
        {"perturb": ["number"], "groups": [0.5] * 80},
        {"perturb": ["number"], "copies": 0},
    )
    for wrong in refused:
        with pytest.raises(ArgumentError):
            synthesize_augmented(read_columns(table), schedule=QUICK, **wrong)
    unknown: tuple[dict[str, Any], ...] = (
        {"perturb": ["nobody"]},
        {"perturb": ["number"], "masks": {"sharp": NoMask()}},
    )
    for wrong in unknown:
        with pytest.raises(UnknownNameError):
            synthesize_augmented(read_columns(table), schedule=QUICK, **wrong)
    with pytest.raises(ArgumentError, match="no value at all"):
        fit_augmented(read_columns({"a": [1.0, 2.0], "b": [None, None]}))
    with pytest.raises(ArgumentError, match="no column that varies"):
        fit_augmented(read_columns({"a": [1, 1]}))


def test_thousands_of_ordered_levels_are_numbers() -> None:
    rows = 600
    levels = [float(at) for at in range(5000)]
    table = {"place": np.random.default_rng(1).integers(0, 5000, rows).astype(float).tolist(), "b": [0, 1, 1] * 200}
    columns = read_columns(table, kinds={"place": levels})
    (frame,) = synthesize_augmented(columns, perturb=["place"], copies=1, schedule=QUICK).frames
    assert set(frame["place"]) <= set(levels)
    assert stats.ks_2samp(frame["place"], table["place"]).pvalue > 1e-3


@pytest.mark.requirement("0.14")
def test_the_narrower_the_mask_the_less_a_wrong_model_does() -> None:
    """A parabola, which no copula knows. Without a mask its bend is lost; masks bring it back, as σ²/K falls."""
    random = np.random.default_rng(9)
    x = random.normal(0, 1, 800).round(2)
    y = np.square(x) + 0.5 * random.normal(size=800)
    table = read_columns({"x": x.tolist(), "y": y.tolist()})
    fitted = fit_augmented(table, draws=4, schedule=QUICK, edge=1)

    def bend(mask: Mask) -> float:
        copies = fitted.copies(perturb=["x"], copies=4, masks={"x": mask}, sweeps=12)
        return float(np.mean([np.polyfit(frame["x"], y, 2)[0] for frame in copies]))

    truth = np.polyfit(x, y, 2)[0]
    narrower: list[Mask] = [NoMask(), *map(NoiseMask, (1.0, 0.5, 0.25, 0.1))]
    bias = [abs(bend(mask) - truth) for mask in narrower]
    assert bias == sorted(bias, reverse=True)
    assert bias[0] > 0.8 > 0.4 > bias[3] > 0.1 > bias[4]
    # More repeats of one noise do what less noise does.
    more = [abs(bend(NoiseMask(1.0, repeats=k)) - truth) for k in (1, 9, 100)]
    assert more == sorted(more, reverse=True)
    assert more[-1] < 0.1


@pytest.mark.requirement("0.47")
def test_mixed_columns_missing_cells_and_masks_by_group_in_one_run_with_a_simple_rule(
    data: dict[str, np.ndarray],
) -> None:
    """All of it at once: numbers, levels with and without an order, gaps, three groups of risk, pooled fits."""
    random = np.random.default_rng(6)
    lists = holed({name: values[:400] for name, values in data.items()}, 0.1, random)
    lists["kind"] = random.choice(["a", "b", "c"], 400).tolist()
    columns = read_columns(lists, kinds=KINDS)
    groups = risk_groups(columns, ["age", "sex", "race", "education", "kind"], within={"age": 15}, least=6)
    assert min(groups.sizes.values()) > 10
    hidden = ["age", "sex", "kind"]
    copies = synthesize_by_risk(columns, groups, perturb=hidden, copies=6, schedule=QUICK)
    assert (copies.rule, copies.nests) == (Rule.NESTED, 3)
    moved = {}
    for group in RiskGroup:
        mine = (groups.codes == group) & ~columns.column("age").missing
        away = [np.asarray(frame["age"])[mine] - columns.column("age").values[mine] for frame in copies]
        moved[group] = float(np.mean([one.std() for one in away]))
    assert moved[RiskGroup.LOW] < moved[RiskGroup.MEDIUM]
    assert moved[RiskGroup.LOW] < moved[RiskGroup.HIGH]
    for frame in copies:
        assert None not in frame["age"] + frame["kind"] + frame["index"]
        there = ~columns.column("index").missing
        kept = [new == old for new, old, seen in zip(frame["index"], lists["index"], there, strict=True) if seen]
        assert all(kept)
    pooled = copies.fit("index ~ age + sex + kind")
    assert np.isfinite(pooled.standard_error).all()
    assert pooled.rule is Rule.NESTED
