"""What an epsilon means, as tables and a picture."""

from __future__ import annotations

from dataclasses import replace

from discreet.accounting.meaning import FALSE_ALARMS, GROUP_SIZES, Meaning, explain
from discreet.check import exact
from discreet.draw import Axis, Chart, Grid, GridColumn, Line, Rule
from discreet.guarantee import number_text

__all__ = ["explain", "meaning_chart", "meaning_grids"]


def meaning_grids(meaning: Meaning) -> tuple[Grid, ...]:
    """The numbers as tables."""
    tests = Grid(
        "The best possible test for one person's presence",
        (
            GridColumn("false alarms", "share"),
            GridColumn("found without a release", "share"),
            GridColumn("found at most", "share"),
        ),
        tuple((rate, rate, meaning.detection(rate)) for rate in FALSE_ALARMS),
    )
    groups = [meaning.guarantee.group(size) for size in GROUP_SIZES]
    together = Grid(
        "Groups",
        (GridColumn("people", "count"), GridColumn("ε", "number"), GridColumn("δ", "number")),
        tuple((size, group.epsilon, group.delta) for size, group in zip(GROUP_SIZES, groups, strict=True)),
    )
    return tests, together


def meaning_chart(meaning: Meaning) -> Chart:
    """The most an observer can believe afterwards, for every prior."""
    priors = tuple(step / 100 for step in range(1, 100))
    beliefs = [replace(meaning, prior=exact("prior", prior)).belief for prior in priors]
    return Chart(
        title=f"What can be believed after a release with {meaning.guarantee}",
        x=Axis("believed before", format="share", domain=(0.0, 1.0)),
        y=Axis("believed after", format="share", domain=(0.0, 1.0)),
        marks=(
            Line(priors, tuple(high for _, high in beliefs), label="at most"),
            Line(priors, priors, label="without the release"),
            Line(priors, tuple(low for low, _ in beliefs), label="at least"),
            Rule(float(meaning.prior), axis="x", label=f"prior {number_text(meaning.prior)}"),
        ),
        caption="The closer the outer curves are to the diagonal, the less the release says about one person.",
        family="guarantee",
    )
