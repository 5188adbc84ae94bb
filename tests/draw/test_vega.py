"""Charts as Vega-Lite: the same data, domains, colours and words as the picture."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.draw import (
    FAMILIES,
    Area,
    Axis,
    Bars,
    Cells,
    Chart,
    Intervals,
    Line,
    Mark,
    Panels,
    Points,
    Rule,
    Steps,
    to_vega,
)

_BANDS = ("north", "south")


def _layers(*marks: Mark, x: Axis | None = None, y: Axis | None = None) -> list[dict[str, Any]]:
    layers = to_vega(Chart("t", x or Axis("x"), y or Axis("y"), marks, "cap"))["layer"]
    assert isinstance(layers, list)
    return layers


def _column(layer: dict[str, Any], name: str) -> list[Any]:
    return [row[name] for row in layer["data"]["values"]]


@pytest.mark.parametrize(
    ("mark", "kind"),
    [(Line((1, 2), (3, None)), "line"), (Steps((1, 2), (3, None)), "line"), (Points((1, 2), (3, None)), "point")],
)
def test_points_on_rulers_keep_their_data(mark: Mark, kind: str) -> None:
    (layer,) = _layers(mark)
    assert layer["mark"]["type"] == kind
    assert (layer["mark"].get("interpolate") == "step-after") == isinstance(mark, Steps)
    assert (_column(layer, "x"), _column(layer, "y")) == ([1, 2], [3, None])


def test_a_line_keeps_the_order_given() -> None:
    (layer,) = _layers(Line((3, 1, 2), (0, 1, 2)))
    assert _column(layer, "order") == [0, 1, 2]
    assert layer["encoding"]["order"]["field"] == "order"


def test_bars_side_by_side_keep_data_and_intervals() -> None:
    axis = Axis("region", "band", categories=_BANDS)
    layers = _layers(Bars(_BANDS, (1, 2), "a"), Bars(_BANDS, (3, 4), "b", (2, 3), (4, 5)), x=axis)
    assert [layer["mark"]["type"] for layer in layers] == ["bar", "bar", "rule"]
    assert _column(layers[1], "y") == [3, 4]
    assert (_column(layers[2], "y"), _column(layers[2], "y2")) == ([2, 3], [4, 5])
    assert all(layer["encoding"]["xOffset"]["scale"]["domain"] == ["a", "b"] for layer in layers)
    assert layers[0]["encoding"]["x"]["scale"]["domain"] == list(_BANDS)
    assert layers[0]["encoding"]["x"]["sort"] is None


def test_bars_on_a_ruler_touch_and_stand_on_zero() -> None:
    (layer,) = _layers(Bars((0, 2, 4), (1, 2, 3)))
    assert (_column(layer, "x"), _column(layer, "x2")) == ([-1, 1, 3], [1, 3, 5])
    assert layer["encoding"]["y2"] == {"datum": 0}
    assert layer["encoding"]["y"]["scale"]["domain"][0] == 0


def test_a_forest_plot_lies() -> None:
    layers = _layers(Intervals(_BANDS, (0, 1), (1, 2), (2, 3)), y=Axis("", "band", categories=_BANDS))
    assert [layer["mark"]["type"] for layer in layers] == ["rule", "point"]
    assert (_column(layers[0], "x"), _column(layers[0], "x2"), _column(layers[1], "x")) == ([0, 1], [2, 3], [1, 2])
    assert _column(layers[0], "y") == list(_BANDS)


def test_areas_cells_and_rules_keep_their_values() -> None:
    (area,) = _layers(Area((1, 2), (0, 1), (3, 4)))
    assert (_column(area, "y"), _column(area, "y2")) == ([0, 1], [3, 4])
    bands = Axis("", "band", categories=_BANDS)
    (cells,) = _layers(Cells(_BANDS, _BANDS, (-5, 10), "d"), x=bands, y=bands)
    assert cells["encoding"]["color"]["scale"]["domain"] == [-10, 0, 10]
    line, words = _layers(Rule(0.5, "y", "half"))
    assert line["encoding"]["y"]["datum"] == words["encoding"]["y"]["datum"] == 0.5
    assert words["encoding"]["text"] == {"value": "half"}
    assert len(_layers(Rule(0.5, "x"))) == 1
    assert _layers(Rule(math.nan, "x")) == []


def test_scales_are_those_of_the_picture() -> None:
    axis = Axis("δ", "log", "share", (1e-9, 1))
    (layer,) = _layers(Line((0, 7), (1e-8, 0.5)), y=axis)
    assert layer["encoding"]["y"]["scale"] == {"type": "log", "domain": [1e-9, 1], "nice": False}
    assert layer["encoding"]["x"]["scale"] == {"type": "linear", "domain": [0, 7], "nice": False, "zero": False}
    assert layer["encoding"]["y"]["axis"]["format"] == "~%"
    assert layer["mark"]["clip"] is True


def test_a_family_speaks_in_the_subtitle() -> None:
    spec = to_vega(Chart("t", Axis("x"), Axis("y"), (Line((0, 1), (0, 1)),), "cap", "measured risk"))
    sign = FAMILIES["measured risk"]
    assert spec["title"]["subtitle"] == "Measured risk: not differential privacy"
    assert spec["layer"][0]["encoding"]["color"]["scale"]["range"] == [sign.shade.light]
    assert spec["description"] == "cap"
    assert spec["$schema"].endswith("/vega-lite/v6.json")


def test_panels_are_a_concatenation() -> None:
    charts = tuple(Chart(f"{m}", Axis("x"), Axis("y"), (Line((0, 1), (0, m)),), "") for m in (3, 20))
    spec = to_vega(Panels("both", charts, 2, "cap"))
    assert [chart["layer"][0]["encoding"]["y"]["scale"]["domain"] for chart in spec["concat"]] == [[0, 20], [0, 20]]
    assert spec["columns"] == 2
    assert "$schema" not in spec["concat"][0]


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=8), st.text())
def test_any_data_and_words_are_strict_json(pairs: list[tuple[float, float]], words: str) -> None:
    xs, ys = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
    marks = (Line(xs, ys, words), Points(xs, ys), Bars(xs, ys, "b"), Rule(1, "y", words), Intervals(xs, ys, ys, ys))
    spec = to_vega(Chart(words, Axis(words), Axis(words), marks, words))
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert "\x00" not in json.dumps(spec, ensure_ascii=False)
