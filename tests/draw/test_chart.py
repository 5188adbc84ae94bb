"""Charts: frozen throughout, and refused when axes and marks contradict each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from discreet.draw import Area, Axis, Bars, Cells, Chart, Intervals, Line, Mark, Panels, Points, Rule, to_svg
from discreet.errors import ArgumentError, DiscreetError

_X, _Y = Axis("x"), Axis("y")
_BAND = Axis("kind", "band", categories=("a", "b"))


def _wrong(value: Any) -> Any:
    """A value of a wrong type, past the type checker."""
    return value


def _chart(mark: Mark, x: Axis = _X, y: Axis = _Y) -> Chart:
    return Chart("t", x, y, (mark,), "")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Axis("x", _wrong("banana")), "scale of axis 'x'"),
        (lambda: Axis("x", "band"), "at least one"),
        (lambda: Axis("x", "band", categories=("a", "a")), "twice"),
        (lambda: Axis("x", "band", domain=(0, 1), categories=("a",)), "has categories"),
        (lambda: Axis("x", categories=("a",)), "has none"),
        (lambda: Axis("x", domain=(1, 1)), "low below a high"),
        (lambda: Axis("x", domain=(0, math.inf)), "low below a high"),
        (lambda: Axis("x", "log", domain=(0, 1)), "both above 0"),
        (lambda: Line((1,), (1, 2)), "1 x, 2 y"),
        (lambda: Area((1,), (1,), ()), "1 x, 1 low, 0 high"),
        (lambda: Intervals((1,), (1,), (), (1,)), "0 mid"),
        (lambda: Bars((1,), (1,), low=(1,)), "high of Bars"),
        (lambda: Line(_wrong("ab"), (1, 2)), "no sequence"),
        (lambda: Rule(1, _wrong("z")), "axis of a rule"),
        (lambda: Rule(_wrong("a"), "x"), "value of a rule"),
        (lambda: _chart(Line(("a",), (1,))), "must be a number"),
        (lambda: _chart(Line(("c",), (1,)), x=_BAND), "no category of 'kind'"),
        (lambda: _chart(Cells(("a",), ("b",), (1,))), "cells need two band axes"),
        (lambda: _chart(Bars(("a",), ("b",)), x=_BAND, y=_BAND), "bars at most one"),
        (lambda: _chart(Rule(1, "x"), x=_BAND), "no category"),
        (lambda: _chart(_wrong("a line")), "no mark"),
        (lambda: Chart("t", _X, _Y, (), "", _wrong("secret")), "family of 't'"),
        (lambda: Panels("p", ()), "at least one"),
        (lambda: Panels("p", (_chart(Line((), ())),), 0), "columns"),
    ],
)
def test_a_contradiction_is_refused(build: Callable[[], object], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        build()


def test_a_refusal_names_no_value() -> None:
    with pytest.raises(DiscreetError) as caught:
        _chart(Line(("secret",), (1,)), x=_BAND)
    assert "secret" not in str(caught.value)


def test_a_chart_is_frozen_throughout() -> None:
    values = [1.0, 2.0]
    line = Line(_wrong(values), _wrong(values))
    chart = _chart(line)
    before = to_svg(chart)
    values.append(9.0)
    assert line.x == (1.0, 2.0)
    assert to_svg(chart) == before
    assert hash(chart) == hash(_chart(Line((1.0, 2.0), (1.0, 2.0))))
    with pytest.raises(FrozenInstanceError):
        chart.title = "other"  # type: ignore[misc]  # the refusal is what is tested


def test_numbers_of_numpy_are_numbers() -> None:
    points = Points(_wrong(np.arange(3)), _wrong(np.linspace(0, 1, 3)))
    assert to_svg(_chart(points)).count('class="dot') == 3
