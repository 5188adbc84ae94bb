"""Charts as SVG: the right marks at the right places, words escaped, nothing that runs or is fetched."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.draw import Area, Axis, Bars, Cells, Chart, Intervals, Line, Mark, Panels, Points, Rule, Steps, to_svg
from discreet.draw.palette import FAMILIES, Family
from discreet.errors import ArgumentError

_SVG = "{http://www.w3.org/2000/svg}"
_BANDS = ("north", "south", "east", "west")
_HOSTILE = "<script>alert('x')</script> & \"quoted\" ]]> \x00\x1b\u202e"


def _drawn(*marks: Mark, x: Axis | None = None, y: Axis | None = None, width: int = 680) -> Element:
    chart = Chart("Title", x or Axis("x"), y or Axis("y"), marks, "In words.")
    return ElementTree.fromstring(to_svg(chart, width=width))


def _of(root: Element, name: str) -> list[Element]:
    return [part for part in root.iter() if name in (part.get("class") or "").split()]


def _numbers(path: str | None) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", path or "")]


def _ticks(root: Element) -> Iterator[tuple[str, float, float]]:
    for tick in _of(root, "tick"):
        spans = list(tick.iter(f"{_SVG}tspan")) or [tick]
        words = " ".join("".join(span.itertext()) for span in spans)
        yield words, float(spans[0].get("x", "nan")), float(spans[0].get("y", "nan"))


def _calibrated(root: Element, side: str, *, log: bool = False) -> tuple[float, float]:
    """Slope and offset of an axis, read off its first and last labels alone."""
    found = [
        (float(words.replace("−", "-").replace("\u202f", "")), at if side == "x" else down - 4)
        for words, at, down in _ticks(root)
        if _beside(root, at) == (side == "y")
    ]
    values = [(math.log10(value) if log else value, place) for value, place in found]
    (low, start), (high, end) = min(values), max(values)
    slope = (end - start) / (high - low)
    return slope, start - slope * low


def _beside(root: Element, at: float) -> bool:
    left = min(at for _, at, _ in _ticks(root))
    return at == left


def _centre(path: str | None) -> tuple[float, float]:
    x, y, *_ = _numbers(path)
    return x, y


def test_points_stand_where_the_labels_say() -> None:
    xs, ys = (0.0, 2.5, 7.0, 10.0), (-3.0, 4.0, 0.5, 8.0)
    root = _drawn(Points(xs, ys))
    (a, b), (c, d) = _calibrated(root, "x"), _calibrated(root, "y")
    dots = [_centre(dot.get("d")) for dot in _of(root, "dot")]
    for (x, y), dot in zip(zip(xs, ys, strict=True), dots, strict=True):
        assert dot == pytest.approx((a * x + b, c * y + d), abs=0.3)


def test_points_stand_where_logarithmic_labels_say() -> None:
    xs, ys = (0.001, 0.05, 1.0, 30.0), (1.0, 20.0, 300.0, 90000.0)
    root = _drawn(Points(xs, ys), x=Axis("x", "log", domain=(0.001, 100)), y=Axis("y", "log", "count"))
    heights = {words: down - 4 for words, at, down in _ticks(root) if _beside(root, at)}
    dots = [_centre(dot.get("d")) for dot in _of(root, "dot")]
    assert dots[0][1] == pytest.approx(heights["1"], abs=0.3)
    step = dots[0][1] - dots[2][1]
    assert dots[0][1] - dots[3][1] == pytest.approx(step * math.log10(90000) / math.log10(300), abs=0.3)
    assert dots[2][0] - dots[0][0] == pytest.approx((dots[3][0] - dots[0][0]) * 3 / math.log10(30000), abs=0.3)


def test_bars_rise_from_zero_to_their_value() -> None:
    values = (10, -20, 35, 0)
    root = _drawn(Bars(_BANDS, values), x=Axis("region", "band", categories=_BANDS))
    slope, offset = _calibrated(root, "y")
    bars = _of(root, "bar")
    assert len(bars) == 4
    for bar, value in zip(bars, values, strict=True):
        top, height = float(bar.get("y", "")), float(bar.get("height", ""))
        assert top == pytest.approx(slope * max(value, 0) + offset, abs=0.3)
        assert top + height == pytest.approx(slope * min(value, 0) + offset, abs=0.3)


def test_bars_of_several_series_stand_side_by_side_in_their_band() -> None:
    both = (Bars(_BANDS, (1, 2, 3, 4), "original"), Bars(_BANDS, (2, 2, 2, 2), "released", (1,) * 4, (3,) * 4))
    root = _drawn(*both, x=Axis("region", "band", categories=_BANDS))
    boxes = sorted((float(bar.get("x", "")), float(bar.get("width", ""))) for bar in _of(root, "bar"))
    assert len(boxes) == 8
    assert all(x + width <= after + 0.11 for (x, width), (after, _) in itertools.pairwise(boxes))
    assert len(_of(root, "whisker")) == 4
    assert {"original", "released"} <= set(root.itertext())


def test_lying_bars_and_a_forest_plot_have_one_row_a_category() -> None:
    axis = Axis("", "band", categories=_BANDS)
    bars = _of(_drawn(Bars((1, 2, 3, 4), _BANDS), y=axis), "bar")
    widths = [float(bar.get("width", "")) for bar in bars]
    assert widths == [pytest.approx(widths[3] * share, abs=0.2) for share in (0.25, 0.5, 0.75, 1)]
    root = _drawn(Intervals(_BANDS, (0, 1, 2, None), (1, 2, 3, None), (2, 3, 4, 5)), Rule(0, "x", "none"), y=axis)
    assert len(_of(root, "interval")) == 3
    heights = [_centre(part[-1].get("d"))[1] for part in _of(root, "interval")]
    assert heights == sorted(set(heights))


def test_a_line_breaks_at_every_gap() -> None:
    xs = tuple(range(9))
    ys = (1, 2, None, 4, math.nan, 6, 7, math.inf, 9)
    (line,) = _of(_drawn(Line(xs, ys)), "line")
    assert (line.get("d") or "").count("M") == 4
    assert (line.get("d") or "").count("h0") == 2


def test_steps_hold_until_the_next_value() -> None:
    (line,) = _of(_drawn(Steps((0, 1, 2, 3), (1, 5, None, 2))), "line")
    assert re.sub(r"[-\d. ]+", "", line.get("d") or "") == "MhHVMh"


def test_an_area_lies_between_its_lines() -> None:
    (area,) = _of(_drawn(Area((0, 1, None, 3, 4), (0, 0, 0, 1, 1), (1, 2, 3, 4, 5))), "area")
    assert (area.get("d") or "").count("M") == 2
    assert (area.get("d") or "").count("z") == 2


def test_cells_are_as_strong_as_their_share_of_the_largest() -> None:
    x, y = Axis("a", "band", categories=("p", "q")), Axis("b", "band", categories=("r", "s"))
    root = _drawn(Cells(("p", "p", "q", "q"), ("r", "s", "r", "s"), (0, 50, None, 200), "n", "count"), x=x, y=y)
    assert [cell.get("fill-opacity") for cell in _of(root, "cell")] == ["0", "0.25", "1"]
    assert len(_of(root, "gap")) == 1
    signed = _drawn(Cells(("p", "q"), ("r", "r"), (-1, 1), "d"), x=x, y=y)
    assert len({cell.get("fill") for cell in _of(signed, "cell")}) == 2


@pytest.mark.parametrize("marks", [(), (Line((), ()),), (Points((1.0,), (math.nan,)),), (Rule(3, "x"),)])
def test_a_chart_without_data_says_so(marks: tuple[Mark, ...]) -> None:
    root = _drawn(*marks)
    assert [part.text for part in _of(root, "empty")] == ["no data"]


def test_nothing_is_said_of_missing_data_where_there_is_some() -> None:
    assert not _of(_drawn(Points((1.0,), (1.0,))), "empty")


def test_what_an_explicit_domain_leaves_out_is_cut_off_and_its_ticks_lie_inside() -> None:
    root = _drawn(Line((0, 5, 10), (-1e9, 0.5, 1e12)), y=Axis("share", "linear", "share", (0, 1)))
    assert [words for words, at, _ in _ticks(root) if _beside(root, at)][-1] == "100\u202f%"
    window = next(part for part in root.iter(f"{_SVG}svg") if part.get("class") == "marks")
    assert [window.get(key) for key in ("x", "y", "width", "height")] == (window.get("viewBox") or "").split()
    assert max(map(abs, _numbers(_of(root, "line")[0].get("d")))) < 5000


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=12), st.sampled_from(["linear", "log"]))
def test_any_floats_give_a_whole_picture(pairs: list[tuple[float, float]], kind: str) -> None:
    xs, ys = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
    axis = Axis("v", "log") if kind == "log" else Axis("v")
    marks = (Line(xs, ys, "a"), Points(xs, ys, "b"), Steps(xs, ys, "c"), Area(xs, ys, ys, "d"), Bars(xs, ys, "e"))
    root = _drawn(*marks, Intervals(xs, ys, ys, ys, "f"), Rule(1.0, "y", "one"), x=axis, y=axis)
    text = ElementTree.tostring(root, encoding="unicode")
    assert "nan" not in text
    assert "inf" not in text


@given(st.text(), st.text(min_size=1))
def test_any_words_give_a_well_formed_picture(words: str, name: str) -> None:
    chart = Chart(words, Axis(words), Axis(words, "band", categories=(name,)), (Bars((1,), (name,), words),), words)
    assert ElementTree.fromstring(to_svg(chart)).get("role") == "img"


def test_hostile_words_stay_words() -> None:
    x = Axis(_HOSTILE, "band", categories=(_HOSTILE,))
    marks = (Bars((_HOSTILE,), (1,), _HOSTILE), Rule(1, "y", _HOSTILE), Intervals((_HOSTILE,), (0,), (1,), (2,)))
    text = to_svg(Chart(_HOSTILE, x, Axis(_HOSTILE), marks, _HOSTILE))
    root = ElementTree.fromstring(text)
    allowed = {"svg", "g", "title", "desc", "rect", "path", "text", "tspan"}
    assert {part.tag.removeprefix(_SVG) for part in root.iter()} <= allowed
    attributes = {key for part in root.iter() for key in part.attrib}
    assert not {key for key in attributes if key.startswith("on") or key in ("style", "href", "id", "src")}
    assert "<script" not in text
    assert "url(" not in text
    assert not {"\x00", "\x1b", "\u202e"} & set(text)


def test_a_picture_says_itself_in_words() -> None:
    root = _drawn(Points((1.0,), (2.0,)))
    assert (root.get("role"), root.get("aria-label")) == ("img", "Title")
    assert [(part.tag.removeprefix(_SVG), part.text) for part in root[:2]] == [
        ("title", "Title"),
        ("desc", "In words."),
    ]
    assert "".join(_of(root, "dot")[0].itertext()) == "1: 2"


def _series(chart: Chart) -> set[str]:
    return {part.get("fill", "") for part in _of(ElementTree.fromstring(to_svg(chart)), "dot")}


@pytest.mark.parametrize("family", ["guarantee", "measured risk"])
def test_a_family_has_its_sign_and_one_colour(family: Family) -> None:
    one = Chart("t", Axis("x"), Axis("y"), (Points((1,), (1,)),), "", family)
    two = Chart("t", Axis("x"), Axis("y"), (Points((1,), (1,), "a"), Points((2,), (1,), "b")), "", family)
    sign = FAMILIES[family]
    assert sign.label in to_svg(one)
    assert sign.meaning in to_svg(one)
    assert _series(one) == {sign.shade.light}
    assert sign.shade.light not in _series(two)
    assert sign.label in to_svg(two)


def test_a_plain_chart_has_no_family_colour() -> None:
    marks = tuple(Points((at,), (at,), f"series {at}") for at in range(20))
    text = to_svg(Chart("t", Axis("x"), Axis("y"), marks, ""))
    assert not [sign.label for sign in FAMILIES.values() if sign.shade.light in text or sign.label in text]
    assert len(_series(Chart("t", Axis("x"), Axis("y"), marks[:6], ""))) == 6


@pytest.mark.parametrize("width", [360, 680])
def test_labels_under_the_plot_do_not_overlap(width: int) -> None:
    for names in (_BANDS, tuple(f"occupation number {at} of a long list" for at in range(40))):
        axis = Axis("", "band", categories=names)
        root = _drawn(Bars(names, tuple(range(len(names)))), x=axis, width=width)
        under = [tick for tick in _of(root, "tick") if (tick.get("transform") or "").startswith("rotate")]
        if names is _BANDS:
            assert not under
            continue
        places = [float(tick.get("x", "")) for tick in under]
        assert min(b - a for a, b in itertools.pairwise(places)) * math.sin(math.radians(40)) >= 13
        assert all(len("".join(tick.itertext())) > 3 for tick in under)


@pytest.mark.parametrize("width", [360, 680])
def test_numbers_under_the_plot_do_not_overlap(width: int) -> None:
    root = _drawn(Line((1_000_000, 9_000_000), (0, 1)), x=Axis("n", "linear", "count"), width=width)
    under = [(at, len(words)) for words, at, _ in _ticks(root) if not _beside(root, at)]
    assert len(under) >= 2
    assert all(b - a > 6 * (n + m) / 2 for (a, n), (b, m) in itertools.pairwise(under))


def test_names_of_lines_stand_apart_at_their_ends_or_in_a_legend() -> None:
    apart = _drawn(Line((0, 1), (0, 1), "up"), Line((0, 1), (1, 0), "down"))
    ends = [float(end.get("y", "")) for end in _of(apart, "end")]
    assert len(ends) == 2
    assert abs(ends[0] - ends[1]) >= 15
    together = _drawn(Line((0, 1), (0, 1), "up"), Line((0, 1), (0.5, 1), "also up"))
    assert not _of(together, "end")
    assert [label.text for label in _of(together, "label")] == ["up", "also up"]
    assert not _of(_drawn(Line((0, 1), (0, 1), "up"), Line((0, 1), (1, 0), "down"), width=360), "end")


def test_a_long_line_is_thinned_to_what_a_pixel_shows() -> None:
    ys = [math.sin(at / 900) for at in range(10_000)]
    ys[5_003] = 9.0
    text = to_svg(Chart("t", Axis("x"), Axis("y"), (Line(tuple(range(10_000)), tuple(ys)),), ""))
    (line,) = _of(ElementTree.fromstring(text), "line")
    heights = _numbers(line.get("d"))[1::2]
    assert len(text) < 40_000
    assert sorted(heights)[1] - min(heights) > 100


def test_ten_thousand_points_stay_small() -> None:
    points = Points(tuple(range(10_000)), tuple((7 * at) % 10_000 for at in range(10_000)))
    assert len(to_svg(Chart("t", Axis("x"), Axis("y"), (points,), ""))) < 200_000


def test_very_many_bars_and_cells_stay_small_and_whole() -> None:
    names = tuple(str(at) for at in range(70))
    axis = Axis("", "band", categories=names)
    pairs = list(itertools.product(names, names))
    cells = Cells(tuple(x for x, _ in pairs), tuple(y for _, y in pairs), tuple(range(len(pairs))))
    text = to_svg(Chart("t", axis, axis, (cells,), ""))
    assert len(text) < 200_000
    assert sum((tile.get("d") or "").count("M") for tile in _of(ElementTree.fromstring(text), "tiles")) == 4900
    many = _drawn(Bars(tuple(range(5050)), tuple(range(5050))))
    assert [(bars.get("d") or "").count("z") for bars in _of(many, "bars")] == [5050]


def test_a_picture_narrower_than_any_phone_is_refused() -> None:
    with pytest.raises(ArgumentError, match="width"):
        _drawn(width=100)


def test_panels_share_their_domain_and_stack_on_a_phone() -> None:
    charts = tuple(Chart(f"M = {m}", Axis("x"), Axis("y"), (Points((0, 1), (0, m)),), "") for m in (3, 20))
    panels = Panels("Both", charts, 2, "cap")
    root = ElementTree.fromstring(to_svg(panels))
    tops = [_centre(_of(panel, "dot")[1].get("d"))[1] for panel in _of(root, "panel")]
    zeros = [_centre(_of(panel, "dot")[0].get("d"))[1] for panel in _of(root, "panel")]
    assert zeros[0] == zeros[1]
    assert (zeros[0] - tops[0]) / (zeros[1] - tops[1]) == pytest.approx(3 / 20, abs=0.01)
    narrow = ElementTree.fromstring(to_svg(panels, width=360))
    assert all((panel.get("transform") or "").startswith("translate(0 ") for panel in _of(narrow, "panel"))


def test_the_same_chart_is_the_same_picture() -> None:
    def chart() -> Chart:
        return Chart("t", Axis("x"), Axis("y", "log"), (Line((1, 2, 3), (1, 10, 100), "a"), Rule(2, "x", "two")), "c")

    assert to_svg(chart()) == to_svg(chart())
