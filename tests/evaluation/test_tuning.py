"""Tuning of masks on real copies: risk falls and loss rises with the noise, methods without masks stay flat, and what
is solved for is kept."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.draw.chart import Bars, Line, Points
from discreet.draw.graph import graph_svg
from discreet.draw.svg import to_svg
from discreet.draw.vega import to_vega
from discreet.errors import ArgumentError, CheckFailedError
from discreet.evaluation.subgroup_charts import model_graph, moved_by_group, records_by_cell
from discreet.evaluation.tuning import Frontier, risk_below, trace, utility_above
from discreet.risk.reidentification import reidentify
from discreet.synthesis.imputation.augmentation import AugmentedFit, fit_augmented
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import LevelMask, Mask, NoiseMask, NoMask
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.subgroups import RiskGroup, risk_groups, synthesize_by_risk
from discreet.utility.intervals import overlap
from tests.synthesis.imputation.survey import HIDDEN, fits, survey

ROWS = 500
NOISES = (0.02, 0.2, 1.0, 5.0)
DATA = survey(ROWS, np.random.default_rng(12), bent=0.4)
TABLE = {name: values.tolist() for name, values in DATA.items()}
KEEPS = {0.02: 0.995, 0.2: 0.9, 1.0: 0.7, 5.0: 0.5}
WITHIN = {"age": 2.0, "duration": 1.0}


class Bench:
    """A fit with its maker and yardsticks."""

    def __init__(self) -> None:
        self.fit: AugmentedFit = fit_augmented(
            read_columns(TABLE, kinds={"education": [0.0, 1.0, 2.0]}),
            draws=20,
            schedule=Schedule(chains=2, burn=150, thin=10),
            seed=3,
        )
        self.truth, variance = fits(TABLE)
        reach = 1.96 * np.sqrt(variance)
        self.ends = np.column_stack([self.truth - reach, self.truth + reach])
        self.seed = 0

    def masked(self, noise: float, copies: int) -> Copies:
        keep = float(np.interp(np.log(noise), np.log(list(KEEPS)), list(KEEPS.values())))
        masks: dict[str, Mask] = {name: NoiseMask(noise) if name in WITHIN else LevelMask(keep=keep) for name in HIDDEN}
        self.seed += 1
        return self.fit.copies(perturb=HIDDEN, copies=copies, masks=masks, seed=self.seed, sweeps=8)

    def rubin(self, copies: int) -> Copies:
        return self.fit.copies(perturb=HIDDEN, copies=copies, masks=dict.fromkeys(HIDDEN, NoMask()), seed=1, sweeps=8)

    def risk(self, copies: Copies) -> float:
        return float(reidentify(TABLE, copies.frames, keys=HIDDEN, tolerances=WITHIN).released.mean)

    def error(self, copies: Copies) -> float:
        """Root mean square distance of the pooled coefficients from the table's, in half widths of its intervals."""
        found = np.mean([fits(frame)[0] for frame in copies], axis=0)
        return float(np.sqrt(np.mean(np.square((found - self.truth) / (self.ends[:, 1] - self.truth)))))

    def overlap(self, copies: Copies) -> float:
        found = [fits(frame) for frame in copies]
        pooled = copies.pool([one for one, _ in found], [one for _, one in found])
        return float(overlap(self.ends, pooled.interval()).mean())


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.fixture(scope="module")
def frontier(bench: Bench) -> Frontier:
    return trace(
        bench.masked,
        NOISES,
        utility=("RMSE", bench.error),
        risk=("risk", bench.risk),
        copies=(3, 20),
        flat={"no mask": bench.rubin},
    )


@pytest.mark.requirement("0.20", "0.21")
def test_risk_falls_and_error_rises_with_the_noise(frontier: Frontier) -> None:
    for copies in (3, 20):
        mine = [one for one in frontier.figures if one.copies == copies and one.method == "masks"]
        assert [one.noise for one in mine] == sorted(NOISES, reverse=True)
        risks, errors = [one.risk for one in mine], [one.utility for one in mine]
        assert risks == sorted(risks)
        assert risks[-1] > 20 * risks[0]
        assert errors[-1] < 0.5 * min(errors[:2])
    grid = frontier.grid()
    assert len(grid.rows) == 2 * (len(NOISES) + 1)


@pytest.mark.requirement("0.08", "0.20", "0.21")
def test_the_plots_have_a_panel_for_each_number_of_copies_and_a_line_for_each_method(frontier: Frontier) -> None:
    for which in ("utility", "risk"):
        panels = frontier.panels(which)
        assert [chart.title for chart in panels.charts] == ["3 copies", "20 copies"]
        for chart in panels.charts:
            masked, flat = (mark for mark in chart.marks if isinstance(mark, Line))
            assert (masked.label, flat.label) == ("masks", "no mask")
            assert masked.x == tuple(1 / noise for noise in sorted(NOISES, reverse=True))
            assert len(set(flat.y)) == 1
            assert len(set(masked.y)) == len(NOISES)
        assert to_svg(panels).startswith("<svg")
        assert to_vega(panels)
    assert "not differential privacy" in to_svg(frontier.chart())
    with pytest.raises(ArgumentError):
        frontier.panels("speed")


