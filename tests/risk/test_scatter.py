"""Scatter plots of quasi-identifiers: the right records in each cell, and nothing of the values without labels."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from discreet.draw import Axis, Points, to_svg, to_vega
from discreet.errors import ArgumentError
from discreet.risk.scatter import quasi_scatter


def people(n: int = 200) -> dict[str, Any]:
    generator = np.random.default_rng(1)
    return {
        "age": (generator.integers(180, 900, n) / 10 + 1000).tolist(),
        "years": [None if at == 3 else value for at, value in enumerate(np.round(generator.gamma(2, 500, n)).tolist())],
        "sex": generator.choice(["female", "male"], n, p=[0.8, 0.2]).tolist(),
        "race": generator.choice(["reddish", "greenish"], n, p=[0.7, 0.3]).tolist(),
    }


@pytest.mark.requirement("0.42")
def test_cells_hold_their_records_largest_first() -> None:
    table = people()
    drawn = quasi_scatter(table, "age", "years", cells=["sex", "race"], labels=True)
    assert len(drawn.charts) == 4
    titles = [chart.title for chart in drawn.charts]
    assert titles[0] == "all records (199)"
    assert titles[1].startswith("female, reddish (")
    sizes = [int(title.split("(")[1][:-1]) for title in titles[1:]]
    assert sizes == sorted(sizes, reverse=True)
    mark = drawn.charts[1].marks[0]
    assert isinstance(mark, Points)
    expected = {
        (age, years)
        for age, years, sex, race in zip(*table.values(), strict=True)
        if (sex, race) == ("female", "reddish") and years is not None
    }
    found = {(round(float(a), 6), round(float(b), 6)) for a, b in zip(mark.x, mark.y, strict=True)}  # type: ignore[arg-type]
    assert found == expected


@pytest.mark.requirement("0.42")
def test_without_labels_no_figure_and_no_category_is_left() -> None:
    table = people()
    drawn = quasi_scatter(table, "age", "years", cells=["sex", "race"])
    assert [chart.title.split(" (")[0] for chart in drawn.charts] == ["all records", "cell #1", "cell #2", "cell #3"]
    for text in (to_svg(drawn), json.dumps(to_vega(drawn))):
        for word in ("female", "male", "reddish", "greenish"):
            assert word not in text
    marks = [mark for chart in drawn.charts for mark in chart.marks if isinstance(mark, Points)]
    assert all(0 <= float(value) <= 1 for mark in marks for value in (*mark.x, *mark.y))  # type: ignore[arg-type]
    assert 'class="fill-ink"' not in to_svg(drawn)
    for figure in ("0.2", "0.5", "1.0", "0.8"):  # ticks of the bare axes
        assert f">{figure}<" not in to_svg(drawn)
    assert ">1020<" not in to_svg(drawn)
    labelled = to_svg(quasi_scatter(table, "age", "years", cells=["sex"], labels=True))
    assert "1\N{NARROW NO-BREAK SPACE}020<" in labelled or "1\N{NARROW NO-BREAK SPACE}040<" in labelled


def test_many_records_make_a_small_picture() -> None:
    generator = np.random.default_rng(2)
    table = {"age": generator.normal(size=200_000), "years": generator.gamma(2, 5, 200_000)}
    assert len(to_svg(quasi_scatter(table, "age", "years"))) < 600_000


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ArgumentError, match="x and y are numbers"):
        quasi_scatter(people(), "age", "sex")
    with pytest.raises(ArgumentError, match="twice"):
        quasi_scatter(people(), "age", "age")
    with pytest.raises(ArgumentError, match="has categories and shows them"):
        Axis("sex", scale="band", categories=("f",), bare=True)