def test_narrow_masks_bring_overlap_near_one(bench: Bench) -> None:
    assert bench.overlap(bench.masked(0.02, 5)) > 0.95
    assert bench.overlap(bench.rubin(5)) < 0.9


def test_what_is_asked_for_is_solved_for(bench: Bench) -> None:
    safe = risk_below(bench.masked, bench.risk, 0.02, copies=3, between=(0.02, 5), steps=4)
    assert bench.risk(safe.copies) == safe.measured <= 0.02
    assert 0.02 < safe.noise < 5
    useful = utility_above(bench.masked, bench.overlap, 0.93, copies=3, between=(0.02, 5), steps=4)
    assert bench.overlap(useful.copies) == useful.measured >= 0.93
    assert useful.noise < 1
    assert useful.tries <= 6


def test_searches_end_at_the_ends_of_the_range() -> None:
    """A made-up yardstick that is the noise itself, so that the answer is known."""

    def maker(noise: float, copies: int) -> Copies:
        return Copies(frames=(noise,) * copies, method="m", perturbed=("x",))

    found = risk_below(maker, lambda copies: 1 / copies.frames[0], 0.5, copies=1, between=(0.01, 100), steps=20)
    assert found.noise == pytest.approx(2, rel=1e-4)
    most = utility_above(maker, lambda copies: 1 / copies.frames[0], 4, copies=1, between=(0.01, 100), steps=20)
    assert most.noise == pytest.approx(0.25, rel=1e-4)
    assert risk_below(maker, lambda _: 0.0, 0.5, copies=1).noise == 0.01
    assert utility_above(maker, lambda _: 1.0, 0.5, copies=1).noise == 10
    with pytest.raises(CheckFailedError):
        risk_below(maker, lambda _: 1.0, 0.5, copies=1)
    with pytest.raises(CheckFailedError):
        utility_above(maker, lambda _: 0.0, 0.5, copies=1)
    for wrong in ([], [0.0], [float("nan")]):
        with pytest.raises(ArgumentError):
            trace(maker, wrong, utility=("u", lambda _: 0), risk=("r", lambda _: 0))


@pytest.mark.requirement("0.42", "0.45")
def test_pictures_of_groups_show_where_records_stand_and_how_far_they_move(bench: Bench) -> None:
    columns = bench.fit.columns
    groups = risk_groups(columns, ["age", "duration", "sex"], within={"age": 3.0, "duration": 1.0}, least=8)
    panels = records_by_cell(columns, "age", "duration", by=["sex", "race"], groups=groups, cells=3)
    assert [chart.title for chart in panels.charts] == ["all records", "cell #1", "cell #2", "cell #3"]
    drawn = [sum(len(mark.x) for mark in chart.marks if isinstance(mark, Points)) for chart in panels.charts]
    assert drawn[0] == ROWS
    assert (
        drawn[1:] == sorted(np.unique(2 * DATA["sex"] + DATA["race"], return_counts=True)[1].tolist(), reverse=True)[:3]
    )
    plain = records_by_cell(columns, "age", "duration", by=["sex"], cells=1, labelled=False)
    assert "age" not in to_svg(plain)
    copies = synthesize_by_risk(
        columns, groups, perturb=["age"], copies=3, schedule=Schedule(chains=1, burn=100, thin=10)
    )
    chart = moved_by_group(columns, copies, groups, "age")
    (bars,) = (mark for mark in chart.marks if isinstance(mark, Bars))
    heights = [float(value) for value in bars.y if isinstance(value, float)]
    assert len(heights) == sum(size > 0 for size in groups.sizes.values()) >= 2
    assert heights == sorted(heights)
    assert groups.sizes[RiskGroup.LOW] > 0
    for wrong in ("duration", "sex"):
        with pytest.raises(ArgumentError):
            moved_by_group(columns, copies, groups, wrong)
    with pytest.raises(ArgumentError):
        records_by_cell(columns, "age", "duration", by=["sex"], cells=0)


@pytest.mark.requirement("0.44")
def test_the_graph_of_the_model_has_all_its_quantities() -> None:
    graph = model_graph()
    assert {node.name for node in graph.nodes} == {
        *("H", "θ", "X obs", "X mis", "Z obs", "Z mis"),
        *(f"{letter} {group}" for letter in ("W", "λ") for group in range(3)),
    }
    assert {cause for cause, effect in graph.arrows if effect == "W 1"} == {"X obs", "λ 1"}
    assert {cause for cause, effect in graph.arrows if effect == "Z mis"} == {"H", "θ"}
    assert graph_svg(graph).count("<circle") == 12
